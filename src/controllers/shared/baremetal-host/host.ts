import type { Marks, ObjectRef } from '../remediation/actions.ts';

/** What our own agents read of the host's BMC: a stable reading, as dispatch makes it, never a single one. */
export interface OwnRead {
  state: 'on' | 'off' | 'unknown';
  /** Clock of this process. */
  seenMs: number;
}

/**
 * A `BareMetalHost` of `metal3.io/v1alpha1`. Everything `seenMs` is measured on the monotonic clock of this process, from its own first sight: after a
 * restart that is later than it was, never earlier.
 */
export interface HostFacts {
  name: string;
  namespace: string;
  uid: string;
  /** Covers the status too: a write under it says what `status.poweredOn` was at that moment. */
  resourceVersion: string;
  annotations: Marks;
  isDeleting: boolean;
  /** spec.online. */
  isOnline: boolean;
  /** spec.disablePowerOff. */
  neverOff: boolean;
  /** spec.externallyProvisioned. */
  isExternallyProvisioned: boolean;
  /** status.provisioning.state. */
  provisioningState: string;
  /** status.operationalStatus. */
  operationalStatus: string;
  /** status.errorType and status.errorMessage. */
  errorType: string;
  errorMessage?: string;
  /** status.poweredOn, and since when this process has seen it so without interruption; absent: never reported. */
  power?: { isOn: boolean; seenMs: number };
  /** spec.consumerRef. */
  consumer?: { kind: string; namespace?: string; name: string };
  /** Since when this process sees the reboot annotation of the remediation that is decided about. */
  holdSeenMs?: number;
  ownRead?: OwnRead;
}

export const HOST_VERSION = 'metal3.io/v1alpha1';

/** Annotation of a Machine (OpenShift) or a Metal3Machine (metal3): `<namespace>/<name>`. */
export const HOST_ANNOTATION = 'metal3.io/BareMetalHost';

const PAUSED = 'baremetalhost.metal3.io/paused';
const DETACHED = 'baremetalhost.metal3.io/detached';
export const OFF_ON_PURPOSE = 'spec.online=false: this host was switched off on purpose';
const MANAGED: ReadonlySet<string> = new Set(['provisioned', 'externally provisioned']);

export function hostRef({ name, namespace, uid }: HostFacts): ObjectRef {
  return { apiVersion: HOST_VERSION, kind: 'BareMetalHost', name, namespace, uid };
}

/** A person told the operator to leave the host alone: nothing is asked of it, and no time runs. */
export function leftAloneBecause({ annotations }: HostFacts): string | undefined {
  const mark = [PAUSED, DETACHED].find((key) => annotations[key] !== undefined);
  return mark === undefined ? undefined : `annotation ${mark}: the operator leaves the host alone`;
}

/** Why a reboot annotation on this host would not be obeyed; undefined when the operator minds it. Source: BareMetalHost reboot API. */
export function unmanagedBecause(host: HostFacts): string | undefined {
  if (host.isDeleting) return 'the BareMetalHost is being deleted';
  if (host.neverOff) return 'spec.disablePowerOff=true: the operator never switches this host off';
  if (!host.isOnline) return OFF_ON_PURPOSE;
  if (MANAGED.has(host.provisioningState)) return undefined;
  return `provisioning.state=${host.provisioningState === '' ? '(none)' : host.provisioningState}: power is managed only when provisioned`;
}

/** Why its status does not tell the truth of now: the operator keeps the last value when it cannot read the BMC. */
export function troubleOf({ operationalStatus, errorType, errorMessage }: HostFacts): string | undefined {
  if (operationalStatus === 'OK' && errorType === '') return undefined;
  const words = [`operationalStatus=${operationalStatus}`, errorType === '' ? '' : `errorType=${errorType}`, errorMessage ?? ''];
  return words.filter((word) => word !== '').join(', ');
}

/** `<namespace>/<name>`, or a name alone in the namespace of what carries the annotation. */
export function hostKeyOf(annotation: string | undefined, ownNamespace: string): { namespace: string; name: string } | undefined {
  const parts = (annotation ?? '').split('/');
  const name = parts.at(-1) ?? '';
  if (name === '' || parts.length > 2) return undefined;
  const [namespace = ''] = parts.length === 2 ? parts : [ownNamespace];
  return namespace === '' ? undefined : { namespace, name };
}
