import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { at } from './testing/flaps.ts';
import { method } from './testing/model.ts';
import type { Model } from './testing/model.ts';

const OFF = method('off', 'redfish', 'off', { device: 'bmc' });
const ON = method('on', 'redfish', 'on', { device: 'bmc' });
const LEFT = { method: 'off', agent: 'redfish', device: 'bmc', plug: '', state: 'off' as const };

function written(model: Model, change: Partial<NodeFenceStatus>): void {
  const { fence } = model;
  model.fence = fence && { ...fence, status: { ...model.status, ...change } };
}

/** What is decided of a node that was switched off, by a plan with these levels. */
function rowOf(levels: Plan['powerManagement'], change: Partial<NodeFenceStatus> = {}): string {
  const model = at('done, off on purpose');
  const { frozen } = model.status;
  written(model, { ...(frozen !== undefined && { frozen: { ...frozen, plan: { ...frozen.plan, powerManagement: levels } } }), ...change });
  return model.step().row;
}

describe('a machine that its plan leaves off', () => {
  const one = (...methods: Plan['powerManagement'][number]['methods']): Plan['powerManagement'] => [{ level: 1, methods }];
  const two: Plan['powerManagement'] = [...one(OFF, ON), { level: 2, methods: [OFF] }];
  const deleted: NodeFenceStatus['evidence'] = [
    { kind: 'power-off', grade: 'read-back', source: 'off-1', detail: '', observedAt: '', bootID: 'boot-1', terminated: true },
  ];
  it.each<[string, Plan['powerManagement'], Partial<NodeFenceStatus>, string]>([
    ['by its only level', one(OFF), {}, 'done-off'],
    ['by its only level, seen from a later level of recovery', one(OFF), { level: 2 }, 'done-off'],
    ['by the level that was reached', two, { level: 2 }, 'done-off'],
    ['by another level than the one that was reached', two, { level: 1 }, 'done-wait'],
    ['not: it is switched on by another method', one(OFF, ON), {}, 'done-wait'],
    ['not: it is rebooted', one(method('again', 'redfish', 'reboot', { device: 'bmc' })), {}, 'done-wait'],
    ['not: it is to be deleted', one(method('off', 'aws', 'delete', { device: 'bmc' })), {}, 'done-wait'],
    ['not: it is deleted, and one of its supplies is still told as off', one(OFF), { evidence: deleted }, 'done-wait'],
    ['not: nothing of it is off', one(OFF), { restore: {} }, 'done-wait'],
    ['not: only a way to its storage is closed', one(OFF), { restore: { edges: [{ ...LEFT, state: 'closed' }] } }, 'done-wait'],
  ])('%s', (_how, levels, change, row) => {
    expect(rowOf(levels, { restore: { edges: [LEFT] }, ...change })).toBe(row);
  });
});

describe('a recovery', () => {
  it('has one moment at which the node was ready, however long it takes', () => {
    const model = at('done, recovering');
    const readyAt = model.status.timeline.readyAt;
    expect(readyAt).toBeDefined();
    model.nowMs += 9_000;
    model.live({ ready: 'True' });
    model.finish('succeeded');
    model.step();
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered', timeline: { readyAt } });
  });

  it('tells nothing as closed that its daemon has registered again', () => {
    const model = at('done, recovering');
    const { frozen, journal } = model.status;
    const shut = { method: 'shut', agent: 'scsi', device: 'd', plug: '', state: 'closed' as const };
    const closing = method('shut', 'scsi', 'off', { kind: 'fabric', device: 'd', parameters: { key: '0x1', devices: '/dev/a' } });
    const unfence = { id: 'unfence-1', operation: 'run:unfence', method: 'unfence', agent: 'unfence', step: 'recovery' as const, level: 1 };
    const registered = journal.slice(0, 1).map((entry) => ({ ...entry, ...unfence }));
    const plan = frozen && { ...frozen.plan, isolation: [{ level: 1, methods: [closing] }] };
    written(model, {
      ...(frozen && plan && { frozen: { ...frozen, plan } }),
      journal: [...registered, ...journal],
      restore: { edges: [shut], cordoned: true },
    });
    model.live({ ready: 'True', unfences: { key: '1', devices: 1 } });
    model.finish('succeeded');
    model.step();
    expect([model.status.outcome, model.status.restore, model.events.includes('LeftOff')]).toEqual(['recovered', undefined, false]);
  });
});
