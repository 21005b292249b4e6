import { leftAloneBecause, troubleOf, unmanagedBecause } from './host.ts';
import type { HostFacts } from './host.ts';

/** An own read older than this says nothing of now. */
const OWN_READ_MAX_AGE_MS = 60_000;

/** Evidence of kind host-off (P1): what a release rests on. */
export interface OffProof {
  source: 'operator' | 'own-read';
  /** Since when, by the clock of this process: a sign of life received later voids it (P2). */
  seenMs: number;
  detail: string;
}

/**
 * on: to be waited for. off: proven. unproven: it reads off, and nobody can tell that this is newer than our request. unknown: nobody can say.
 * contradicted: it reads off, and something says that it is not.
 */
export type HostPower = { state: 'on' } | { state: 'off'; proof: OffProof } | { state: 'unproven' | 'unknown' | 'contradicted'; why: string };

export interface OffQuestion {
  /** Was it on when our hold was set? An off is believed as a change since. */
  wasOn: boolean | undefined;
  /** Monotonic clock of this process, as everything `seenMs`. */
  monotonicMs: number;
  /** When a sign of life of the Node was last received; absent: none since this process looks. */
  lifeSeenMs?: number | undefined;
}

/** The power of a host that our hold keeps off. `off` is said only with a proof that permits to delete the Node or to taint it out of service. */
export function powerOf(host: HostFacts, { wasOn, monotonicMs, lifeSeenMs }: OffQuestion): HostPower {
  const own = ownReadOf(host, monotonicMs);
  if (own?.state === 'on') {
    return host.power?.isOn === false ? { state: 'contradicted', why: 'the operator says off, the BMC says on' } : { state: 'on' };
  }
  const found = own?.state === 'off' ? ownProof(own.seenMs, host) : operatorProof(host, wasOn);
  if (found.state !== 'off') return found;
  if (lifeSeenMs !== undefined && lifeSeenMs > found.proof.seenMs) {
    return { state: 'contradicted', why: `${found.proof.detail}, and a sign of life of the node came after it` };
  }
  return found;
}

/** Only what was read while our hold stood: before that the operator was free to switch the host on. */
function ownReadOf({ ownRead, holdSeenMs }: HostFacts, monotonicMs: number): HostFacts['ownRead'] {
  if (ownRead === undefined || holdSeenMs === undefined || ownRead.seenMs < holdSeenMs) return undefined;
  return monotonicMs - ownRead.seenMs > OWN_READ_MAX_AGE_MS ? undefined : ownRead;
}

function ownProof(seenMs: number, host: HostFacts): HostPower {
  return { state: 'off', proof: { source: 'own-read', seenMs, detail: `the BMC of ${host.name} reads off while our request holds it` } };
}

function operatorProof(host: HostFacts, wasOn: boolean | undefined): HostPower {
  const { power } = host;
  if (power === undefined) return { state: 'unknown', why: 'status.poweredOn is not reported' };
  if (power.isOn) return { state: 'on' };
  const doubt = leftAloneBecause(host) ?? unmanagedBecause(host) ?? troubleOf(host);
  if (doubt !== undefined) return { state: 'unknown', why: doubt };
  if (wasOn !== true) return { state: 'unproven', why: 'poweredOn=false, and it is unknown whether this came after our request' };
  return { state: 'off', proof: { source: 'operator', seenMs: power.seenMs, detail: `${host.name} has gone off since our request` } };
}
