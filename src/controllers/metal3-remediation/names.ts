import { OUT_OF_SERVICE_KEY } from '../shared/baremetal-host/out-of-service.ts';

/** On a BareMetalHost, followed by the uid of the remediation: its hold. */
const HOLD_PREFIX = 'reboot.metal3.io/metal3-remediation-';
export const HOLD_VALUE = '{"mode":"hard","force":false}';
/** On a BareMetalHost: it is not chosen for another Machine. */
export const UNHEALTHY = 'capm3.metal3.io/unhealthy';
export const UNHEALTHY_VALUE = 'capm3/UnhealthyNode';
/** On the remediation: how far the release by our taint is, `<retry count>:taint`, `:done` (it may go) or `:ended` (it is gone). */
export const RELEASE = 'ha.k8s.io/metal3-remediation-release';

const METAL3_GROUP = 'infrastructure.cluster.x-k8s.io';
const SEED_GROUP = 'remediation.metal3.io';

export const OUT_OF_SERVICE = { key: OUT_OF_SERVICE_KEY, value: 'nodeshutdown', effect: 'NoExecute' } as const;

export const DEFAULT_RETRY_LIMIT = 1;
export const DEFAULT_TIMEOUT_MS = 600_000;
/** How long the release may take before the host is switched on all the same. */
export const DRAIN_TIMEOUT_MS = 600_000;
export const SHORT_POLL_MS = 1_000;
export const POLL_MS = 5_000;

/** For OffsOnRequest. */
export const CONTROLLER = 'metal3-remediation';

/** Who asks for an off, for OffsOnRequest. */
export function offOf(uid: string): string {
  return `${CONTROLLER} ${uid}`;
}

export function holdKeyOf(uid: string): string {
  return HOLD_PREFIX + uid;
}

/** The uid of the remediation whose hold bears this key. */
export function remediationOfHold(key: string): string | undefined {
  return key.startsWith(HOLD_PREFIX) ? key.slice(HOLD_PREFIX.length) : undefined;
}

/** The seed's own kind has the finalizer and the phases that the seed prints. */
export function isSeedShape(apiVersion: string): boolean {
  return apiVersion.startsWith(`${SEED_GROUP}/`);
}

export function finalizerOf(apiVersion: string): string {
  return isSeedShape(apiVersion) ? SEED_GROUP : `metal3remediation.${METAL3_GROUP}`;
}

export type Phase = '' | 'Running' | 'Waiting' | 'Deleting machine' | 'Failed';

const SEED_PHASES: Readonly<Record<Phase, string>> = {
  '': '',
  Running: 'power-off',
  Waiting: 'power-on',
  'Deleting machine': 'delete-machine',
  Failed: 'failed',
};

/** What is written into status.phase. */
export function phaseText(apiVersion: string, phase: Phase): string {
  return isSeedShape(apiVersion) ? SEED_PHASES[phase] : phase;
}

/** What status.phase says; `undefined`: nothing that anybody writes. */
export function phaseOf(apiVersion: string, text: string | undefined): Phase | undefined {
  const phases: Phase[] = ['', 'Running', 'Waiting', 'Deleting machine', 'Failed'];
  return phases.find((phase) => phaseText(apiVersion, phase) === (text ?? ''));
}
