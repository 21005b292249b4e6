import { describe, expect, it } from 'vitest';
import type { Plan, PlanMethod } from './plan.ts';
import { begun, failing, lives } from './testing/course.ts';
import { method } from './testing/model.ts';
import type { Model } from './testing/model.ts';

const KEY = { key: 'example.org/fenced', value: 'yes', effect: 'NoSchedule' };
const KEEP_AWAY = method('keep-away', 'taint', 'run', { kind: 'action', device: '', parameters: KEY });
const LET_IN = method('let-in', 'taint', 'run', { kind: 'action', device: '', parameters: { ...KEY, state: 'absent' } });
const UNCORDON = method('uncordon', 'uncordon', 'run');

function tainted(recovery: readonly PlanMethod[], more: Partial<Plan> = {}): Model {
  const model = failing({ isolation: [{ level: 1, methods: [KEEP_AWAY] }], recovery: [{ level: 1, methods: [...recovery] }], ...more });
  expect(model.next()).toBe('run:keep-away');
  return model;
}

describe('a taint that a method of isolation sets', () => {
  it('is taken back by recovery where no method of it does: it would keep all pods from the node for ever', () => {
    const model = tainted([UNCORDON]);
    begun(model, 9);
    expect(lives(model, 'boot-2')).toEqual(['run:uncordon', 'run:undo-keep-away']);
    const undo = model.dispatched.at(-1)?.operation?.method;
    expect(undo).toMatchObject({ agent: 'taint', parameters: { ...KEY, state: 'absent' } });
    expect(model.status.outcome).toBe('recovered');
  });

  it('is left to the method of recovery that takes back this very taint', () => {
    const model = tainted([LET_IN]);
    begun(model, 9);
    expect(lives(model, 'boot-2')).toEqual(['run:let-in']);
    const other = tainted([{ ...LET_IN, parameters: { ...KEY, key: 'example.org/other', state: 'absent' } }]);
    begun(other, 9);
    expect(lives(other, 'boot-2')).toEqual(['run:let-in', 'run:undo-keep-away']);
  });

  it('is taken back, once, where its NodeFence is deleted by hand', () => {
    const model = tainted([LET_IN]);
    model.step();
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    const operations: string[] = [];
    for (let beat = 0; beat < 30 && model.fence !== undefined; beat += 1) {
      model.nowMs += 5_000;
      model.step();
      if (model.inFlight.size === 0) continue;
      operations.push(model.dispatched.at(-1)?.entry.operation ?? '');
      model.finish('succeeded');
    }
    expect(operations).toEqual(['run:undo-keep-away']);
    expect(model.dispatched.at(-1)?.operation?.method?.parameters).toMatchObject({ state: 'absent' });
    expect(model.fence).toBeUndefined();
  });

  it('that was never set is not looked for', () => {
    const model = failing({ isolation: [{ level: 1, methods: [KEEP_AWAY] }] });
    expect(model.next('not-sent')).toBe('run:keep-away');
    model.step();
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    model.step();
    expect(model.fence).toBeUndefined();
  });
});
