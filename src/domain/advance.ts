import { acknowledged, sinceWord } from './acknowledgement.ts';
import { deletionRefusal } from './deletion.ts';
import { proofOf, SWITCHED_ON, validEvidence, voidEvidence } from './evidence.ts';
import { isAskedFor, lastSignMs, seemsFailed } from './health.ts';
import { appended, cutsOff, offBegan, restoreFor } from './journal.ts';
import { mayLive } from './last-step.ts';
import { lackingAtEnd } from './level-end.ts';
import { bounded } from './node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from './node-fence.ts';
import type { Plan, PlanProblem, Step } from './plan.ts';
import { NEVER_FENCED } from './plan-problems.ts';
import {
  ACKNOWLEDGE,
  compile,
  isFailure,
  keptAgainInMs,
  leftByOthers,
  leftToRelease,
  nextLevel,
  progress,
  provingOperation,
  RELEASE,
  RELEASE_END,
  UNFENCE_MS,
} from './program.ts';
import type { Operation } from './program.ts';
import { RELEASE_BEGINS_WITHIN_MS } from './proof-age.ts';
import { paceOf } from './release-plan.ts';
import { mayOpenStorage } from './storage-opening.ts';
import { event, moved } from './transition.ts';
import { mustUnfence, unfenceRefusal, unfenceWaits } from './unfence.ts';
import type { Context, Transition } from './transition.ts';

/** The taint by which Kubernetes lets a workload go (KEP-2268). */
export const OUT_OF_SERVICE_TAINT = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' } as const;

/** What is begun against a node that has failed, and against no other. */
const BEFORE_RELEASE: ReadonlySet<Operation['phase']> = new Set(['run', 'diag', 'off']);

/** Writing the intent and ending a child come on top of the set itself. */
const CALL_OVERHEAD_MS = 2_000;

/** Before something is done again that never began, or that the API server did not answer. */
const INTERRUPTED_MS = 1_000;

/** A read before the set, the set, and what is around them: after this a successor may touch the device. */
export function intentDeadlineMs(plan: Plan): number {
  return 2 * plan.timing.setDeadlineMs + CALL_OVERHEAD_MS;
}

/** What becomes of a step when its program is through, or has failed on its last level. */
export interface StepEnds {
  finished(status: NodeFenceStatus): Transition;
  /** `error`: what kind of failure it is; absent: its runs failed. */
  failed(status: NodeFenceStatus, why: string, error?: 'ConfigurationInvalid' | 'StepFailed'): Transition;
}

/** Takes the present step one operation further: the next intent, a wait, the next level, or one of the two ends. */
export function advance(context: Context, step: Step, ends: StepEnds): Transition {
  if (step === 'power-management' && acknowledged(context.status) !== undefined) return releaseOnWord(context, ends);
  const status = context.status.step === step ? context.status : moved(context.status, { step, level: 1 }, `Step ${step} begins.`);
  const wrong = spoiling(context.plan, step);
  if (wrong !== undefined) return ends.failed(status, `${wrong.where}: ${wrong.message}`, 'ConfigurationInvalid');
  const compiled = compile(context.plan, step, status.level, {
    cordoned: status.restore?.cordoned === true,
    unfences: mustUnfence(context, status),
    left: leftByOthers(context.plan, status),
  });
  // A taint of ours that a failure left on the node goes first, also when somebody else brought the node back (P8).
  const isTaintLeft = step === 'recovery' && status.restore?.taints !== undefined;
  const program = [...(isTaintLeft ? [RELEASE_END] : []), ...compiled].filter((operation) => isWanted(operation, context, status));
  const now = progress(program, status);
  switch (now.kind) {
    case 'open':
      return { status };
    case 'finished': {
      const lacking = lackingAtEnd(compiled, status, context.plan);
      return lacking === undefined ? ends.finished(status) : levelFailed(context, status, step, ends, lacking);
    }
    case 'failed':
      return levelFailed(context, status, step, ends, now.entry.message ?? now.entry.result ?? 'failed');
    case 'next': {
      const unsafe = now.operation.method?.agent === 'unfence' ? unfenceRefusal(context, status) : undefined;
      if (unsafe !== undefined) return ends.failed(status, unsafe);
      const refusal = now.operation.phase === 'delete' ? deletionRefusal(context, status) : undefined;
      // A machine that is not proven off may have come back: no other level switches it off for that.
      if (refusal !== undefined) return refusal.mayGoOn ? levelFailed(context, status, step, ends, refusal.why) : ends.failed(status, refusal.why);
      if (status.retries > context.plan.stepRetries) return levelFailed(context, status, step, ends, lastFailure(status));
      // Under a hold nothing more is sent once an off has begun.
      const isReadOnly = now.operation.phase === 'off' && context.snapshot.holds.length > 0 && offBegan(status);
      return attempt(context, status, step, isReadOnly ? { ...now, confirm: true } : now);
    }
  }
}

/** A person has the machine in hand: its workload is let go, and nothing is switched, whatever the plan or its errors say. */
function releaseOnWord(context: Context, ends: StepEnds): Transition {
  const { status, plan, snapshot } = context;
  const program = [RELEASE, RELEASE_END].filter((operation) => isWanted(operation, context, status) && (operation !== RELEASE || context.triggered));
  const now = progress(program, sinceWord(status));
  if (now.kind === 'open') return { status };
  if (now.kind === 'finished') return ends.finished(status);
  if (now.kind === 'failed' || status.retries > plan.stepRetries) return ends.failed(status, lastFailure(status));
  const wait = dueMs(context, status, now.operation);
  if (wait > snapshot.nowMs) return { status, requeueAtMs: wait };
  const source = status.journal.find((entry) => entry.id === acknowledged(status)?.source);
  if (now.operation.key === 'release' && isStale(context) && source !== undefined) {
    return acknowledge(context, { name: source.method, uid: source.plug });
  }
  return begin(context, status, 'power-management', now);
}

/** Weighs a person's word: an operation of its own, in whatever state the fence is. */
export function acknowledge(context: Context, word: { name: string; uid: string }): Transition {
  const { status } = context;
  const attempt = 1 + status.journal.filter((entry) => entry.action === 'acknowledge' && entry.plug === word.uid).length;
  const next = { operation: ACKNOWLEDGE, attempt, confirm: false };
  const begun = begin(context, status, 'power-management', next, { method: word.name, plug: word.uid });
  // What a person must do stays in sight until the word counts.
  return begun.status === undefined || status.message === undefined ? begun : { ...begun, status: { ...begun.status, message: status.message } };
}

/** The first error of the configuration that spoils this step (P7): it never counts as done. */
export function spoiling(plan: Plan, step: Step): PlanProblem | undefined {
  if (plan.trigger === 'never' && step !== 'recovery') return NEVER_FENCED;
  return plan.problems.find((problem) => problem.severity === 'error' && (problem.step === undefined || problem.step === step));
}

/** An on, or the end of the machine. */
function isBehindRelease({ phase }: Operation): boolean {
  return phase === 'on' || phase === 'left' || phase === 'delete';
}

/** A hold or a missing proof takes the release out of the program, never the on (P6, P1). */
function isWanted(operation: Operation, context: Context, status: NodeFenceStatus): boolean {
  const held = context.snapshot.holds.length > 0;
  if (isBehindRelease(operation) && status.ending !== undefined) return false;
  // Not under a hold, as the release.
  if (operation.phase === 'while-off') return !held && status.ending === undefined && isStillOff(context, status);
  // It came back by itself before this restart has switched it off: only what an earlier one left, as our taint, is taken back.
  if (BEFORE_RELEASE.has(operation.phase) && status.step === 'power-management' && !context.triggered && !offBegan(status)) return false;
  // What a level runs before its offs is cut off by a hold as they are: a level before has begun.
  if (operation.phase === 'run' && status.step === 'power-management' && held && offBegan(status)) return false;
  // On a person's word nothing was switched off: when that is void in mid-release, only our taint is taken back.
  if (operation.phase === 'off') return (!held || !offBegan(status) || isUnread(operation, status)) && status.released?.voidedAt === undefined;
  if (operation.phase === 'on' && operation.method?.kind === 'fabric') return mayOpenStorage(context, status);
  if (operation.key === 'release-end') return status.released !== undefined || status.restore?.taints !== undefined;
  if (operation.key !== 'release') return true;
  const mayGiveUp = context.plan.release === 'evict' || keptAgainInMs(status) !== undefined;
  const isGivenUp = leftToRelease(status) > 0 && mayGiveUp && releaseOverMs(context) <= context.snapshot.nowMs;
  return !held && !isGivenUp && context.plan.release !== 'none' && isProvenHere(context.plan, status);
}

/** By this level, which reads it again before the release, or by a person: what an earlier level has proven is read by nobody any more. Not where it was read gone. */
function isProvenHere(plan: Plan, status: NodeFenceStatus): boolean {
  const proof = proofOf(status.evidence, plan, status.step);
  const source = status.journal.find(({ id }) => id === proof?.source);
  const isHere = source === undefined || (source.step === status.step && source.level === status.level);
  const latest = source && status.journal.findLast(({ step, operation }) => step === source.step && operation === source.operation);
  const isGone = latest?.action === 'confirm' && latest.result === 'found-not-done';
  return proof !== undefined && !isGone && (isHere || proof.kind === 'ack');
}

/** Its proof holds, and nothing was heard of it since: behind the release somebody else may have started the machine, which voids no proof any more. */
function isStillOff({ plan, node, provenAtMs }: Context, status: NodeFenceStatus): boolean {
  const proof = validEvidence(status.evidence, plan);
  if (proof === undefined || node === undefined) return false;
  const isAnotherBoot = proof.bootID !== undefined && node.bootID !== proof.bootID;
  return !isAnotherBoot && (provenAtMs === undefined || lastSignMs(node, proof, status) <= provenAtMs);
}

/** It was sent, and cut off by a hand-over before anybody read what came of it: that is read before anything is switched on (P3), whatever holds the rest. */
function isUnread(operation: Operation, { journal, step, level, restarts }: NodeFenceStatus): boolean {
  const runs = journal.filter(
    (entry) => entry.operation === operation.key && entry.step === step && entry.level === level && entry.restart === restarts,
  );
  // A read of it that was cut off as well has read nothing.
  const latest = runs.findLast(({ action, result }) => !(action === 'confirm' && result === 'interrupted'));
  return latest?.result === 'interrupted' && latest.offSent === true;
}

interface Next {
  operation: Operation;
  attempt: number;
  confirm: boolean;
}

function attempt(context: Context, status: NodeFenceStatus, step: Step, next: Next): Transition {
  const wait = dueMs(context, status, next.operation);
  if (wait > context.snapshot.nowMs) return { status, requeueAtMs: Number.isFinite(wait) ? wait : undefined };
  const reread = next.operation.key === 'release' && isStale(context) ? provingOperation(context.plan, step, status.level) : undefined;
  if (reread !== undefined) return begin(context, status, step, { ...next, operation: reread, confirm: true });
  return begin(context, status, step, next);
}

function isStale({ provenAtMs, snapshot }: Context): boolean {
  return provenAtMs === undefined || snapshot.nowMs - provenAtMs > RELEASE_BEGINS_WITHIN_MS;
}

/** When the next operation may begin; `Infinity`: a change decides. */
function dueMs(context: Context, status: NodeFenceStatus, operation: Operation): number {
  const { since, nowMs } = context.snapshot;
  const { timing } = context.plan;
  const last = status.journal.at(-1);
  let due = Math.max(nowMs, 0);
  if (last !== undefined && isFailure(last)) due = Math.max(due, (since.journal ?? nowMs) + timing.settleMs);
  if (last?.result === 'interrupted' || last?.result === 'stopped' || last?.result === 'not-sent')
    due = Math.max(due, (since.journal ?? nowMs) + INTERRUPTED_MS);
  // The kernel needs its time to dump; an off cuts it.
  if (operation.phase === 'off' && last?.action === 'diag' && last.result === 'succeeded')
    due = Math.max(due, (since.journal ?? nowMs) + diagWaitMs(context.plan, last));
  if (operation.phase === 'on') due = Math.max(due, (since.set ?? since.journal ?? nowMs) + lateEffectMs(context, status));
  // What was gone may have been put back by a controller that saw it late.
  if (isBehindRelease(operation) && isLeft(context, status)) due = Math.max(due, releaseOverMs(context));
  // Of a node that was alive when it was switched off, and shows no other boot: Kubernetes lets nothing go of one that it still counts as Ready.
  if (operation.key === 'release' && isAskedFor(status) && context.node?.ready === 'True' && !isMeantToLive(status) && !isBootedAnew(context, status))
    due = Number.POSITIVE_INFINITY;
  if (operation.key === 'release') due = Math.max(due, silenceOverMs(context, status), nextBatchMs(context, status));
  if (operation.key === 'release-end' && !mayEndRelease(context, status)) due = releaseOverMs(context);
  return due;
}

/** A machine whose identity nobody has verified must be silent for `life_wait`, as this process itself has seen. */
function silenceOverMs({ snapshot: { since, nowMs }, plan, provenAtMs }: Context, status: NodeFenceStatus): number {
  if (validEvidence(status.evidence, plan)?.identity !== 'unverified') return 0;
  const provenMs = since.firstEvidence ?? provenAtMs;
  if (provenMs !== undefined) return provenMs + plan.timing.lifeWaitMs;
  // What a predecessor has read is read again first, and the silence counts from then; where nothing can read it again, from the first sight of the step.
  if (provingOperation(plan, status.step, status.level) !== undefined) return nowMs;
  return (since.position ?? nowMs) + plan.timing.lifeWaitMs;
}

/**
 * After a batch its pace, also where the batch was of the other step: what storage let go counts. While only kept pods or volumes are left, until one of
 * them may be asked for again, or all of them are gone.
 */
function nextBatchMs(context: Context, status: NodeFenceStatus): number {
  const { since, nowMs, workload } = context.snapshot;
  if (leftToRelease(status) === 0 && !isPacedByOther(context.plan, status)) return 0;
  const paced = (since.batch ?? nowMs) + paceOf(paceFor(context)).intervalMs;
  const againInMs = keptAgainInMs(status);
  const areVolumesKept = status.step !== 'isolation' && (status.released?.keptVolumes?.length ?? 0) > 0;
  const areKeptGone = areVolumesKept ? workload.volumeAttachments === 0 : workload.pods === 0;
  if (againInMs === undefined || areKeptGone || status.journal.at(-1)?.action !== 'release') return paced;
  return Math.max(paced, Math.min((since.journal ?? nowMs) + againInMs, releaseOverMs(context)));
}

/** The first batch of this step's release comes behind those of the other step's. */
function isPacedByOther({ podsPerMinute }: Plan, { step, released, storageRelease }: NodeFenceStatus): boolean {
  const [own, other] = step === 'isolation' ? [storageRelease, released] : [released, storageRelease];
  return podsPerMinute !== undefined && own === undefined && other !== undefined;
}

/** What its revoked storages let go is let go from a node that lives on. */
function isMeantToLive(status: NodeFenceStatus): boolean {
  return status.step === 'isolation' && mayLive(status, { kind: 'storage-revoked' });
}

function diagWaitMs(plan: Plan, { method }: JournalEntry): number {
  const methods = plan.powerManagement.flatMap((level) => level.methods);
  return methods.find(({ name }) => name === method)?.diagWaitMs ?? 0;
}

/**
 * Every off that was sent showed its transition: `settle`. One was never read back, or could not be because the machine was off already or another
 * off had been sent before: the device may still carry it out (P5).
 */
export function lateEffectMs(context: Pick<Context, 'plan'>, status: NodeFenceStatus): number {
  const { timing } = context.plan;
  const sent = status.journal.filter((entry) => entry.action === 'off' && entry.result !== 'not-sent' && entry.result !== 'stopped');
  const unseen = sent.filter((entry, index) => {
    const again = sent.slice(0, index).some((other) => other.device === entry.device && other.plug === entry.plug);
    return entry.result !== 'succeeded' || entry.edgeUnseen === true || again;
  });
  const methods = context.plan.powerManagement.flatMap((level) => level.methods);
  const latencies = unseen.map((entry) => methods.find((method) => method.name === entry.method)?.deviceMaxLatencyMs ?? 0);
  return Math.max(timing.settleMs, ...latencies);
}

/** Nothing of the old node is left to free, or the proof was lost and our taint must go at once (P2, P3). */
function mayEndRelease(context: Context, status: NodeFenceStatus): boolean {
  if (status.released === undefined) return true;
  if (status.released.voidedAt !== undefined && !isBootedAnew(context, status)) return true;
  const { workload, nowMs } = context.snapshot;
  const isOver = nowMs >= releaseOverMs(context);
  if (workload.isUnsure === true) return isOver;
  return isOver || (workload.pods === 0 && workload.volumeAttachments === 0);
}

/** Something of what was let go still stands in the API. */
function isLeft({ snapshot: { workload } }: Context, { released }: NodeFenceStatus): boolean {
  const isToWait = released !== undefined && released.voidedAt === undefined;
  return isToWait && (workload.isUnsure === true || workload.pods > 0 || workload.volumeAttachments > 0);
}

/** Somebody else started the machine, and nothing of the old boot is left on it but what the API still shows. */
function isBootedAnew({ node }: Context, { released, evidence }: NodeFenceStatus): boolean {
  const bootID = evidence.find((item) => item.source === released?.evidence)?.bootID;
  return bootID !== undefined && node?.bootID !== undefined && node.bootID !== bootID;
}

/** `release_timeout` counts from the last batch that let something go, and from the first eviction: a budget keeps no node off for longer. */
function releaseOverMs({ snapshot: { since, nowMs }, plan }: Context): number {
  const begun = plan.release === 'evict' ? (since.released ?? since.batch) : (since.batch ?? since.released);
  return (begun ?? nowMs) + plan.timing.releaseTimeoutMs;
}

function paceFor({ plan }: Context): Parameters<typeof paceOf>[0] {
  return { mode: plan.release, podsPerMinute: plan.podsPerMinute };
}

function begin(context: Context, status: NodeFenceStatus, step: Step, next: Next, named?: Pick<JournalEntry, 'method' | 'plug'>): Transition {
  const { operation } = next;
  const method = operation.method;
  const name = named?.method ?? method?.name ?? operation.action;
  const entry: JournalEntry = {
    id: `${name}-${context.snapshot.uuid}`,
    step,
    level: status.level,
    operation: operation.key,
    method: name,
    agent: method?.agent ?? 'kubernetes',
    device: method?.device ?? '',
    plug: named?.plug ?? method?.plug ?? '',
    action: next.confirm ? 'confirm' : operation.action,
    attempt: next.attempt,
    restart: status.restarts,
    runner: 'in-process',
    epoch: context.snapshot.epoch,
    startedAt: context.snapshot.wall,
    deadlineMs: intentDeadlineMs(context.plan),
    ...(context.node?.bootID === undefined ? {} : { bootID: context.node.bootID }),
  };
  const restore = restoreFor(entry, status.restore, OUT_OF_SERVICE_TAINT);
  const message = `${entry.action} by ${entry.agent}${entry.device === '' ? '' : ` at ${entry.device}`}, attempt ${entry.attempt}.`;
  const written: NodeFenceStatus = { ...status, journal: appended(status, entry), jobs: [...status.jobs, entry.id].slice(-16), message };
  if (restore !== undefined) written.restore = restore;
  if (entry.action === 'on') written.evidence = voidEvidence(status.evidence, context.snapshot.wall, SWITCHED_ON);
  // Before the permit leaves: nothing more is released on what its new registrations make untrue (P1).
  if (entry.agent === 'unfence') {
    written.evidence = voidEvidence(status.evidence, context.snapshot.wall, 'its daemon was permitted to put its storage registrations back');
    written.message = unfenceWaits(entry, operation.method?.runMaxMs ?? UNFENCE_MS);
  }
  delete written.hold;
  if (cutsOff(entry)) delete written.slotGivenAway;
  const words = notReleased(context, status, entry);
  const dispatch = { kind: 'run' as const, entry, operation };
  const events = entry.agent === 'unfence' ? { events: [event('Normal', 'UnfencePermitted', written.message ?? '')] } : {};
  if (words === undefined) return { status: written, dispatch, ...events };
  return { status: { ...written, message: words }, dispatch, events: [event('Warning', 'NotReleased', words)] };
}

/** The machine is switched on although its workload was not let go, or not all of it, for a hold came after the first off: nothing else would tell, once. */
function notReleased(context: Context, status: NodeFenceStatus, entry: JournalEntry): string | undefined {
  const { plan } = context;
  const [held] = context.snapshot.holds;
  const isFirstOn =
    entry.action === 'on' &&
    entry.step === 'power-management' &&
    !status.journal.some(({ action, restart }) => action === 'on' && restart === entry.restart);
  const isPartly = status.released !== undefined && leftToRelease(status) > 0;
  if (held === undefined || !isFirstOn || (status.released !== undefined && !isPartly) || plan.release === 'none') return undefined;
  const isProven = proofOf(status.evidence, plan, status.step) !== undefined;
  if (!isProven && !seemsFailed(context)) return undefined;
  const begin = isProven ? 'Proven off, but held' : 'Held';
  return bounded(
    `${begin} by ${held.policy}: ${held.message.replace(/\.?$/, '.')} Its workload is not ${isPartly ? 'completely ' : ''}released; the machine is switched on again.`,
  );
}

function levelFailed(context: Context, status: NodeFenceStatus, step: Step, ends: StepEnds, why: string): Transition {
  const next = nextLevel(context.plan, step, status);
  if (next === undefined || isBackMeanwhile(context, status)) return ends.failed(status, why);
  const due = (context.snapshot.since.set ?? context.snapshot.since.journal ?? context.snapshot.nowMs) + lateEffectMs(context, status);
  if (due > context.snapshot.nowMs) return { status, requeueAtMs: due };
  const message = `Level ${status.level} of ${step} failed (${why}); level ${next.level} is tried.`;
  return {
    status: moved(status, { level: next.level }, message),
    requeueAtMs: context.snapshot.nowMs,
    events: [event('Warning', 'LevelFailed', message)],
  };
}

/** The on or the deletion failed, and the node came up all the same: no second device switches it off again. */
function isBackMeanwhile({ triggered }: Context, { journal, step, level, restarts }: NodeFenceStatus): boolean {
  return (
    !triggered &&
    journal.some(
      ({ action, ...entry }) =>
        (action === 'on' || action === 'delete') && entry.step === step && entry.level === level && entry.restart === restarts,
    )
  );
}

function lastFailure(status: NodeFenceStatus): string {
  return status.journal.findLast((entry) => isFailure(entry))?.message ?? 'retries used up';
}
