import { spoiling } from './advance.ts';
import type { Hold, NodeFenceStatus } from './node-fence.ts';
import { levelsOf } from './plan.ts';
import type { Plan, Step } from './plan.ts';
import { compile, provingOperation } from './program.ts';
import type { Operation } from './program.ts';
import { describeRun } from './run-words.ts';
import type { Snapshot, ActiveHold } from './snapshot.ts';

/** One thing that mode enforce would do. */
export interface Deed {
  message: string;
  /** Monotonic; in the past: already. Absent: nobody knows, for a hold has no known end. */
  atMs?: number;
  /** After the end of such a hold. */
  afterMs: number;
}

/** What mode enforce would do with a fence that mode observe, nothing is changed at. */
export interface Would {
  /** In their order; empty: nothing. */
  deeds: readonly Deed[];
  /** What would be let go after the proof, in words. */
  release: string;
  /** What would hold it even then. */
  holds: readonly ActiveHold[];
}

interface Observed {
  snapshot: Snapshot;
  status: NodeFenceStatus;
  plan: Plan;
}

const SECOND_MS = 1_000;
/** The year 10000: RFC 3339 has four digits for it. */
const LAST_MS = 253_402_300_800_000;

/** An absolute time, in whole seconds and never too early: it stays true however late it is read. */
export function momentOf({ nowMs, wall }: Pick<Snapshot, 'nowMs' | 'wall'>, atMs: number | undefined): string | undefined {
  const wallMs = atMs === undefined ? Number.NaN : Date.parse(wall) + atMs - nowMs;
  // What no calendar has is no moment.
  if (!(Math.abs(wallMs) < LAST_MS)) return undefined;
  return new Date(Math.ceil(wallMs / SECOND_MS) * SECOND_MS).toISOString().replace('.000Z', 'Z');
}

/** `hold`: the record of mode observe, which says since when nothing else holds. */
export function wouldDo({ snapshot, status, plan }: Observed, hold: Pick<Hold, 'freeSince'>): Would {
  const holds = snapshot.holds.filter(({ policy }) => policy !== 'observe');
  const freeAtMs = freeAt(snapshot, holds, hold.freeSince);
  const deeds: Deed[] = [];
  let afterMs = 0;
  let dueMs = 0;
  for (const { step, waitedFromMs, delayMs } of stepsLeft(snapshot, status, plan)) {
    dueMs = Math.max(waitedFromMs ?? dueMs, freeAtMs === undefined ? 0 : waitedFromMs === undefined ? dueMs : freeAtMs - delayMs) + delayMs;
    afterMs += waitedFromMs === undefined ? delayMs : 0;
    const wrong = spoiling(plan, step);
    const names = wrong === undefined ? operationsOf(plan, step, status).map(describeDeed) : [`fail at ${step} (${wrong.where}: ${wrong.message})`];
    for (const deed of names) deeds.push({ message: deed, afterMs, ...(freeAtMs !== undefined && { atMs: dueMs }) });
    if (wrong !== undefined) break;
  }
  return { deeds, release: describeRelease(snapshot, plan), holds };
}

/** For the record and the Event: all of it in one text, with absolute times. */
export function describeWould(observed: Observed, hold: Pick<Hold, 'freeSince'>): string {
  const { snapshot, status } = observed;
  const { deeds, release, holds } = wouldDo(observed, hold);
  const held = holds.map((each) => {
    const until = momentOf(snapshot, each.untilMs);
    return `would be held by ${each.policy}${until === undefined ? '' : ` until ${until}`}: ${each.message}`;
  });
  const done = deeds.map(({ message, atMs, afterMs }) => {
    if (atMs === undefined) return `would ${message} ${afterMs === 0 ? 'at once' : `${Math.round(afterMs / SECOND_MS)} s later`}`;
    return atMs <= snapshot.nowMs ? `would now ${message}` : `would ${message} at ${momentOf(snapshot, atMs) ?? ''}`;
  });
  if (done.length === 0)
    return `--mode observe, nothing is changed: would do nothing${status.state === 'new' ? ', its plan has no step' : ' but recover the node'}`;
  const isOpenEnded = deeds.some(({ atMs }) => atMs === undefined);
  const what = [...done, `and would ${release}`].join(', ');
  return `--mode observe, nothing is changed: ${[...held, isOpenEnded ? `once that ends ${what}` : what].join('; ')}`;
}

/** `undefined`: a hold has no known end. */
function freeAt({ nowMs, wall }: Snapshot, holds: readonly ActiveHold[], freeSince: string | undefined): number | undefined {
  if (holds.some(({ untilMs }) => untilMs === undefined)) return undefined;
  const sinceMs = nowMs + Date.parse(freeSince ?? '') - Date.parse(wall);
  return Math.max(Number.isNaN(sinceMs) ? 0 : sinceMs, ...holds.map(({ untilMs = 0 }) => untilMs));
}

interface StepLeft {
  step: Step;
  /** From when its delay counts; absent: from the step before. */
  waitedFromMs?: number;
  delayMs: number;
}

function stepsLeft({ since, nowMs }: Snapshot, { state, step, lastStep }: NodeFenceStatus, { timing }: Plan): StepLeft[] {
  if (state !== 'new' && step !== 'power-management') return [];
  const power: StepLeft = { step: 'power-management', delayMs: timing.powerManagementDelayMs };
  if (state !== 'new') return [{ ...power, waitedFromMs: since.position ?? nowMs }];
  const isolation: StepLeft = { step: 'isolation', waitedFromMs: since.triggered ?? nowMs, delayMs: timing.isolationDelayMs };
  return lastStep === undefined ? [isolation, power] : [isolation];
}

/** Up to the proof: what comes after it is told as the release. */
function operationsOf(plan: Plan, step: Step, status: NodeFenceStatus): Operation[] {
  const level = status.step === step ? status.level : (levelsOf(plan, step)[0]?.level ?? 1);
  return compile(plan, step, level).filter(({ method, phase }) => method !== undefined && phase !== 'on');
}

function describeDeed({ action, key, method }: Operation): string {
  if (method === undefined) return action;
  const { agent, device, plug, name } = method;
  return describeRun({ action, operation: key, agent, device, plug, method: name });
}

function describeRelease({ waitingPods = [] }: Snapshot, plan: Plan): string {
  if (plan.release === 'none') return 'release nothing (release=none)';
  const proves = (['isolation', 'power-management'] as const).some((step) => {
    const level = levelsOf(plan, step)[0]?.level ?? 1;
    return spoiling(plan, step) === undefined && provingOperation(plan, step, level) !== undefined;
  });
  if (!proves) return 'release nothing: nothing of its plan proves that the node cannot write';
  return waitingPods.length === 0 ? 'find no pod to release' : `release ${waitingPods.join(', ')} after the proof`;
}
