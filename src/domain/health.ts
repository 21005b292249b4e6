import { releasedOnWord } from './acknowledgement.ts';
import { RESETS } from './evidence.ts';
import { endsInIsolation, mayLive } from './last-step.ts';
import type { Evidence, JournalEntry, NodeFenceStatus, StorageRelease } from './node-fence.ts';
import { switchesOff } from './plan.ts';
import type { Plan } from './plan.ts';
import { compile } from './program.ts';
import type { Operation } from './program.ts';
import type { NodeFacts, Since, Snapshot, ActiveHold } from './snapshot.ts';
import type { Context } from './transition.ts';

/** Since when a node shows without a break that it has failed, or that it is well again. `undefined`: it does not now. */
export type Signs = Record<'notReady' | 'triggered' | 'failing' | 'healthy', number | undefined>;

/** The signs of now. `since`: those of the last pass, and what else delays are counted from; `configured`: the plan where none is frozen. */
export function signsOf(node: NodeFacts | undefined, status: NodeFenceStatus | undefined, configured: Plan, since: Since, nowMs: number): Signs {
  // A Node that is gone is not well, and nothing new is known of its failure.
  if (node === undefined) return { notReady: since.notReady, triggered: since.triggered, failing: since.failing, healthy: undefined };
  const plan = status === undefined || status.state === 'final' ? configured : (status.frozen?.plan ?? configured);
  const notReady = node.ready === 'False' || node.ready === 'missing' ? (since.notReady ?? nowMs) : undefined;
  const known = notReady === undefined ? since : { ...since, notReady };
  return {
    notReady,
    triggered: isTriggered(node, plan, known, nowMs, status) ? (since.triggered ?? nowMs) : undefined,
    failing: isTriggered(node, plan, known, nowMs) ? (since.failing ?? nowMs) : undefined,
    healthy: seemsHealthy(node, status, plan, known, nowMs) ? (since.healthy ?? nowMs) : undefined,
  };
}

/** Nobody is judged by what this process heard, when it has heard nothing for too long: then it may be cut off itself (P10). */
export function staleHold(freshAtMs: number, staleAfterMs: number, nowMs: number): ActiveHold | undefined {
  const staleMs = nowMs - freshAtMs;
  if (staleMs <= staleAfterMs) return undefined;
  const message = `the API server has sent nothing for ${Math.round(staleMs / 1000)} s; no node is judged by it`;
  return { reason: 'stale-view', policy: 'controller-isolated', message };
}

/** Only that we hear nothing speaks against this node: whoever acts on it asks the API server first whether it is our own watch that hangs. */
export function isJudgedBySilence(ready: NodeFacts['ready'] | undefined): boolean {
  return ready === 'Unknown';
}

/** Nobody but fast detection says that it failed: Kubernetes still counts it as Ready. */
export function restsOnHeartbeats(ready: NodeFacts['ready'] | undefined, status: NodeFenceStatus | undefined): boolean {
  return ready === 'True' && status?.trigger?.kind === 'heartbeat';
}

/** Its kubelet lives and says that it is not well, or says nothing of it; nobody asked for the fence. */
export function restsOnItsWord(ready: NodeFacts['ready'] | undefined, status: NodeFenceStatus | undefined): boolean {
  return (ready === 'False' || ready === 'missing') && !isAskedFor(status);
}

/** A Node, and the renewTime of its Lease, as the API server has them now. */
export interface FreshNode {
  uid: string | undefined;
  bootID: string | undefined;
  ready: NodeFacts['ready'];
  /** Of Ready, by the kubelet. */
  heartbeat: string | undefined;
  renewTime: string | undefined;
}

/** The same at the last off read. `mayBeReady`: Kubernetes had not noticed yet that it failed. */
export type KnownNode = Omit<FreshNode, 'ready'> & { mayBeReady?: boolean };

/** What they show of life after the last off read, in words; `undefined`: nothing. `isToLive`: only another boot, or another Node, speaks against the proof. */
export function lifeAfterProof(now: FreshNode | undefined, known: KnownNode, isToLive = false): string | undefined {
  if (now === undefined || now.uid !== known.uid) return 'the Node is gone or was replaced: nothing is released for it';
  if (!isToLive && now.renewTime !== undefined && now.renewTime !== known.renewTime)
    return `the lease was renewed at ${now.renewTime}, after the last off read`;
  if (now.bootID !== known.bootID) return `boot ID ${now.bootID ?? 'none'} appeared after the off`;
  if (!isToLive && now.heartbeat !== known.heartbeat)
    return `the kubelet wrote its status at ${now.heartbeat ?? 'an unknown time'}, after the last off read`;
  // It flipped back while it was being switched off: its pods are in place, and it is switched on again. A fence that was asked for waits until it is not.
  const wasReady = known.mayBeReady === true && known.heartbeat !== undefined;
  return now.ready === 'True' && !wasReady && !isToLive ? 'the Node is Ready' : undefined;
}

/**
 * Ready=Unknown with a lease that has been silent, as received here, for `life_wait`; Ready=False with a live kubelet after `not_ready_period` (key
 * `trigger`); fast detection takes it for failed; or somebody asked for it and has not got it yet.
 */
export function isTriggered(node: NodeFacts, plan: Plan, since: Since, nowMs: number, status?: NodeFenceStatus): boolean {
  if (isRequestOpen(node, plan, status) || mustBootAnew(node, status)) return true;
  if (plan.trigger === 'never') return false;
  if (node.silence !== undefined) return true;
  if (node.ready === 'Unknown') return nowMs >= silentFromMs(node) + plan.timing.lifeWaitMs;
  if (node.ready === 'False' || node.ready === 'missing') {
    return since.notReady !== undefined && nowMs >= since.notReady + plan.timing.notReadyPeriodMs;
  }
  return false;
}

/**
 * The last sign of life that speaks against a proof. Where storage was revoked the daemon may live: only the kubelet says that the workload does. One that is
 * waited for may speak until its watchdog resets the machine, and again when that has booted anew.
 */
export function lastSignMs(
  { lifeAtMs, heardAtMs = lifeAtMs }: Pick<NodeFacts, 'lifeAtMs' | 'heardAtMs'>,
  { kind }: Pick<Evidence, 'kind'>,
  status: Pick<NodeFenceStatus, 'lastStep'>,
): number {
  if (mayLive(status, { kind })) return Number.NEGATIVE_INFINITY;
  return kind === 'storage-revoked' || kind === 'watchdog' ? lifeAtMs : Math.max(lifeAtMs, heardAtMs);
}

/** A new leader takes no node for failed before it has listened for `life_wait`: until then one that does not show itself Ready has not come back. */
export function seemsFailed({ triggered, node }: Pick<Context, 'triggered' | 'node'>): boolean {
  return triggered || (node !== undefined && node.ready !== 'True');
}

/** After an outage of the API server every node seems silent: they are given as long as ever to be heard again (P10, a cut-off controller judges nobody). */
function silentFromMs(node: NodeFacts): number {
  return Math.max(node.lifeAtMs, node.freshSinceMs ?? node.lifeAtMs);
}

/** Nothing was received from the node for `life_wait`. */
export function isSilent(node: NodeFacts, plan: Plan, nowMs: number): boolean {
  // Every due time is a sum, here and where it is waited for: a difference may be rounded to just under it, and then nobody would look again.
  return nowMs >= node.lifeAtMs + plan.timing.lifeWaitMs;
}

/** The incident serves a person or a remediation object (`spec.requestedBy`). */
export function isAskedFor(status: NodeFenceStatus | undefined): boolean {
  const kind = status?.trigger?.kind;
  return kind === 'person' || kind === 'remediation';
}

/**
 * A fence that was asked for is not shortcut by Ready: whatever the node's conditions say it counts as failed until its machine was
 * proven off by an off of ours, by its watchdog or by a person's word, and shows another boot. Where the plan switches nothing off, until the steps are through; where it is
 * to end in off, until it has; where it is to end in isolation, for as long as it is asked for.
 */
export function isRequestOpen(node: NodeFacts, plan: Plan, status: NodeFenceStatus | undefined): boolean {
  if (status === undefined || !isAskedFor(status) || status.state === 'final') return false;
  if (status.ending === 'off' || endsInIsolation(status)) return true;
  const isSwitchedOff = plan.powerManagement.some((level) => level.methods.some(switchesOff));
  if (!isSwitchedOff && status.state === 'done') return false;
  if (hasBootedAfterReset(node, plan, status)) return false;
  const isProven = status.journal.some((entry) => entry.result === 'succeeded' && isWholeOff(entry, status)) || releasedOnWord(status) !== undefined;
  return !isProven || isOnBootThatWasOff(node, status);
}

/** Nothing of ours was read off: a run that was waited for has proven that a boot ended, and the node shows another. */
function hasBootedAfterReset(node: NodeFacts, { minimumEvidence }: Plan, { evidence }: NodeFenceStatus): boolean {
  return evidence.some(
    ({ kind, bootID }) =>
      RESETS.has(kind) && minimumEvidence.includes(kind) && bootID !== undefined && node.bootID !== undefined && node.bootID !== bootID,
  );
}

/** Its workload was let go because this very boot had ended: a node that is Ready on it may write beside what runs elsewhere by now. */
function isOnBootThatWasReset(node: NodeFacts, { evidence, released }: NodeFenceStatus): boolean {
  return evidence.some(
    ({ kind, source, bootID }) => RESETS.has(kind) && source === released?.evidence && bootID !== undefined && bootID === node.bootID,
  );
}

/** A port that isolation closed is no off, nor is one supply of several: only the last off of a level is read together with the others. */
function isWholeOff(entry: JournalEntry, status: NodeFenceStatus): boolean {
  if (entry.action !== 'off' || entry.step === 'isolation') return false;
  const offs = offsOf(entry, status);
  return !offs.some(({ key }) => key === entry.operation) || offs.at(-1)?.key === entry.operation;
}

/** After a crash one plug is read, and the others are not read with it: of several supplies that proves nothing. */
function isFoundWholeOff(entry: JournalEntry, status: NodeFenceStatus): boolean {
  return entry.result === 'found-done' && offsOf(entry, status).length <= 1;
}

function offsOf({ level }: JournalEntry, { frozen }: NodeFenceStatus): Operation[] {
  return frozen === undefined ? [] : compile(frozen.plan, 'power-management', level).filter(({ phase }) => phase === 'off');
}

/**
 * What wrote to its revoked storages runs elsewhere by now, and may still run here: whoever opens them again needs another boot. Ready on this one
 * is no recovery, it goes to power-management.
 */
export function isBoundToStorage(node: Pick<NodeFacts, 'bootID'> | undefined, status: NodeFenceStatus): boolean {
  return status.state !== 'final' && mayWriteThere(node, status);
}

/** The same, also where the fence is over: one that nothing has proven off may have ended because its machine is being deleted. */
export function mayWriteThere(
  node: Pick<NodeFacts, 'bootID'> | undefined,
  { storageRelease }: { storageRelease?: Pick<StorageRelease, 'bootID'> | undefined },
): boolean {
  if (storageRelease === undefined) return false;
  return node?.bootID === undefined || storageRelease.bootID === undefined || storageRelease.bootID === node.bootID;
}

function mustBootAnew(node: NodeFacts, status: NodeFenceStatus | undefined): boolean {
  return status !== undefined && node.ready === 'True' && status.state !== 'done' && isBoundToStorage(node, status);
}

/** When a node that is not triggered now would be, if nothing changed; `undefined` when only a change can trigger it. */
export function triggerDueMs(node: NodeFacts, plan: Plan, since: Since): number | undefined {
  if (plan.trigger === 'never') return undefined;
  if (node.ready === 'Unknown') return silentFromMs(node) + plan.timing.lifeWaitMs;
  if ((node.ready === 'False' || node.ready === 'missing') && since.notReady !== undefined) return since.notReady + plan.timing.notReadyPeriodMs;
  return undefined;
}

/**
 * Healthy but for the delay: trigger cleared, Ready, a sign of life received after our last action, and after a verified off another boot ID.
 * Everything else is not healthy.
 */
export function seemsHealthy(node: NodeFacts, status: NodeFenceStatus | undefined, plan: Plan, since: Since, nowMs: number): boolean {
  if (node.ready !== 'True' || node.silence !== undefined || isSilent(node, plan, nowMs)) return false;
  if (status === undefined) return true;
  if (since.action !== undefined && node.lifeAtMs <= since.action) return false;
  if (isRequestOpen(node, plan, status)) return false;
  return !isOnBootThatWasOff(node, status) && !isOnBootThatWasReset(node, status) && !isBoundToStorage(node, status);
}

/**
 * The node shows the boot on which its device read off, or that a person declared down before its workload was let go: it has not started since, or
 * the device switches another machine, or the person looked at another one.
 */
export function isOnBootThatWasOff(node: NodeFacts, status: NodeFenceStatus): boolean {
  const off = status.journal.findLast((entry) => isWholeOff(entry, status) && (entry.result === 'succeeded' || isFoundWholeOff(entry, status)));
  const word = releasedOnWord(status);
  return [off, word].some((proof) => proof?.bootID !== undefined && proof.bootID === node.bootID);
}

/** Healthy for the whole of `healthy_delay`. */
export function isHealthy(snapshot: Snapshot, plan: Plan): boolean {
  return snapshot.since.healthy !== undefined && snapshot.nowMs >= snapshot.since.healthy + plan.timing.healthyDelayMs;
}
