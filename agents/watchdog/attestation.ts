import type { Lease } from '../../src/ports/objects.ts';

/** Of the Lease `nodefence-<node>` in the fence namespace. The node's daemon writes the first one, the controller that stopped its grants the second. */
export const ATTESTATION = 'nodefence.ha.k8s.io/attestation';
export const GRANTS_ENDED = 'nodefence.ha.k8s.io/grants-ended';

export function attestationName(node: string): string {
  return `nodefence-${node}`;
}

/** What a node has told of itself before it was lost. */
export interface Attestation {
  bootID: string;
  systemUUID: string;
  watchdog: {
    state: string;
    /** `hardware`, `soft`. */
    kind: string;
    /** What it does when it bites: `reset`, `off`, ... */
    action: string;
    /** A watchdog of a machine that can be paused stands still with it. */
    isPausable: boolean;
    timeoutMs: number;
  };
  selfFence: { grantMs: number; isolationTimeoutMs: number; podStopMaxMs: number; resetTimeMs: number };
}

/** That nobody keeps this boot of the node alive any more: no controller grants, and every eligible peer has promised not to vouch. */
export interface GrantsEnded {
  bootID: string;
  eligible: string[];
  promised: string[];
}

const LONGEST_MS = 3_600_000;

export function parseAttestation(lease: Lease): Attestation | undefined {
  const value = jsonOf(lease, ATTESTATION);
  const watchdog = objectAt(value, 'watchdog');
  const selfFence = objectAt(value, 'selfFence');
  const bootID = textAt(value, 'bootID');
  const systemUUID = textAt(value, 'systemUUID');
  const [state, kind, action] = ['state', 'kind', 'action'].map((key) => textAt(watchdog, key));
  const timeoutMs = timeAt(watchdog, 'timeoutMs');
  const [grantMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs] = ['grantMs', 'isolationTimeoutMs', 'podStopMaxMs', 'resetTimeMs'].map((key) =>
    timeAt(selfFence, key),
  );
  const isPausable = watchdog?.['isPausable'];
  if (bootID === undefined || systemUUID === undefined || state === undefined || kind === undefined || action === undefined) return undefined;
  if (typeof isPausable !== 'boolean' || timeoutMs === undefined || grantMs === undefined || isolationTimeoutMs === undefined) return undefined;
  if (podStopMaxMs === undefined || resetTimeMs === undefined) return undefined;
  return {
    bootID,
    systemUUID,
    watchdog: { state, kind, action, isPausable, timeoutMs },
    selfFence: { grantMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs },
  };
}

export function parseGrantsEnded(lease: Lease): GrantsEnded | undefined {
  const value = jsonOf(lease, GRANTS_ENDED);
  const bootID = textAt(value, 'bootID');
  const [eligible, promised] = ['eligible', 'promised'].map((key) => textsAt(value, key));
  return bootID === undefined || eligible === undefined || promised === undefined ? undefined : { bootID, eligible, promised };
}

type Fields = Readonly<Record<string, unknown>>;

function jsonOf(lease: Lease, annotation: string): Fields | undefined {
  const text = lease.metadata.annotations?.[annotation];
  if (text === undefined || text.length > 16_384) return undefined;
  try {
    return fieldsOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function objectAt(value: Fields | undefined, key: string): Fields | undefined {
  return fieldsOf(value?.[key]);
}

function textAt(value: Fields | undefined, key: string): string | undefined {
  const text = value?.[key];
  return typeof text === 'string' && text !== '' && text.length <= 253 ? text : undefined;
}

function textsAt(value: Fields | undefined, key: string): string[] | undefined {
  const list: unknown = value?.[key];
  return Array.isArray(list) && list.length <= 10_000 && list.every((item) => typeof item === 'string') ? list : undefined;
}

function timeAt(value: Fields | undefined, key: string): number | undefined {
  const time = value?.[key];
  return typeof time === 'number' && Number.isInteger(time) && time > 0 && time <= LONGEST_MS ? time : undefined;
}
