import type { Cluster, Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/** Who wrote a stop, an acknowledgement or a request. Anybody could write anything there, but where `AUTHORSHIP_GUARD` is installed. */
export const REQUESTED_BY = 'nodefence.ha.k8s.io/requested-by';
/** Why somebody wishes that a Node or a Machine is preserved. */
export const PRESERVE_REASON = 'ha.k8s.io/preserve-reason';
/** Who wishes it, with the value that was written: `now by olga`. */
export const PRESERVE_REQUESTED_BY = 'nodefence.ha.k8s.io/preserve-requested-by';
/** The ValidatingAdmissionPolicy, and its binding, by which that is whom the API server authenticated. */
export const AUTHORSHIP_GUARD = 'nodefence-authorship';

interface GuardBinding extends KubeObject {
  spec?: { policyName?: string; validationActions?: string[] };
}

const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
export const ADMISSION_POLICIES: Resource = {
  ...ADMISSION,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
};
export const ADMISSION_BINDINGS: Resource<GuardBinding> = {
  ...ADMISSION,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
};

/** Every API server evaluates a policy within this time after it was written. */
const EVALUATED_AFTER_MS = 60_000;

/** Tells whether the API server has vouched for the author that an object names. */
export type Voucher = (object: KubeObject) => boolean;

/** Nobody vouches: there is no guard, or it may not be seen. */
export const NOBODY_VOUCHES: Voucher = () => false;

/** Looks whether the guard stands. Of objects that are older than it, nobody knows. Never rejects. */
export async function voucher(cluster: Pick<Cluster, 'get'>): Promise<Voucher> {
  const [policy, binding] = await Promise.all([
    orUndefined(cluster.get(ADMISSION_POLICIES, AUTHORSHIP_GUARD)),
    orUndefined(cluster.get(ADMISSION_BINDINGS, AUTHORSHIP_GUARD)),
  ]);
  const isDenying = binding?.spec?.policyName === AUTHORSHIP_GUARD && binding.spec.validationActions?.includes('Deny') === true;
  const sinceMs = Math.max(stampOf(policy), stampOf(binding)) + EVALUATED_AFTER_MS;
  // Without a stamp it is NaN, which nothing is younger than.
  return isDenying ? (object) => stampOf(object) >= sinceMs : NOBODY_VOUCHES;
}

/** The author of an object in words; undefined: it names none. */
export function authorOf(object: KubeObject, vouches: Voucher): string | undefined {
  const name = object.metadata.annotations?.[REQUESTED_BY];
  if (name === undefined || name === '') return undefined;
  return vouches(object) ? name : `somebody who claims to be ${name}`;
}

function stampOf(object: KubeObject | undefined): number {
  return Date.parse(object?.metadata.creationTimestamp ?? '');
}

/** Who asked is a matter of words: what keeps them from being told, a missing right, an older server, an outage, holds nothing up. */
function orUndefined<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  return reading.catch(() => undefined);
}
