import { withBudget } from './budget.ts';
import { sameContent } from './canonical.ts';
import { isToldIgnored, withConditions } from './conditions.ts';
import { proofOf, voidEvidence } from './evidence.ts';
import { isHealthy, lastSignMs, isTriggered, seemsHealthy, triggerDueMs } from './health.ts';
import { fold } from './journal.ts';
import { ignoredIn, withLastStep } from './last-step.ts';
import { bounded } from './node-fence.ts';
import type { Evidence, NodeFenceStatus, Released, StorageRelease } from './node-fence.ts';
import { withDump } from './kdump/hold.ts';
import { EMPTY_PLAN } from './plan.ts';
import { isNeverFenced, withDeletion, withPreservation } from './preservation.ts';
import { ANY_ROWS } from './rows/any.ts';
import { withRequest } from './request.ts';
import { releasedBefore } from './released-before.ts';
import { eventsOfRuns } from './run-events.ts';
import { beginning, begun } from './rows/beginning.ts';
import { KEPT_BY_ANOTHER, leftOff } from './rows/closing.ts';
import { DONE_ROWS } from './rows/done.ts';
import { ERROR_ROWS } from './rows/error.ts';
import { FINAL_ROWS } from './rows/final.ts';
import { NEW_ROWS } from './rows/new.ts';
import { REPLANNED } from './rows/replanned.ts';
import { RUNNING_ROWS } from './rows/running.ts';
import type { FenceFacts, Snapshot } from './snapshot.ts';
import { earliest, event } from './transition.ts';
import type { Context, Decision, DecisionEvent, Row, Transition } from './transition.ts';

/** Before it is looked again whether a run is over. */
const RUN_ENDS_MS = 1_000;

/** The whole automaton, in the order in which rows are tried: the first that applies decides. docs/automaton.md is printed from it. */
export const ROWS: readonly Row[] = [...ANY_ROWS, REPLANNED, ...NEW_ROWS, ...RUNNING_ROWS, ...DONE_ROWS, ...ERROR_ROWS, ...FINAL_ROWS];

/**
 * The fence automaton's transition function (docs/automaton.md): one snapshot in, one decision out, no effect and no clock of its own.
 * The same snapshot always gives the same decision.
 */
export function decide(taken: Snapshot): Decision {
  const { snapshot: known, endsAtMs } = withBudget(taken);
  const { fence, node, plan } = known;
  if (fence === undefined) return withoutFence(known);
  if (fence.restored !== undefined) return withoutRestored(known, fence, fence.restored.status);
  if (fence.status === undefined) return begin(known, fence);
  const withResults = fold(fence.status, known.reports);
  const provenAtMs = provenAt(withResults, known);
  const folded = voidedByLife(withResults, known, provenAtMs);
  const asked = withRequest(folded.status, fence, known);
  const isFailing = node !== undefined && isTriggered(node, asked.frozen?.plan ?? plan, known.since, known.nowMs);
  const limited = withLastStep(withPreservation(known, folded.status), asked, isFailing);
  const { snapshot, endsAtMs: dumpEndsAtMs } = withDump(limited, folded.status);
  const status = withDeletion(withoutPastHold(asked, snapshot), snapshot);
  const frozen = status.state === 'final' ? plan : (status.frozen?.plan ?? EMPTY_PLAN);
  const fresh = withResults === fence.status ? snapshot : { ...snapshot, since: sinceResults(snapshot) };
  const context: Context = {
    snapshot: fresh,
    node,
    fence,
    status,
    plan: frozen,
    // What counted as health before a result may be none after it: an off has just been proven.
    healthy: node !== undefined && isHealthy(fresh, frozen) && seemsHealthy(node, status, frozen, fresh.since, fresh.nowMs),
    triggered: node !== undefined && isTriggered(node, frozen, snapshot.since, snapshot.nowMs, status),
    failing: isFailing,
    provenAtMs,
  };
  const row = ROWS.find((candidate) => (candidate.from === 'any' || candidate.from === status.state) && candidate.applies(context));
  if (row === undefined) throw new Error(`no row of the automaton applies in state ${status.state}`);
  const transition = row.act(context);
  const requeueAtMs = transition.status?.hold === undefined ? transition.requeueAtMs : earliest(transition.requeueAtMs, endsAtMs, dumpEndsAtMs);
  return conclude(row.id, snapshot, fence.status, { ...transition, requeueAtMs }, [...eventsOfRuns(fence.status, withResults), ...folded.events]);
}

/** A result that is folded in now stands in the journal from now on; recovery's own runs do not put health in question. */
function sinceResults({ since, nowMs, reports, fence }: Snapshot): Snapshot['since'] {
  const finished = fence?.status?.journal.filter((entry) => reports.some((report) => report.id === entry.id)) ?? [];
  const hasReleased = reports.some(
    ({ released, storageRelease }) => isFurther(released, fence?.status?.released) || isFurther(storageRelease, fence?.status?.storageRelease),
  );
  return {
    ...since,
    journal: nowMs,
    ...(hasReleased ? { batch: nowMs } : {}),
    ...(finished.some((entry) => entry.step !== 'recovery') ? { action: nowMs } : {}),
  };
}

/** Another batch let something go; asking in vain is none. */
function isFurther(now: Released | StorageRelease | undefined, before: Released | StorageRelease | undefined): boolean {
  return now !== undefined && (before === undefined || now.batch !== before.batch || now.at !== before.at);
}

function withoutFence(snapshot: Snapshot): Decision {
  const { node, plan, since, nowMs } = snapshot;
  if (node === undefined) return { row: 'none', events: [] };
  // Whoever calls a silent node healthy says so anew within moments.
  if (isNeverFenced(snapshot)) return { row: 'none', events: [] };
  if (isTriggered(node, plan, since, nowMs)) return { row: 'none-triggered', create: { spec: { node: node.name } }, events: [] };
  const due = triggerDueMs(node, plan, since);
  return { row: 'none', events: [], ...(due === undefined || due <= nowMs ? {} : { requeueAtMs: due }) };
}

/** What is left of the backup is its words. A node that has failed gets a NodeFence of its own, and a request has to be made anew. */
function withoutRestored({ inFlight, nowMs }: Snapshot, { spec, deleting }: FenceFacts, status: NodeFenceStatus | undefined): Decision {
  // A run of what stood here before is over first.
  if (inFlight.size > 0) return { row: 'restored', events: [], requeueAtMs: nowMs + RUN_ENDS_MS };
  const left = status === undefined ? '' : leftOff(status);
  const asked = spec.requestedBy === undefined ? '' : ' Its request counts no more: whoever still wants it asks anew.';
  const message = `This NodeFence was restored from a backup: nothing that it records counts, and it is removed; nothing is done to the node.${asked}${left}`;
  return {
    row: 'restored',
    events: [event('Warning', 'RestoredFenceRemoved', bounded(message))],
    removeFinalizer: true,
    ...(deleting ? {} : { deleteFence: true }),
  };
}

function begin(snapshot: Snapshot, fence: FenceFacts): Decision {
  // A run of the one that had its name before is over first: nothing is sent beside it.
  if (snapshot.inFlight.size > 0) return { row: 'in-flight', events: [], requeueAtMs: snapshot.nowMs + RUN_ENDS_MS };
  if (fence.deleting && fence.finalized) return { row: 'deleted-by-hand', events: [], removeFinalizer: true };
  if (fence.deleting) return { row: 'deleted-by-hand', events: [event('Warning', 'DeletionBlocked', KEPT_BY_ANOTHER)] };
  const status = beginning(snapshot, [], snapshot.lastIncident + 1);
  if (status === undefined) {
    const message = `There is no Node ${fence.spec.node}: its NodeFence is removed and nothing was done.`;
    return { row: 'begin-without-node', events: [event('Warning', 'NodeGone', message)], removeFinalizer: true, deleteFence: true };
  }
  return {
    row: 'begin',
    status: withConditions({ ...status, fenceUID: fence.uid }, snapshot.wall),
    requeueAtMs: snapshot.nowMs,
    events: [begun(snapshot, status)],
  };
}

/** A hold or stop that stands no more is not shown any more, whatever the row that decides now. */
function withoutPastHold(status: NodeFenceStatus, { stop, holds }: Snapshot): NodeFenceStatus {
  const { hold, ...rest } = status;
  if (hold === undefined || (hold.policy === 'stop' ? stop !== undefined : holds.some((standing) => standing.policy === hold.policy))) return status;
  return status.state === 'error' ? rest : { ...rest, message: `The hold is over (${hold.policy}).` };
}

/** P2: a sign of life received after the last off read takes the proof away; after a release had begun, for good. */
function voidedByLife(
  status: NodeFenceStatus,
  snapshot: Snapshot,
  provenAtMs: number | undefined,
): { status: NodeFenceStatus; events: DecisionEvent[] } {
  const proof = validEvidenceOf(status);
  if (proof === undefined || status.state === 'final') return { status, events: [] };
  const silentFromMs = provenAtMs ?? releasedBySomebodyElse(snapshot);
  const life = snapshot.node !== undefined && silentFromMs !== undefined && lastSignMs(snapshot.node, proof, status) > silentFromMs;
  const proven = status.journal.findIndex((entry) => entry.id === proof.source);
  // Once the release is over, somebody else may start the machine before we do; on the boot that was proven off nothing may speak, deleted or not.
  const isOtherBoot = proof.bootID === undefined || snapshot.node?.bootID !== proof.bootID;
  const over = status.journal.some(
    (entry, index) =>
      index > proven &&
      (entry.action === 'on' || (isOtherBoot && (entry.action === 'delete' || (entry.action === 'release-end' && entry.result === 'succeeded')))),
  );
  if (!life || over) return { status, events: [] };
  const because = 'a lease renewal or heartbeat of the node was received after the last off read';
  const next: NodeFenceStatus = { ...status, evidence: voidEvidence(status.evidence, snapshot.wall, because) };
  if (status.released !== undefined) next.released = { ...status.released, voidedAt: snapshot.wall };
  const message = `Evidence ${proof.kind} is void: ${because}.${releasedBefore(status)}`;
  return { status: next, events: [event('Warning', 'EvidenceVoided', message)] };
}

/**
 * What a predecessor has let go, and no read of ours will confirm any more: whatever is heard after this process saw it on record came after the proof. What stood
 * there when it saw the node first is no news.
 */
function releasedBySomebodyElse({ node, since }: Snapshot): number | undefined {
  return node?.isOnlySeen === true ? undefined : since.released;
}

function validEvidenceOf(status: NodeFenceStatus): Evidence | undefined {
  return status.frozen === undefined ? undefined : proofOf(status.evidence, status.frozen.plan, status.step);
}

/** When this process itself last read the device for the evidence that stands; a result folded in this very pass counts. */
function provenAt(status: NodeFenceStatus, snapshot: Snapshot): number | undefined {
  const source = validEvidenceOf(status)?.source;
  return snapshot.reports.find((report) => report.id === source)?.evidenceAtMs ?? snapshot.since.evidence;
}

function conclude(row: string, snapshot: Snapshot, before: NodeFenceStatus, transition: Transition, events: DecisionEvent[]): Decision {
  const decision: Decision = { row, events: [...events, ...(transition.events ?? [])] };
  if (transition.create !== undefined) decision.create = transition.create;
  if (transition.dispatch !== undefined) decision.dispatch = transition.dispatch;
  if (transition.removeFinalizer !== undefined) decision.removeFinalizer = true;
  if (transition.deleteFence !== undefined) decision.deleteFence = true;
  if (transition.stepDown !== undefined) decision.stepDown = transition.stepDown;
  if (transition.requeueAtMs !== undefined) decision.requeueAtMs = transition.requeueAtMs;
  const after = transition.status;
  const ignored = snapshot.fence === undefined ? undefined : ignoredIn(snapshot.fence.spec);
  const isChanged = after !== before || (ignored !== undefined) !== isToldIgnored(before);
  if (after !== undefined && (isChanged || transition.dispatch?.kind === 'run')) {
    const bound = { ...after, ...(snapshot.fence === undefined ? {} : { fenceUID: snapshot.fence.uid }) };
    const written = withConditions({ ...bound, epoch: Math.max(after.epoch, snapshot.epoch) }, snapshot.wall, ignored, before.hold);
    if (!sameContent(written, before)) decision.status = written;
    if (!isToldIgnored(before) && isToldIgnored(written)) decision.events.push(event('Warning', 'SpecIgnored', ignored ?? ''));
  }
  return decision;
}
