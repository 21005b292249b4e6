import { undoneTaints } from './own-taints.ts';
import type { JobResult, JournalEntry, NodeFenceStatus, Released } from './node-fence.ts';
import type { Plan, PlanLevel, PlanMethod, Step } from './plan.ts';
import { isPlugOf, levelsOf, switchesOff, switchesOn } from './plan.ts';

/**
 * A level of a step as the list of operations that it consists of, in the order in which they run (P3): every off, the release, its end,
 * then every on. A reboot is split into off and on around the release, a delete into off and delete; several plugs are all switched off before the first is verified for good.
 */
export interface Operation {
  /** Unique in the program: `off:<method>`, `on:<method>`, `run:<method>`, `diag:<method>`, `delete:<method>`, `left:<method>`, `release`, `release-end`. */
  key: string;
  phase: 'run' | 'diag' | 'off' | 'release' | 'while-off' | 'on' | 'left' | 'delete';
  action: JournalEntry['action'];
  /** The method that it runs; absent for the controller's own operations. */
  method?: PlanMethod;
  /** Earlier offs of the level: read back off together with this one, in one uninterrupted pass; before a run while it is off, every off of it. */
  together: readonly PlanMethod[];
  /** The last off of its level: read with `together`, it proves that nothing feeds the machine. */
  isLastOff?: true;
  /** Storages that are proven to be revoked once this and `together` read closed. */
  revokes?: readonly string[];
}

/** Our out-of-service taint is taken back. */
export const RELEASE_END: Operation = { key: 'release-end', phase: 'release', action: 'release-end', together: [] };

/** The workload is let go. */
export const RELEASE: Operation = { key: 'release', phase: 'release', action: 'release', together: [] };

/** A person's word is weighed against what the devices show. */
export const ACKNOWLEDGE: Operation = { key: 'acknowledge', phase: 'release', action: 'acknowledge', together: [] };

const UNDO_CORDON: PlanMethod = {
  name: 'undo-cordon',
  agent: 'uncordon',
  kind: 'action',
  action: 'run',
  device: '',
  plug: '',
  parameters: {},
  deviceMaxLatencyMs: 0,
};

/** How long the daemon of a node is waited for where recovery names no method of agent `unfence`. */
export const UNFENCE_MS = 120_000;

const UNFENCE: PlanMethod = {
  name: 'unfence',
  agent: 'unfence',
  kind: 'action',
  action: 'run',
  device: '',
  plug: '',
  parameters: {},
  deviceMaxLatencyMs: 0,
  runMaxMs: UNFENCE_MS,
};

/** What a recovery does besides what it names: our cordon is taken back all the same (P8), and before all else a node whose daemon puts its registrations back has them. */
export interface Besides {
  cordoned?: boolean;
  unfences?: boolean;
  /** What another level switched off, and this one does not switch: it is switched on behind all else, once; whatever comes of it, the level is through. */
  left?: readonly PlanMethod[];
}

/** The operations of one level. */
export function compile(plan: Plan, step: Step, level: number, { cordoned = false, unfences = false, left = [] }: Besides = {}): Operation[] {
  const methods = levelsOf(plan, step).find((candidate) => candidate.level === level)?.methods ?? [];
  switch (step) {
    case 'power-management':
      return powerProgram(methods, left);
    case 'isolation':
      return isolationProgram(plan, methods);
    case 'recovery':
      return [
        ...(unfences && !methods.some(({ agent }) => agent === 'unfence') ? [asRun(UNFENCE)] : []),
        ...methods.map(asRun),
        ...undoneTaints(plan).map(asRun),
        ...(cordoned && !methods.some(({ agent }) => agent === 'uncordon') ? [asRun(UNDO_CORDON)] : []),
      ];
  }
}

/** The release stands behind the last revocation, whose reads are of all of them together: what writes to those storages alone may be let go. */
function isolationProgram(plan: Plan, methods: readonly PlanMethod[]): Operation[] {
  const revoking = methods.filter(isRevocation);
  const last = revoking.at(-1);
  if (last === undefined) return methods.map(asRun);
  const together = revoking.filter((method) => method !== last);
  const revokes = [...new Set([...together, last].flatMap(({ storage }) => storage ?? []))];
  const program = methods.map((method) => (method === last ? { ...asRun(method), together, revokes } : asRun(method)));
  return plan.release !== 'none' && plan.minimumEvidence.includes('storage-revoked') ? [...program, RELEASE] : program;
}

/** It closes the way to a storage that it names. */
function isRevocation({ kind, action, storage }: PlanMethod): boolean {
  return kind === 'fabric' && action === 'off' && storage !== undefined;
}

/**
 * The operation whose reads prove what its level was for: the last off, a level without one its last run that proves something, or isolation's last
 * revocation. A release rests on it, and reads it again.
 */
export function provingOperation(plan: Plan, step: Step, level: number): Operation | undefined {
  const program = compile(plan, step, level);
  if (step !== 'isolation') {
    const lastOff = program.findLast((operation) => operation.phase === 'off');
    return lastOff ?? program.findLast(({ method }) => method !== undefined && provesByRunning(method));
  }
  return program.findLast((operation) => operation.method !== undefined && isRevocation(operation.method));
}

/** An action whose run waits until something is proven: a watchdog that has reset the machine, a dump of its old kernel. */
function provesByRunning({ action, evidence }: PlanMethod): boolean {
  return action === 'run' && evidence !== undefined;
}

function powerProgram(methods: readonly PlanMethod[], left: readonly PlanMethod[]): Operation[] {
  const offs = methods.filter(switchesOff);
  const ons = methods.filter(switchesOn);
  const runs = methods.filter((method) => method.action === 'run' && method.whileOff !== true);
  const whileOff = methods.filter((method) => method.action === 'run' && method.whileOff === true);
  const last = offs.at(-1);
  const program: Operation[] = runs.map(asRun);
  for (const method of methods.filter(({ action }) => action === 'diag')) {
    program.push({ key: `diag:${method.name}`, phase: 'diag', action: 'diag', method, together: [] });
  }
  for (const method of offs) {
    program.push({
      key: `off:${method.name}`,
      phase: 'off',
      action: 'off',
      method,
      ...(method === last ? { together: offs.filter((other) => other !== last), isLastOff: true } : { together: [] }),
    });
  }
  if (offs.length > 0 || runs.some(provesByRunning)) {
    program.push(RELEASE, RELEASE_END);
  }
  for (const method of whileOff) program.push({ ...asRun(method), phase: 'while-off', together: offs });
  for (const method of ons) program.push({ key: `on:${method.name}`, phase: 'on', action: 'on', method, together: [] });
  // A level that only switches off leaves all of it off.
  for (const method of ons.length === 0 && offs.length > 0 ? [] : left)
    program.push({ key: `${LEFT}${method.name}`, phase: 'left', action: 'on', method, together: [] });
  // Last of all: whatever else of its level is wanted is done by then, and nothing follows it.
  for (const method of methods.filter(({ action }) => action === 'delete'))
    program.push({ key: `delete:${method.name}`, phase: 'delete', action: 'delete', method, together: [] });
  return program;
}

function asRun(method: PlanMethod): Operation {
  return { key: `${method.action === 'run' ? 'run' : method.action}:${method.name}`, phase: 'run', action: method.action, method, together: [] };
}

/**
 * The level that is tried when this one has failed. Where its offs are done and an on has failed, only one that switches on is of any use, or one that
 * deletes the machine; where a deletion has failed, one that switches at all.
 */
export function nextLevel(plan: Plan, step: Step, { level, restarts, journal }: NodeFenceStatus): PlanLevel | undefined {
  const levels = levelsOf(plan, step);
  const isOff = levels.find((one) => one.level === level)?.methods.some(switchesOff) === true;
  const isTried = (action: JournalEntry['action']): boolean =>
    isOff && journal.some((entry) => entry.action === action && entry.step === step && entry.level === level && entry.restart === restarts);
  const [isOn, isDeleted] = [isTried('on'), isTried('delete')];
  const isOfUse = (method: PlanMethod): boolean => switchesOn(method) || method.action === 'delete' || (!isOn && (!isDeleted || switchesOff(method)));
  return levels.find((next) => next.level > level && next.methods.some(isOfUse));
}

/** A level of power-management that only waits for a proof, or runs a program. */
export function switchesNothing(plan: Plan, level: number): boolean {
  const methods = plan.powerManagement.find((one) => one.level === level)?.methods ?? [];
  return methods.length > 0 && methods.every(({ action }) => action === 'run');
}

/** What switches on again what other levels have switched off, where this one switches on something else: a supply whose other one did not obey, a BMC that was asked first. */
export function leftByOthers({ powerManagement }: Pick<Plan, 'powerManagement'>, { level, restore }: NodeFenceStatus): PlanMethod[] {
  const own = powerManagement.find((candidate) => candidate.level === level)?.methods ?? [];
  const all = powerManagement.flatMap(({ methods }) => methods.filter(switchesOn));
  const edges = (restore?.edges ?? []).filter((edge) => edge.state === 'off' && !isPlugOf(own, edge));
  return edges.flatMap((edge) => all.find((method) => isPlugOf([method], edge)) ?? []);
}

/** What is off now is meant to stay off: the level that was tried last switches nothing on, and what another one switched off has no on there. */
export function staysOff({ powerManagement }: Pick<Plan, 'powerManagement'>, { level, restore }: NodeFenceStatus): boolean {
  const off = (restore?.edges ?? []).filter(({ state }) => state === 'off');
  const last = powerManagement.find((candidate) => candidate.level === level || powerManagement.length === 1);
  const others = powerManagement.flatMap(({ methods }) => methods.filter(switchesOn));
  const isMeant = off.every((edge) => isPlugOf(last?.methods.filter(switchesOff) ?? [], edge) || !isPlugOf(others, edge));
  return off.length > 0 && isMeant && last?.methods.some(switchesOn) !== true;
}

export type Progress =
  | { kind: 'finished' }
  /** An operation's run has no result yet. */
  | { kind: 'open'; entry: JournalEntry }
  /** The next operation; `confirm`: it succeeded before and only has to be read back. */
  | { kind: 'next'; operation: Operation; attempt: number; confirm: boolean }
  /** This device will not do it, now or later. */
  | { kind: 'failed'; operation: Operation; entry: JournalEntry };

const SUCCESS: ReadonlySet<JobResult> = new Set(['succeeded', 'voided']);
/** The run never began, or says nothing about the device: it is decided afresh and counts as no failure. */
const NEUTRAL: ReadonlySet<JobResult> = new Set(['not-sent', 'stopped', 'interrupted', 'found-not-done']);
const HOPELESS: ReadonlySet<JobResult> = new Set(['refused', 'misconfigured']);

const LEFT = 'left:';

/** Is this the entry of a failure that counts against `step_retries`? */
export function isFailure(entry: Pick<JournalEntry, 'action' | 'result'> & { operation?: string }): boolean {
  // A dump that could not be had keeps nobody from the off, and what another level left off nobody from being done.
  return entry.action !== 'diag' && !isOfLeft(entry) && hasFailed(entry);
}

/** It ended, and what it was for is not done. */
export function hasFailed({ result }: Pick<JournalEntry, 'result'>): boolean {
  return result !== undefined && !SUCCESS.has(result) && !NEUTRAL.has(result) && result !== 'found-done';
}

/** It switches on what another level left off. */
export function isOfLeft({ operation = '' }: { operation?: string }): boolean {
  return operation.startsWith(LEFT);
}

/** It ended, neither done nor given up: it is begun again. */
export function isBegunAgain({ result }: Pick<JournalEntry, 'result'>): boolean {
  return result !== undefined && !SUCCESS.has(result) && !HOPELESS.has(result) && result !== 'found-done';
}

/** How far the journal says that the program of the present step, level and restart has come. */
export function progress(program: readonly Operation[], status: NodeFenceStatus): Progress {
  const runs = status.journal.filter((entry) => entry.step === status.step && entry.level === status.level && entry.restart === status.restarts);
  const open = runs.find((entry) => entry.finishedAt === undefined);
  if (open !== undefined) return { kind: 'open', entry: open };
  // Once an on or a delete was begun the offs and the release of this level are over, whatever changes its mind (P3).
  const switchingOn = runs.some(({ action, result }) => action === 'on' || (action === 'delete' && !NEVER_SENT.has(result)));
  for (const operation of program) {
    const isLeft = operation.key === 'release-end' && status.restore?.taints !== undefined;
    if (switchingOn && !isLeft && BEFORE_ON.has(operation.phase)) continue;
    const own = runs.filter((entry) => entry.operation === operation.key);
    const latest = own.at(-1);
    if (operation.phase === 'diag' && (latest === undefined ? offWasTried(runs) : !NEVER_SENT.has(latest.result))) continue;
    if (operation.phase === 'left' && latest?.result !== undefined && !NEUTRAL.has(latest.result)) continue;
    if (latest?.result !== undefined && HOPELESS.has(latest.result)) return { kind: 'failed', operation, entry: latest };
    if (isDone(operation, latest, { runs, program, status })) continue;
    const confirm =
      operation.method !== undefined && (operation.phase === 'run' ? stoodBefore(operation, status) : isProven(operation, latest, runs));
    return { kind: 'next', operation, attempt: own.length + 1, confirm };
  }
  return { kind: 'finished' };
}

/** What is over once an on was begun. */
const BEFORE_ON: ReadonlySet<Operation['phase']> = new Set(['diag', 'off', 'release', 'while-off']);

/** A diag is sent at most once, and never after an off: what became of it is no matter. */
const NEVER_SENT: ReadonlySet<JournalEntry['result']> = new Set(['not-sent', 'stopped']);

function offWasTried(runs: readonly JournalEntry[]): boolean {
  return runs.some((entry) => entry.action === 'off' && !NEVER_SENT.has(entry.result));
}

/** Pods that later batches of the present step's release have to let go, and volumes that are kept behind the last of them. */
export function leftToRelease({ step, released, storageRelease }: NodeFenceStatus): number {
  return step === 'isolation' ? (storageRelease?.left ?? 0) : leftIn(released);
}

export function leftIn(released: Pick<Released, 'left' | 'keptVolumes'> | undefined): number {
  return (released?.left ?? 0) + (released?.keptVolumes?.length ?? 0);
}

/** Nothing but pods or volumes that were asked for in vain is left of the present step's release: so long after the last batch they are asked for again. */
export function keptAgainInMs({ step, released, storageRelease }: NodeFenceStatus): number | undefined {
  const againInMs = step === 'isolation' ? storageRelease?.againInMs : released?.againInMs;
  return againInMs === 0 ? undefined : againInMs;
}

const NOTHING_FREED: ReadonlySet<JournalEntry['result']> = new Set(['not-sent', 'stopped', 'found-not-done']);

/** A release that was begun, and of which nobody says that it let nothing go. */
export function mayHaveReleased({ action, result }: JournalEntry): boolean {
  return action === 'release' && !NOTHING_FREED.has(result);
}

/** What an earlier restart isolated is read back, not repeated, as long as no read said that it is gone. */
function stoodBefore(operation: Operation, status: NodeFenceStatus): boolean {
  const runs = status.journal.filter((entry) => entry.step === status.step && entry.operation === operation.key);
  const success = runs.findLastIndex((entry) => entry.result === 'succeeded');
  return success > runs.findLastIndex((entry) => entry.action === 'confirm' && entry.result === 'found-not-done');
}

/** It succeeded, and its device has not restarted since: an off from before that is sent again. */
function isProven({ method }: Operation, latest: JournalEntry | undefined, runs: readonly JournalEntry[]): boolean {
  if (latest?.result !== 'succeeded') return false;
  return !runs.slice(runs.lastIndexOf(latest)).some(({ restarted }) => method !== undefined && restarted?.includes(method.name) === true);
}

interface Course {
  runs: readonly JournalEntry[];
  program: readonly Operation[];
  status: NodeFenceStatus;
}

/** No batch was begun after this end of the release, and nothing of one is left to take back. */
function isEndOfAll(end: JournalEntry, runs: readonly JournalEntry[], { restore }: NodeFenceStatus): boolean {
  return restore?.taints === undefined && runs.lastIndexOf(end) > runs.findLastIndex((entry) => mayHaveReleased(entry));
}

function isDone(operation: Operation, latest: JournalEntry | undefined, { runs, program, status }: Course): boolean {
  if (latest?.result === undefined) return false;
  // A hold may stop a release between two batches, and let it go on after its end: whatever the later batch came to, its intent has set our taint anew.
  if (operation.key === 'release-end' && !isEndOfAll(latest, runs, status)) return false;
  if (latest.result === 'found-done') return operation.phase !== 'off';
  if (!SUCCESS.has(latest.result)) return false;
  // One that a sign of life ended is over, but for a proof that came after it: where a person's word was void, our own off.
  const isProvenSince = runs.slice(runs.lastIndexOf(latest)).some(({ action, result }) => action === 'off' && result === 'succeeded');
  if (operation.key === 'release') return latest.result === 'voided' ? !isProvenSince : leftToRelease(status) === 0;
  if (operation.phase === 'release') return true;
  // A retry resumes at the failed method after the earlier ones of its phase were read back.
  const phase = new Set(program.filter((other) => other.phase === operation.phase).map((other) => other.key));
  const lastFailure = runs.findLastIndex((entry) => phase.has(entry.operation) && isFailure(entry));
  return runs.lastIndexOf(latest) > lastFailure;
}
