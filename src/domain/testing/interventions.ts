import { at, begunSince, pass, restsOf } from './flaps.ts';
import type { Point } from './flaps.ts';
import type { Model } from './model.ts';

/** What somebody does to a fence from outside, its node silent. */
export const INTERVENTIONS = [
  'stop',
  'stop, lifted',
  'Node deleted',
  'other UID, Ready',
  'other UID, silent',
  'deleted by hand',
  'deleted under a stop',
] as const;
export type Intervention = (typeof INTERVENTIONS)[number];

const STOP = { by: 'NodeFenceStop x', reason: 'wait' };

function apply(model: Model, intervention: Intervention): void {
  const { node, fence } = model;
  if (intervention.includes('stop')) model.stop = STOP;
  if (intervention.startsWith('deleted') && fence !== undefined) model.fence = { ...fence, deleting: true };
  if (intervention === 'Node deleted') model.node = undefined;
  if (intervention.startsWith('other UID') && node !== undefined) model.node = { ...node, uid: 'uid-b', bootID: 'boot-9' };
  if (intervention === 'other UID, Ready') model.live({ ready: 'True' });
}

const BEATS = 16;
/** After these the stop is lifted. */
const STOPPED_BEATS = 6;

export interface Course {
  /** Decides right after the change. */
  row: string;
  /** Where the fence stands 160 s later. */
  rests: string;
  /** What was begun meanwhile. */
  begins: string;
  /** What of ours is left in `restore` then. */
  left: string;
}

/** What comes of it when everything that is begun goes well. */
export function courseOf(point: Point, intervention: Intervention): Course {
  const model = at(point);
  const before = model.dispatched.length;
  model.nowMs += 1;
  apply(model, intervention);
  model.step();
  const row = model.rows.at(-1) ?? '';
  const beat = (): void => {
    if (intervention === 'other UID, Ready') model.live({ ready: 'True' });
  };
  if (intervention === 'stop, lifted') {
    pass(model, STOPPED_BEATS, beat);
    model.stop = undefined;
  }
  pass(model, BEATS, beat);
  return { row, rests: restsOf(model), begins: begunSince(model, before), left: leftIn(model) };
}

function leftIn({ fence }: Model): string {
  const { cordoned, taints, edges } = fence?.status?.restore ?? {};
  const names = [cordoned === true ? 'cordon' : undefined, taints === undefined ? undefined : 'taint', ...(edges ?? []).map(({ state }) => state)];
  return names.filter((name) => name !== undefined).join(', ');
}
