import { GROUP } from '../../ports/resources.ts';

/** The uses of medik8s' contract with remediators. */
export const NODE_NAME = 'remediation.medik8s.io/node-name';
export const TIMED_OUT = 'remediation.medik8s.io/nhc-timed-out';
/** On every template of the kind: several templates of it may be used at once. */
export const MULTIPLE_TEMPLATES = 'remediation.medik8s.io/multiple-templates-support';
/** On a BareMetalHost: Metal3 does not choose it for another Machine. */
export const UNHEALTHY = 'capm3.metal3.io/unhealthy';
export const UNHEALTHY_VALUE = 'nodefence/RemediationExhausted';

/** So that a console can tell ours from anybody's: the prefix that remediators share. */
export const EVENT_PREFIX = '[remediation] ';

/** Of a request that is taken up: uid of the Node that it names. Another Node of that name is another one. */
export const NODE_UID = `nodefence.${GROUP}/node-uid`;

const FINALIZER = `nodefence.${GROUP}/remediation`;
const SEED_GROUP = 'remediation.metal3.io';

export const POLL_MS = 5_000;
/** A health check has noticed by then that a node is healthy again, and Kubernetes that it is not Ready any more. */
export const READY_AGAIN_MS = 60_000;
export const DEFAULT_TIMEOUT_MS = 600_000;
export const DEFAULT_RETRY_LIMIT = 1;

export function isSeedShape(apiVersion: string): boolean {
  return apiVersion.startsWith(`${SEED_GROUP}/`);
}

/** The seed prints its own for its own kind. */
export function finalizerOf(apiVersion: string): string {
  return isSeedShape(apiVersion) ? SEED_GROUP : FINALIZER;
}

/** '': not begun, or about to begin again. Fencing: until proven off. Recovering: until the fence is over. The other three are ends. */
export type Phase = '' | 'Fencing' | 'Recovering' | 'Succeeded' | 'Failed' | 'Stopped';
export const PHASES: readonly Phase[] = ['', 'Fencing', 'Recovering', 'Succeeded', 'Failed', 'Stopped'];
