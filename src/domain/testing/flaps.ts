import { method, Model, planOf } from './model.ts';

/** Where a fence stands when its node changes its mind: each state, and between every two operations. */
export const POINTS = [
  'new, delayed',
  'new, isolating',
  'running, delayed',
  'running, off under way',
  'running, off proven',
  'running, release under way',
  'running, released',
  'running, release ended',
  'running, on under way',
  'done, waiting',
  'done, off on purpose',
  'done, recovering',
  'error, back-off',
  'error, given up',
  'final, probation',
  'final, later',
] as const;
export type Point = (typeof POINTS)[number];

/** What the node does then: its lease comes in again; it is Ready on the boot that failed, or on another; it is NotReady; it stays silent. */
export const FLAPS = ['renews its lease', 'Ready, same boot', 'Ready, new boot', 'NotReady', 'Ready, then silent', 'silent'] as const;
export type Flap = (typeof FLAPS)[number];

const OFF_ONLY = planOf({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] }] });

/** A fence at this point, its node silent. */
export function at(point: Point): Model {
  const model = new Model(point === 'done, off on purpose' ? OFF_ONLY : planOf({ maxRestarts: point === 'error, given up' ? 0 : 1 }));
  model.fail();
  reach(model, point);
  return model;
}

function reach(model: Model, point: Point): void {
  switch (point) {
    case 'new, delayed': {
      steps(model, () => model.rows.at(-1) === 'new-delay');
      return;
    }
    case 'new, isolating': {
      begun(model, 'run:cordon');
      return;
    }
    case 'running, delayed': {
      steps(model, () => model.rows.at(-1) === 'running-delay');
      return;
    }
    case 'running, off under way': {
      begun(model, 'off:off');
      return;
    }
    case 'running, off proven':
      begun(model, 'off:off');
      {
        model.finish('succeeded');
        return;
      }
    case 'running, release under way': {
      begun(model, 'release');
      return;
    }
    case 'running, released':
      begun(model, 'release');
      model.finish('succeeded');
      model.step();
      return;
    case 'running, release ended':
      begun(model, 'release-end');
      model.finish('succeeded');
      model.step();
      return;
    case 'running, on under way': {
      begun(model, 'on:on');
      return;
    }
    case 'done, waiting':
    case 'done, off on purpose': {
      steps(model, () => model.fence?.status?.state === 'done');
      return;
    }
    case 'done, recovering':
      through(model);
      {
        begun(model, 'run:uncordon');
        return;
      }
    case 'error, back-off':
    case 'error, given up': {
      steps(model, () => model.fence?.status?.state === 'error' && (model.status.outcome === 'failed' || point === 'error, back-off'), 'refused');
      return;
    }
    case 'final, probation':
    case 'final, later':
      through(model);
      steps(model, () => model.fence?.status?.state === 'final');
      model.step();
      if (point === 'final, later') model.nowMs += 601_000;
      model.fail();
  }
}

/** Up to the node that is healthy on another boot. */
function through(model: Model): void {
  steps(model, () => model.fence?.status?.state === 'done');
  model.step();
  model.nowMs += 1_000;
  act(model, 'Ready, new boot');
  model.step();
  model.nowMs += 31_000;
  act(model, 'Ready, new boot');
}

function begun(model: Model, operation: string): void {
  steps(model, () => model.inFlight.size > 0 && model.dispatched.at(-1)?.entry.operation === operation);
}

/** Passes, waits and answers until `reached`; an off is answered with `off`. */
function steps(model: Model, reached: () => boolean, off: 'succeeded' | 'refused' = 'succeeded'): void {
  for (let count = 0; count < 200; count += 1) {
    const decision = model.step();
    if (reached()) return;
    if (model.inFlight.size > 0) answer(model, off);
    else if (decision.requeueAtMs !== undefined && decision.requeueAtMs > model.nowMs) model.nowMs = decision.requeueAtMs;
  }
  throw new Error(`not reached; rows ${model.rows.slice(-6).join(' ')}`);
}

function answer(model: Model, off: 'succeeded' | 'refused'): void {
  const { action } = model.dispatched.at(-1)?.entry ?? {};
  if (action === 'release' && !mayRelease(model)) {
    model.finish('voided');
    return;
  }
  if (action === 'release') model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
  model.finish(action === 'off' ? off : 'succeeded');
}

/** What a consistent read of the shell shows before it lets anything go. */
function mayRelease({ node, status, proofs }: Model): boolean {
  const proof = status.evidence.findLast((item) => item.voidedAt === undefined);
  const provenAtMs = proof === undefined ? undefined : proofs.get(proof.source);
  return provenAtMs !== undefined && node?.ready !== 'True' && node?.bootID === proof?.bootID && (node?.lifeAtMs ?? 0) <= provenAtMs;
}

/** One sign of the node, or none. */
export function act(model: Model, flap: Flap): void {
  if (flap === 'silent') return;
  if (flap === 'renews its lease') model.live();
  else if (flap === 'NotReady') model.live({ ready: 'False' });
  else model.live({ ready: 'True', bootID: flap === 'Ready, new boot' ? 'boot-9' : (model.node?.bootID ?? 'boot-1') });
}

const BEAT_MS = 10_000;
const BEATS = 16;

/** Time passes in beats, whatever the fence begins going well; `beat` is what the world does at each. Ends when the NodeFence is gone. */
export function pass(model: Model, beats: number, beat: () => void): void {
  for (let count = 0; count < beats; count += 1) {
    settle(model);
    if (model.fence === undefined) return;
    model.nowMs += BEAT_MS;
    beat();
  }
  model.step();
}

function settle(model: Model): void {
  for (let count = 0; count < 12 && model.fence !== undefined; count += 1) {
    const decision = model.step();
    if (model.inFlight.size > 0) answer(model, 'succeeded');
    else if (decision.status === undefined && decision.create === undefined) return;
  }
}

/** Where the fence stands: `done`, `final, recovered`, `gone`. */
export function restsOf({ fence }: Model): string {
  const { state, outcome } = fence?.status ?? { state: 'gone', outcome: undefined };
  return outcome === undefined ? state : `${state}, ${outcome}`;
}

/** What was begun after the first `before` runs. */
export function begunSince(model: Model, before: number): string {
  const begins = model.dispatched.slice(before).map(({ entry }) => {
    const isVoided = model.fence?.status?.journal.some((run) => run.id === entry.id && run.result === 'voided') === true;
    return `${entry.action === 'confirm' ? 'confirm ' : ''}${entry.operation}${isVoided ? ' (void)' : ''}`;
  });
  return begins.join(', ');
}

/** What comes of it: the row that decides right after the change, and where the fence stands after 160 s of the same, all that it begins going well. */
export function outcomeOf(point: Point, flap: Flap): { row: string; rests: string; begins: string } {
  const model = at(point);
  const before = model.dispatched.length;
  model.nowMs += 1;
  act(model, flap);
  model.step();
  const row = model.rows.at(-1) ?? '';
  const hold = flap === 'Ready, then silent' ? 'silent' : flap;
  if (hold !== flap) model.fail();
  pass(model, BEATS, () => act(model, hold));
  return { row, rests: restsOf(model), begins: begunSince(model, before) };
}
