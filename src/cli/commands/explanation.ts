import type { FenceDependencies, FenceListers } from '../../controllers/fence/dependencies.ts';
import { NodeObservation, readyOf, sightsOf } from '../../controllers/fence/observation.ts';
import { fenceOf } from './fleet.ts';
import { takeSnapshot } from '../../controllers/fence/snapshot.ts';
import { refusalOf } from '../../domain/acknowledgement.ts';
import { decide } from '../../domain/automaton.ts';
import { epochOf } from '../../domain/epoch.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { Hold, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Since, Snapshot, ActiveHold } from '../../domain/snapshot.ts';
import { earliest } from '../../domain/transition.ts';
import type { Decision } from '../../domain/transition.ts';
import { NO_METRICS } from '../../ports/metrics.ts';
import type { Lease, Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { Preservation } from '../../ports/preservation.ts';
import { NODE_LEASE_NAMESPACE } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { enteredAt } from './fleet.ts';
import { QUIET } from './listed-cluster.ts';
import { reportedDumps } from './kernel-dump.ts';
import { failureIn, renewsLeaseIn } from './node-daemon.ts';
import type { Leader } from './leader.ts';

/** One look of the automaton, as the leader would take it at that moment. */
export interface Look {
  /** Milliseconds since 1970; the snapshot's clock is the same. */
  atMs: number;
  snapshot: Snapshot;
  decision: Decision;
}

export interface ExplanationInput {
  access: Pick<ClusterAccess, 'cluster' | 'random'>;
  node: string;
  listers: FenceListers;
  planner: Planner;
  leader: Leader;
  /** Has the server the out-of-service taint? */
  outOfService: boolean;
  nowMs: number;
  /** What storm policies say of the node now. */
  storm?: readonly ActiveHold[];
  /** What the controller knows of preserved machines; absent: it is off. */
  preservation?: Preservation;
}

/** A fence that begins goes through a few rows before its first run. */
const LOOKS_MAX = 8;
const NO_RUNS = { inFlight: new Set<string>(), reports: [] };

/**
 * What the automaton decides about a node now, and what it would decide next if nothing but time changed: the controller's own snapshot and
 * `decide`, over what the API shows. When the leader itself saw things is estimated from their time stamps; its own times are never earlier.
 */
export function explain(input: ExplanationInput): Look[] {
  const { node, listers, nowMs } = input;
  const lease = listers.leases.get(`${NODE_LEASE_NAMESPACE}/${node}`);
  const observed = listers.nodes.get(node);
  const stored = fenceOf(listers.fences, node);
  const lifeAtMs = lastLifeMs(observed, lease, nowMs);
  const changedAtMs = Math.min(nowMs, stampOf(observed === undefined ? undefined : readyOf(observed)?.lastTransitionTime) ?? lifeAtMs);
  const fromMs = Math.min(lifeAtMs, changedAtMs);
  const clock = new ManualClock({ monotonicMs: fromMs, wallMs: fromMs });
  const observation = new NodeObservation(lifeAtMs);
  const dependencies = dependenciesOf(input, clock, stored?.status);
  const word = acknowledgementOf(input, stored, observed);
  let isLiving = false;
  const look = (atMs: number, fence: NodeFence | undefined): Snapshot => {
    clock.freeze(Math.max(0, atMs - clock.monotonicMs()));
    // A node that lives goes on living: its lease is renewed while time passes.
    if (isLiving && atMs > nowMs) observation.lifeAtMs = atMs;
    const open = fence?.status?.journal.filter((entry) => entry.finishedAt === undefined && isUnderWay(entry.epoch, input.leader)) ?? [];
    const inFlight = new Set(open.map((entry) => entry.id));
    const storm = (input.storm ?? []).filter(({ untilMs }) => untilMs === undefined || untilMs > atMs);
    return takeSnapshot(dependencies, node, fence, observation, { ...NO_RUNS, inFlight }, word, storm);
  };
  const { lifeWaitMs } = look(changedAtMs, undefined).plan.timing;
  isLiving = observed !== undefined && readyOf(observed)?.status !== 'Unknown' && lifeAtMs + lifeWaitMs > nowMs;
  if (lifeAtMs + lifeWaitMs <= nowMs) look(lifeAtMs + lifeWaitMs, undefined);
  if (stored?.status !== undefined) {
    const since = sightTimes(stored.status);
    for (const [key, value] of sightsOf(stored.status)) observation.mark(key, value, Math.min(nowMs, since[key] ?? nowMs));
    rememberRuns(observation, stored.status);
    // Health is counted from after the last action, whatever Ready showed before.
    observation.mark('healthy', undefined, nowMs);
    look(Math.min(nowMs, Math.max(changedAtMs, (since.action ?? 0) + 1)), stored);
  }
  return lookAhead(look, stored, nowMs);
}

/** The leader's runs go on; those of a predecessor were cut off. */
function isUnderWay(epoch: number, leader: Leader): boolean {
  return leader.isAlive && epoch === leader.epoch;
}

/** From decision to decision, with nothing but time passing between, until something would be done. */
function lookAhead(look: (atMs: number, fence: NodeFence | undefined) => Snapshot, stored: NodeFence | undefined, nowMs: number): Look[] {
  const looks: Look[] = [];
  let fence = stored;
  let atMs = nowMs;
  while (looks.length < LOOKS_MAX) {
    const snapshot = look(atMs, fence);
    const decision = decide(snapshot);
    looks.push({ atMs, snapshot, decision });
    if (decision.stepDown !== undefined || decision.dispatch !== undefined) break;
    if (decision.removeFinalizer === true || decision.deleteFence === true) break;
    if (decision.create !== undefined) fence = { metadata: { name: fenceName(decision.create.spec.node), uid: '' }, spec: decision.create.spec };
    // A hold that ends is looked at again, whatever else is waited for.
    const nextMs = earliest(decision.requeueAtMs, ...endsOf(snapshot, atMs));
    if (decision.create === undefined && (nextMs === undefined || (nextMs <= atMs && decision.status === undefined))) break;
    if (decision.status !== undefined && fence !== undefined) fence = { ...fence, status: decision.status };
    atMs = Math.max(atMs, nextMs ?? atMs);
  }
  return looks;
}

/** When holds that stand now end by time alone. */
function endsOf({ holds }: Snapshot, atMs: number): number[] {
  return holds.flatMap(({ untilMs }) => (untilMs !== undefined && untilMs > atMs ? [untilMs] : []));
}

/** The shell's ports, of which none acts: nothing is carried out here. */
export function dependenciesOf(
  { access, listers, planner, leader, outOfService, node, preservation, nowMs }: ExplanationInput,
  clock: ManualClock,
  status?: NodeFenceStatus,
): FenceDependencies {
  const recorded = status?.hold?.policy;
  return {
    clock,
    random: access.random,
    cluster: access.cluster,
    listers,
    planner,
    leadership: { epoch: epochUnder(leader, status), isLeading: true, mayBegin: () => true, actsFromMs: 0 },
    runner: { run: refused, recover: refused, readState: refused },
    queue: { add: () => undefined, addFirst: () => undefined },
    recorder: { event: () => undefined },
    log: QUIET,
    metrics: NO_METRICS.fence,
    ...(preservation === undefined ? {} : { preservation }),
    ...recordedLease(status?.hold),
    ...(leader.isAlive ? { kdump: reportedDumps((name) => listers.reports.get(name), status?.hold, nowMs) } : {}),
    ...(leader.isAlive
      ? {
          fastDetection: {
            failureOf: (name) => failureIn(listers.reports.get(name), clock.monotonicMs()),
            heardAtMs: () => undefined,
            renewsLease: (name) => isHeldAlive(status?.hold, name === node) ?? renewsLeaseIn(listers.reports.get(name)),
            reachesStorage: (name) => (name === node ? heldReach(status?.hold) : undefined),
          },
        }
      : {}),
    // How the leader was started stands on its Lease; while nobody leads, what it held by that is recorded in the fence.
    options: {
      mode: leader.mode ?? (recorded === 'observe' ? 'observe' : 'enforce'),
      ownNode: leader.mode === undefined ? (recorded === 'own-node' ? node : undefined) : leader.node,
      outOfService,
      staleAfterMs: Number.POSITIVE_INFINITY,
    },
  };
}

/** The living leader's own, as its Lease says. While there is none, the next one begins above every record. */
function epochUnder(leader: Leader, status: NodeFenceStatus | undefined): number {
  return leader.isAlive ? leader.epoch : Math.max(leader.epoch, epochOf(status)) + 1;
}

/** How long the leader has known another's lease is in no API object: what it made of it stands in the fence. */
function recordedLease(hold: Hold | undefined): Pick<FenceDependencies, 'nodeLeases'> {
  const lease = [...(hold === undefined ? [] : [hold]), ...(hold?.besides ?? [])].find(({ policy }) => policy === 'medik8s-lease');
  if (lease === undefined) return {};
  const { message } = lease;
  const nodeLeases: NonNullable<FenceDependencies['nodeLeases']> = {
    take: refused,
    holdOn: () => ({ policy: 'medik8s-lease', reason: 'node-lease', message }),
  };
  return { nodeLeases };
}

/** A node that says itself that it renews its slot on storage stands in no report: what the leader made of it stands in the fence. */
function isHeldAlive(hold: Hold | undefined, isThisNode: boolean): boolean | undefined {
  return isThisNode && reasonsOf(hold).includes('lease-alive') ? true : undefined;
}

/** What daemons say of their storage stands in no report either. */
function heldReach(hold: Hold | undefined): { hostReaches: boolean | undefined; peersReach: boolean | undefined } | undefined {
  const reasons = reasonsOf(hold);
  if (reasons.includes('host-unreachable')) return { hostReaches: false, peersReach: undefined };
  return reasons.includes('storage-unreachable') ? { hostReaches: undefined, peersReach: false } : undefined;
}

function reasonsOf(hold: Hold | undefined): readonly (string | undefined)[] {
  return [hold?.reason, ...(hold?.besides ?? []).map(({ reason }) => reason)];
}

function refused(): Promise<never> {
  return Promise.reject(new Error('an explanation runs nothing'));
}

function acknowledgementOf({ listers, nowMs }: ExplanationInput, fence: NodeFence | undefined, node: Node | undefined): Snapshot['acknowledgement'] {
  const { status, metadata } = fence ?? {};
  if (fence === undefined || status?.frozen === undefined) return undefined;
  const waiting = [...listers.acknowledgements.all()].find((word) => {
    if (word.spec.node !== fence.spec.node || word.status?.state !== undefined) return false;
    const ageMs = nowMs - (stampOf(word.metadata.creationTimestamp) ?? nowMs);
    const facts = { nodeFenceUID: word.spec.nodeFenceUID, incident: word.spec.incident, bootID: word.spec.bootID, ageMs };
    return refusalOf(facts, { uid: metadata?.uid ?? '', status }, { bootID: node?.status.nodeInfo?.bootID }) === undefined;
  });
  return waiting === undefined ? undefined : { name: waiting.metadata.name, uid: waiting.metadata.uid ?? '' };
}

export function lastLifeMs(node: Node | undefined, lease: Lease | undefined, nowMs: number): number {
  const heartbeat = node === undefined ? undefined : readyOf(node)?.lastHeartbeatTime;
  const stamps = [stampOf(lease?.spec.renewTime), stampOf(heartbeat)].filter((stamp) => stamp !== undefined);
  return stamps.length === 0 ? nowMs : Math.min(nowMs, Math.max(...stamps));
}

/** When what a status shows came to stand, by its own time stamps. */
function sightTimes(status: NodeFenceStatus): Since {
  const { journal, released, hold } = status;
  const last = journal.at(-1);
  const action = journal.findLast((entry) => entry.step !== 'recovery');
  const times: Since = {};
  const put = (key: keyof Since, time: string | undefined): void => {
    const stamp = stampOf(time);
    if (stamp !== undefined) times[key] = stamp;
  };
  put('journal', last?.finishedAt ?? last?.startedAt);
  put('action', action?.finishedAt ?? action?.startedAt);
  put('released', released?.at);
  put('held', hold?.since);
  put('waiting', hold?.since);
  put('position', enteredAt(status));
  return times;
}

function rememberRuns(observation: NodeObservation, { journal, evidence }: NodeFenceStatus): void {
  const off = stampOf(journal.findLast((entry) => entry.action === 'off')?.startedAt);
  if (off !== undefined) observation.sent(off);
  for (const { source, observedAt } of evidence) {
    const stamp = stampOf(observedAt);
    if (stamp !== undefined) observation.proven(source, stamp);
  }
}

function stampOf(time: string | undefined): number | undefined {
  const stamp = Date.parse(time ?? '');
  return Number.isNaN(stamp) ? undefined : stamp;
}
