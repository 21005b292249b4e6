import { ROWS } from '../../src/domain/automaton.ts';
import { acknowledged } from '../../src/domain/acknowledgement.ts';
import { proofOf, validEvidence } from '../../src/domain/evidence.ts';
import { offBegan, openEntries } from '../../src/domain/journal.ts';
import { FENCE_STATES, LIMITS } from '../../src/domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { Plan, PlanMethod } from '../../src/domain/plan.ts';
import type { Snapshot } from '../../src/domain/snapshot.ts';
import type { Model } from '../../src/domain/testing/model.ts';
import type { Decision } from '../../src/domain/transition.ts';

/** The laws as they can be read off one decision; what broke one, in words. `model`: after the decision was carried out. */
export function judge(snapshot: Snapshot, decision: Decision, model: Model): string[] {
  const before = snapshot.fence?.status;
  const after = decision.status ?? before;
  const found: (string | false | undefined)[] = [...judgeStatus(before, decision), judgeArrow(before, decision)];
  if (decision.dispatch !== undefined && after !== undefined) {
    const { kind, entry } = decision.dispatch;
    found.push(
      ...judgeIntent(before, after, kind, entry),
      (before?.epoch ?? 0) > snapshot.epoch && `a deposed leader begins ${entry.operation} (P5)`,
    );
    if (kind === 'run') {
      found.push(
        ...judgeRun(snapshot, after, entry, model),
        ...judgeHolds(snapshot, before, entry),
        ...judgePreserved(snapshot, before, after, entry),
        ...judgeDeletion(snapshot, after, entry),
      );
    }
  }
  return found.filter((words) => words !== false && words !== undefined).map((words) => `${decision.row}: ${words}`);
}

function judgeStatus(before: NodeFenceStatus | undefined, { status }: Decision): (string | false)[] {
  if (status === undefined) return [];
  const happy = status.state === 'final' && (status.outcome === 'recovered' || status.outcome === 'untouched');
  return [
    openEntries(status).length > 1 && `${openEntries(status).length} runs are open at once`,
    before !== undefined && status.epoch < before.epoch && `epoch fell from ${before.epoch} to ${status.epoch}`,
    status.journal.length > LIMITS.journal && 'the journal is longer than its bound',
    new Set(status.journal.map((entry) => entry.id)).size < status.journal.length && 'two runs have one id',
    happy && status.restore !== undefined && `closed as ${String(status.outcome)} with ${JSON.stringify(status.restore)} not taken back (P8)`,
    status.state === 'final' &&
      status.outcome === 'fenced-off' &&
      (status.frozen === undefined || validEvidence(status.evidence, status.frozen.plan) === undefined) &&
      'ends in off without proof (P1)',
    status.state === 'error' &&
      status.outcome === 'failed' &&
      status.restore?.taints !== undefined &&
      !(status.message ?? '').includes('out-of-service') &&
      'gave up with our taint standing and does not say so (P8)',
  ];
}

/** A state changes only along the arrows that the table prints. */
function judgeArrow(before: NodeFenceStatus | undefined, decision: Decision): string | false {
  const after = decision.status?.state;
  if (before === undefined || after === undefined || after === before.state) return false;
  const row = ROWS.find((candidate) => candidate.id === decision.row);
  const arrows = FENCE_STATES.filter((state) => new RegExp(`\\b${state}\\b`).test(row?.to ?? ''));
  return !arrows.includes(after) && `went from ${before.state} to ${after}; the table says to ${row?.to ?? 'nothing'}`;
}

/** P4: what is begun stands in the status, unfinished; a recovery is of a run that stood before. */
function judgeIntent(before: NodeFenceStatus | undefined, after: NodeFenceStatus, kind: 'run' | 'recover', entry: JournalEntry): (string | false)[] {
  const written = after.journal.find((candidate) => candidate.id === entry.id);
  return [
    written === undefined && `${entry.operation} is begun without an intent (P4)`,
    written?.finishedAt !== undefined && `${entry.operation} is begun again under a finished intent (P4)`,
    kind === 'recover' && before?.journal.some((candidate) => candidate.id === entry.id) === false && 'recovers what was never begun',
    kind === 'run' && before?.journal.some((candidate) => candidate.id === entry.id) === true && 'an old intent is sent again (P4)',
  ];
}

function judgeRun(snapshot: Snapshot, after: NodeFenceStatus, entry: JournalEntry, model: Model): (string | false)[] {
  const { node, since, nowMs } = snapshot;
  const plan = after.frozen?.plan;
  const proof = plan === undefined ? undefined : proofOf(after.evidence, plan, entry.step);
  const provenAtMs = proof === undefined ? undefined : model.proofs.get(proof.source);
  const level = after.journal.filter((other) => other.level === entry.level && other.restart === entry.restart && other.step === 'power-management');
  const later = level.findIndex((other) => other.action === 'on' && other.id !== entry.id && entry.step === 'power-management') >= 0;
  const byHand = snapshot.fence?.deleting === true;
  const settleMs = plan?.timing.settleMs ?? 0;
  const method = plan === undefined ? undefined : methodOf(plan, entry);
  const isPower = method?.kind !== 'fabric';
  const bound = after.storageRelease?.bootID;
  const word = acknowledged(after) !== undefined;
  return [
    entry.action === 'off' &&
      entry.step === 'power-management' &&
      isKeptIsolated(snapshot, after, entry) &&
      'switches off what is to be isolated only',
    word && !byHand && (entry.action === 'off' || entry.action === 'on') && `switches ${entry.action} a machine that a person has in hand`,
    entry.action === 'release' && proof === undefined && 'releases without evidence (P1)',
    entry.action === 'release' && proof !== undefined && provenAtMs === undefined && 'releases on evidence of another process (P2)',
    entry.action === 'release' &&
      provenAtMs !== undefined &&
      (node?.lifeAtMs ?? 0) > provenAtMs &&
      !(after.lastStep === 'isolation' && entry.step === 'isolation') &&
      'releases after a sign of life (P2)',
    method?.whileOff === true && proof === undefined && 'does what is right only while the machine is off, without evidence (P1)',
    method?.whileOff === true &&
      provenAtMs !== undefined &&
      (node?.lifeAtMs ?? 0) > provenAtMs &&
      'does what is right only while the machine is off, after a sign of life (P2)',
    method?.whileOff === true && later && 'does what is right only while the machine is off, after an on (P3)',
    entry.action === 'on' && after.restore?.taints !== undefined && 'switches on a node under our out-of-service taint (P3)',
    isPower && entry.action === 'on' && after.released?.voidedAt !== undefined && !byHand && 'switches on after the proof of a release was lost (P2)',
    !isPower &&
      entry.action === 'on' &&
      bound !== undefined &&
      node?.bootID === bound &&
      !after.journal.some(({ action, step, result }) => action === 'off' && step === 'power-management' && result === 'succeeded') &&
      'opens a storage for the very boot whose pods were let go (P1)',
    isPower && entry.action === 'on' && nowMs < (since.set ?? 0) + settleMs && `switches on ${nowMs - (since.set ?? 0)} ms after the last set (P5)`,
    (entry.action === 'off' || entry.action === 'release') && later && !word && `${entry.action} after an on of the same level (P3)`,
    node?.uid !== after.frozen?.nodeUID && `${entry.operation} for a Node that is gone or replaced`,
    after.step !== 'recovery' &&
      !byHand &&
      !word &&
      entry.action !== 'acknowledge' &&
      spoiled(after) &&
      `runs a step whose configuration is wrong (P7)`,
  ];
}

/** The request goes no further than isolation, the Node is Ready, and no off of this restart is being carried through. */
function isKeptIsolated({ fence, node }: Snapshot, after: NodeFenceStatus, entry: JournalEntry): boolean {
  const isAsked = fence?.spec.requestedBy?.uid === after.trigger?.requestUID && after.trigger?.kind === 'remediation' && fence?.deleting === false;
  const isBegun = after.journal.some(
    ({ id, action, restart, step, result }) =>
      id !== entry.id &&
      action === 'off' &&
      restart === entry.restart &&
      step === 'power-management' &&
      result !== 'not-sent' &&
      result !== 'found-not-done',
  );
  return isAsked && fence.spec.lastStep === 'isolation' && node?.ready === 'True' && !isBegun;
}

function methodOf(plan: Plan, entry: JournalEntry): PlanMethod | undefined {
  const levels = [...plan.isolation, ...plan.powerManagement, ...plan.recovery];
  return levels.flatMap(({ methods }) => methods).find(({ name }) => name === entry.method);
}

function spoiled(status: NodeFenceStatus): boolean {
  return status.frozen?.plan.problems.some((problem) => problem.severity === 'error' && (problem.step ?? status.step) === status.step) === true;
}

/** What is preserved is not fenced, or not switched off; what is to end in off, or is being deleted, is never switched on. */
function judgePreserved(
  { preservation, fence }: Snapshot,
  before: NodeFenceStatus | undefined,
  after: NodeFenceStatus,
  entry: JournalEntry,
): (string | false | undefined)[] {
  const kind = preservation?.kind;
  const plan = after.frozen?.plan;
  const isFirstOff = entry.action === 'off' && entry.step === 'power-management' && before !== undefined && !offBegan(before);
  const isOffAlready = before?.restore?.edges?.some(({ state }) => state === 'off') === true;
  const mustMove = plan?.preserved === 'power-off' && !isClosedOff(plan, before);
  const isIsolating = entry.step === 'isolation' && entry.action !== 'confirm' && entry.action !== 'acknowledge' && entry.agent !== 'uncordon';
  const isPowerOn = entry.action === 'on' && (plan === undefined || methodOf(plan, entry)?.kind !== 'fabric');
  const byHand = fence?.deleting === true;
  return [
    isFirstOff && !isOffAlready && kind === 'never-fence' && 'switches a healthy preserved machine off',
    isFirstOff &&
      !isOffAlready &&
      !mustMove &&
      (kind === 'isolate-and-hold' || kind === 'unknown') &&
      `switches a machine off that is ${kind} (preservation)`,
    isIsolating && !byHand && kind === 'never-fence' && 'isolates a healthy preserved machine',
    isPowerOn && kind === 'drop' && 'switches a machine on that is being deleted',
    isPowerOn && after.ending !== undefined && 'switches a machine on whose fence ends in off',
  ];
}

/** What cannot be taken back is done to what is proven off, and to nothing that anybody wants to keep. */
function judgeDeletion({ preservation }: Snapshot, after: NodeFenceStatus, entry: JournalEntry): (string | false)[] {
  const plan = after.frozen?.plan;
  const others = after.journal.filter(({ id, restart }) => id !== entry.id && restart === entry.restart);
  const isGone = others.some(({ action, result }) => action === 'delete' && (result === 'succeeded' || result === 'found-done'));
  if (entry.action === 'on') return [isGone && methodKindOf(plan, entry) === 'power' && 'switches on what it has deleted'];
  if (entry.action !== 'delete') return [];
  return [
    (plan === undefined || validEvidence(after.evidence, plan) === undefined) && 'deletes without a proof of off (P1)',
    !others.some(({ action, result }) => action === 'off' && result === 'succeeded') && 'deletes without an off of its own (P1)',
    preservation !== undefined && 'deletes a machine that is preserved or being deleted by somebody else',
    after.ending !== undefined && 'deletes a machine whose fence ends in off',
    after.restore?.taints !== undefined && 'deletes under our out-of-service taint (P3)',
    after.released === undefined && 'deletes before the workload is released',
    isGone && 'deletes twice',
  ];
}

function methodKindOf(plan: Plan | undefined, entry: JournalEntry): PlanMethod['kind'] | undefined {
  return plan === undefined ? undefined : methodOf(plan, entry)?.kind;
}

/** Every way that one level of isolation closes was last read back closed. */
function isClosedOff(plan: Plan, status: NodeFenceStatus | undefined): boolean {
  return plan.isolation.some(({ methods }) => {
    const closing = methods.filter(({ kind, action }) => kind === 'fabric' && action === 'off');
    const last = (name: string): JournalEntry | undefined => status?.journal.findLast(({ method, step }) => method === name && step === 'isolation');
    const isClosed = (name: string): boolean => ['succeeded', 'found-done'].includes(last(name)?.result ?? '');
    return closing.length > 0 && closing.every(({ name }) => isClosed(name));
  });
}

/** P6: a stop forbids everything but reads; a hold forbids to isolate, to switch off and to release, and once an off was sent only that. */
function judgeHolds(snapshot: Snapshot, before: NodeFenceStatus | undefined, entry: JournalEntry): (string | false)[] {
  const isolating = entry.action === 'run' && entry.step !== 'recovery' && entry.agent !== 'uncordon';
  const harmful = isolating || entry.action === 'off' || entry.action === 'delete' || entry.action === 'release';
  const observed = snapshot.holds.some((hold) => hold.policy === 'observe');
  return [
    snapshot.stop !== undefined && entry.action !== 'confirm' && entry.action !== 'acknowledge' && `${entry.action} under a person's stop (P6)`,
    snapshot.holds.length > 0 &&
      harmful &&
      `${entry.operation} ${before !== undefined && offBegan(before) ? 'after the first off ' : ''}under a hold (P6)`,
    observed && entry.action !== 'confirm' && `${entry.action} in --mode observe`,
  ];
}
