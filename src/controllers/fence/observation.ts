import { proofOf } from '../../domain/evidence.ts';
import { isWaiting } from '../../domain/waiting.ts';
import { lastReadOff } from '../../domain/storage-opening.ts';
import type { Signs } from '../../domain/health.ts';
import type { Evidence, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Since } from '../../domain/snapshot.ts';
import type { Lease, Node } from '../../ports/objects.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { AskedPods } from '../shared/release/asked-pods.ts';

interface Mark {
  value: string;
  atMs: number;
}

/**
 * What this process has itself seen of one node, and when, on its monotonic clock. Delays are counted from here and never from time stamps of
 * other machines; after a restart all of it begins anew, so delays may lengthen and never shorten.
 */
export class NodeObservation {
  /** A lease renewal or heartbeat was last received. */
  lifeAtMs: number;
  /** One was, and not only what stood there when this process saw the node first. */
  hasSpoken = false;
  renewTime: string | undefined;
  /** Of Ready, as it was last received. */
  heartbeat: string | undefined;
  /** What its machine said of itself while it was healthy, until its report says so. */
  machine: NonNullable<NonNullable<NodeFenceReport['status']>['identity']> | undefined;
  /** When its report may be made, if there is none. */
  recordTurnMs: number | undefined;
  #bootID: string | undefined;
  /** This and what follows: of nodes that fail or are fenced only; most never do. */
  #marks: Map<keyof Since, Mark> | undefined;
  #proofs: Map<string, number> | undefined;
  #askedPods: AskedPods | undefined;
  #setAtMs: number | undefined;

  constructor(nowMs: number) {
    this.lifeAtMs = nowMs;
  }

  /** Of a release under way: pods that were asked for in vain. */
  get asked(): AskedPods {
    this.#askedPods ??= new AskedPods();
    return this.#askedPods;
  }

  seeLease(lease: Lease | undefined, nowMs: number): void {
    const renewTime = lease?.spec.renewTime;
    if (renewTime === undefined || renewTime === this.renewTime) return;
    this.hasSpoken ||= this.renewTime !== undefined;
    this.renewTime = renewTime;
    this.lifeAtMs = nowMs;
  }

  /** The kubelet's heartbeat or another boot; the node controller's own writes change neither. */
  seeNode(node: Node, nowMs: number): void {
    const heartbeat = heartbeatOf(node);
    const bootID = node.status.nodeInfo?.bootID;
    if (heartbeat === this.heartbeat && bootID === this.#bootID) return;
    this.hasSpoken ||= this.heartbeat !== undefined || this.#bootID !== undefined;
    this.heartbeat = heartbeat;
    this.#bootID = bootID;
    this.lifeAtMs = nowMs;
  }

  /** As a consistent read shows both: what of it was not heard yet, in words. It is received now, so that a watch that hangs does not bring it as news after the off. */
  catchUp(node: Node | undefined, lease: Lease | undefined, nowMs: number): string | undefined {
    const { renewTime, heartbeat } = this;
    const bootID = this.#bootID;
    this.seeLease(lease, nowMs);
    if (node !== undefined) this.seeNode(node, nowMs);
    if (this.renewTime !== renewTime) return `a lease renewal of ${this.renewTime ?? ''}`;
    if (this.heartbeat === heartbeat && this.#bootID === bootID) return undefined;
    return `a heartbeat of ${this.heartbeat ?? ''}, boot ${this.#bootID ?? ''},`;
  }

  /** Keeps the time at which `key` took this value; `undefined` ends it. */
  mark(key: keyof Since, value: string | undefined, nowMs: number): void {
    if (value === undefined) this.#marks?.delete(key);
    else if (this.#marks?.get(key)?.value !== value) (this.#marks ??= new Map<keyof Since, Mark>()).set(key, { value, atMs: nowMs });
  }

  /** What the domain made of what was seen; `undefined` ends a sign. */
  keep(signs: Signs): void {
    for (const key of ['notReady', 'triggered', 'failing', 'healthy'] as const) {
      const atMs = signs[key];
      this.mark(key, atMs === undefined ? undefined : key, atMs ?? 0);
    }
  }

  /** An off for this node was begun by this process: an on waits for what it may still do. */
  sent(atMs: number): void {
    this.#setAtMs = atMs;
  }

  /** This process itself read the device for the evidence of that run. */
  proven(journalId: string, atMs: number): void {
    this.#proofs ??= new Map();
    this.#proofs.set(journalId, atMs);
    const oldest = this.#proofs.keys().next().value;
    if (this.#proofs.size > 16 && oldest !== undefined) this.#proofs.delete(oldest);
  }

  /** When this process itself read the device for the evidence of that run. */
  provenAtMs(journalId: string): number | undefined {
    return this.#proofs?.get(journalId);
  }

  /** Its NodeFence is gone, and no run of it goes on: what was seen of it is of no use to the next one, and most nodes never have a next one. */
  forgetFence(): void {
    for (const key of OF_STATUS) this.#marks?.delete(key);
    if (this.#marks?.size === 0) this.#marks = undefined;
    this.#proofs = undefined;
    this.#askedPods = undefined;
  }

  /** First sights of what stands in the status. */
  seeStatus(status: NodeFenceStatus, nowMs: number): void {
    for (const [key, value] of sightsOf(status)) this.mark(key, value, nowMs);
  }

  since(status: NodeFenceStatus | undefined): Since {
    const since: Since = {};
    for (const [key, mark] of this.#marks ?? []) since[key] = mark.atMs;
    const { evidence = [], step, frozen } = status ?? {};
    const proofIn = (items: readonly Evidence[]): Evidence | undefined =>
      frozen === undefined || step === undefined ? undefined : proofOf(items, frozen.plan, step);
    const proof = proofIn(evidence);
    const provenAtMs = proof === undefined ? undefined : this.provenAtMs(proof.source);
    if (provenAtMs !== undefined) since.evidence = provenAtMs;
    // The silence that an off demands is not counted from a dump before it, in which the machine is silent anyway.
    const first = evidence.find((item) => item.grade === proof?.grade && proofIn([item]) !== undefined && this.provenAtMs(item.source) !== undefined);
    const firstAtMs = first === undefined ? undefined : this.provenAtMs(first.source);
    if (firstAtMs !== undefined) since.firstEvidence = firstAtMs;
    if (this.#setAtMs !== undefined) since.set = this.#setAtMs;
    return since;
  }
}

const OF_STATUS = [
  'action',
  'off',
  'position',
  'journal',
  'released',
  'batch',
  'held',
  'waiting',
  'alarmed',
] as const satisfies readonly (keyof Since)[];

/** What a status shows that delays are counted from; `undefined`: it does not stand. */
export function sightsOf(status: NodeFenceStatus): [(typeof OF_STATUS)[number], string | undefined][] {
  const last = status.journal.at(-1);
  const action = status.journal.findLast((entry) => entry.step !== 'recovery');
  const open = status.journal.filter((entry) => entry.finishedAt === undefined).length;
  return [
    ['action', action === undefined ? undefined : `${action.id}/${action.result ?? ''}`],
    ['off', lastReadOff(status)?.id],
    ['position', [status.fenceUID, status.incident, status.restarts, status.state, status.step, status.level].join('/')],
    ['journal', last === undefined ? undefined : `${last.id}/${last.result ?? ''}/${open}`],
    ['released', status.released?.at],
    ['batch', batchOf(status)],
    ['waiting', isWaiting(status.hold) ? `${status.fenceUID}` : undefined],
    ['alarmed', status.hold?.alarmedAt],
    ['held', status.hold === undefined ? undefined : `${status.fenceUID}/${status.hold.policy}/${status.hold.reason}`],
  ];
}

function batchOf({ released, storageRelease }: NodeFenceStatus): string | undefined {
  return released === undefined && storageRelease === undefined
    ? undefined
    : [released, storageRelease].map((one) => `${one?.at}/${one?.batch}`).join();
}

export function readyOf(node: Node): NonNullable<Node['status']['conditions']>[number] | undefined {
  return node.status.conditions?.find((condition) => condition.type === 'Ready');
}

/** When its kubelet wrote Ready last. Where none ever did, the node lifecycle controller puts the time at which the Node was made: that is no word of the kubelet. */
export function heartbeatOf(node: Node): string | undefined {
  const ready = readyOf(node);
  return ready?.status === 'Unknown' && ready.reason === 'NodeStatusNeverUpdated' ? undefined : ready?.lastHeartbeatTime;
}

/** A heartbeat of a healthy node changes nothing that the automaton reads. */
export function matters(before: Node | undefined, after: Node | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  const changed = readyOf(before)?.status !== readyOf(after)?.status || before.status.nodeInfo?.bootID !== after.status.nodeInfo?.bootID;
  return changed || readyOf(after)?.status !== 'True';
}
