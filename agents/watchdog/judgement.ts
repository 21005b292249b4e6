import { parseAttestation, parseGrantsEnded } from '../../src/domain/node-daemon/attestation.ts';
import type { Attestation, AttestedSelfFence, AttestedWatchdog, GrantsEnded } from '../../src/domain/node-daemon/attestation.ts';
import { missingPromises } from '../../src/domain/node-daemon/missing-promises.ts';
import { brokenTimes } from '../../src/domain/node-daemon/times.ts';
import { DEFAULT_CLUSTER_TIMING } from '../../src/domain/timing-cluster.ts';
import { DEFAULT_DAEMON_TIMING, watchdogProvesAfterMs } from '../../src/domain/timing-daemon.ts';
import type { Identity } from '../../src/ports/agents.ts';
import type { Lease, Node } from '../../src/ports/objects.ts';
import { normalUUID } from '../shared/machine-uuid.ts';

/** What was read of one node, in one pass. */
export interface Evidences {
  node: Node | undefined;
  /** The attestation's Lease. */
  attested: Lease | undefined;
  /** The kubelet's, stamped by the same clock of the node. */
  kubelet: Lease | undefined;
}

/**
 * `after`: the wait may begin, and lasts so long. `waits`: it may not begin yet. `kept`: nobody has ended the grants, and nothing else is in the way. `refused`: it
 * never proves anything as things are.
 */
export type Judgement =
  | { decision: 'after'; bootID: string; waitMs: number; key: string }
  | { decision: 'waits' | 'kept'; bootID: string; why: string }
  | { decision: 'refused'; why: string };

/** Which timing rule those times break, with the numbers filled in. */
export type TimesRule = (watchdog: AttestedWatchdog, selfFence: AttestedSelfFence) => string | undefined;

const REMEDY = 'run the node daemon with a hardware watchdog on the nodes, or switch this one off by another method';
/** A watchdog that leaves the machine running, or only tells, is none. */
const ENDING: ReadonlySet<string> = new Set(['reset', 'off']);

export function judge({ node, attested, kubelet }: Evidences, identity: Identity, broken: TimesRule = brokenTimes): Judgement {
  const refuse = (why: string): Judgement => ({ decision: 'refused', why });
  if (attested === undefined) return refuse(`node ${identity.node} never attested a watchdog: ${REMEDY}`);
  const attestation = parseAttestation(attested);
  if (attestation === undefined) return refuse(`the attestation of node ${identity.node} is not whole: ${REMEDY}`);
  const { bootID, watchdog, selfFence } = attestation;
  if (watchdog === undefined) return refuse(`the daemon of node ${identity.node} has no watchdog: ${REMEDY}`);
  if (selfFence === undefined) return refuse(`node ${identity.node} does not fence itself when it is cut off: ${REMEDY}`);
  const doubt =
    machineDoubt(attestation, node, identity) ?? watchdogDoubt(watchdog) ?? ageDoubt(attested, kubelet) ?? timesDoubt(broken(watchdog, selfFence));
  if (doubt !== undefined) return refuse(`${doubt}: ${REMEDY}`);
  const ended = parseGrantsEnded(attested);
  if (ended === undefined || ended.bootID !== bootID)
    return { decision: 'kept', bootID, why: `nobody has ended the grants for boot ${bootID}: somebody may still keep the node alive; ${REMEDY}` };
  const missing = missingPromises(identity.node, attestation, ended);
  if (missing.length > 0) return { decision: 'waits', bootID, why: missingWords(missing, attestation, ended) };
  return { decision: 'after', bootID, waitMs: waitOf(watchdog, selfFence), key: `${bootID} ${attested.spec.renewTime ?? ''}` };
}

function missingWords(missing: readonly string[], { peers, domains }: Attestation, { eligible }: GrantsEnded): string {
  const all = new Set([...eligible, ...peers]).size;
  const enough = domains === undefined ? '' : ', and they are enough to keep the node up';
  return `${missing.length} of ${all} peers have not promised to vouch no more${enough}: ${missing.slice(0, 5).join(', ')}`;
}

function machineDoubt({ bootID, systemUUID }: Attestation, node: Node | undefined, identity: Identity): string | undefined {
  const shown = node?.status.nodeInfo?.bootID;
  if (shown !== bootID) return `boot ${bootID} attested, the Node shows ${shown ?? 'none'}`;
  const expected = normalUUID(identity.systemUUID);
  if (expected !== undefined && normalUUID(systemUUID) !== expected) return `another machine attested, with system UUID ${systemUUID}`;
  return undefined;
}

function watchdogDoubt({ state, kind, action, isPausable }: AttestedWatchdog): string | undefined {
  if (state !== 'armed') return `the watchdog was ${state}`;
  if (kind !== 'hardware') return `the watchdog is ${kind}, which a kernel that hangs takes with it`;
  if (isPausable) return 'the machine can be paused, and its watchdog with it';
  return ENDING.has(action) ? undefined : `the watchdog's action is ${action}, after which the machine may run on`;
}

/** Whoever runs with such times goes down when it should not, or is waited for when it need not be: nobody has reckoned with them. */
function timesDoubt(broken: string | undefined): string | undefined {
  return broken === undefined ? undefined : `the times that the node attested do not fit together: ${broken}`;
}

/** Both are stamped by the node itself, so that no two clocks are compared. */
function ageDoubt(attested: Lease, kubelet: Lease | undefined): string | undefined {
  const attestedAt = Date.parse(attested.spec.renewTime ?? '');
  const aliveAt = Date.parse(kubelet?.spec.renewTime ?? '');
  if (Number.isNaN(attestedAt) || Number.isNaN(aliveAt)) return 'it is unknown how old the attestation was when the node was lost';
  const { attestationMaxAgeMs } = DEFAULT_DAEMON_TIMING;
  return aliveAt - attestedAt > attestationMaxAgeMs
    ? `the attestation was ${Math.round((aliveAt - attestedAt) / 1000)} s old when the node was lost`
    : undefined;
}

function waitOf(watchdog: AttestedWatchdog, selfFence: AttestedSelfFence): number {
  const daemon = { ...DEFAULT_DAEMON_TIMING, ...selfFence, watchdogMs: watchdog.timeoutMs };
  return watchdogProvesAfterMs(daemon, DEFAULT_CLUSTER_TIMING.marginMs);
}
