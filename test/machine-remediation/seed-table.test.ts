import { describe, expect, it } from 'vitest';
import { HOLD, REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { actionOf, TABLE, tableLines } from '../../src/controllers/machine-remediation/table.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { MINUTE_MS, World } from './world.ts';

const BOOT_MS = 5 * MINUTE_MS;

describe('the truth table of the seed', () => {
  it('has 15 rows, each combination once, and does nothing in the sixteenth', () => {
    expect(new Set(tableLines()).size).toBe(15);
    expect(TABLE).toHaveLength(15);
    expect(actionOf({ hasNode: false, needsRemediation: false, isPoweredOn: false, hasRebootAnnotation: false })).toBe('nothing');
  });

  it('reads the truth of each row off the objects', () => {
    for (const row of TABLE) {
      const world = new World({ mode: 'seed-table', operator: new Operator({ isOn: row.isPoweredOn }) });
      if (!row.hasNode) world.node = undefined;
      if (!row.needsRemediation) world.unask();
      if (row.hasRebootAnnotation) world.operator.annotations = { [HOLD]: '{"mode":"hard"}' };
      const found = world
        .decide()
        .actions.map((action) => (action.kind === 'annotate' ? action.changes.map(({ key, to }) => [key, to]) : action.kind));
      const wanted = {
        nothing: [],
        addRebootAnnotation: [[[HOLD, '{"mode":"hard"}']]],
        deleteNode: ['delete-node'],
        removeRemediationAnnotation: [[[REQUEST, undefined]]],
        removeRebootAnnotation: [[[HOLD, undefined]]],
      }[row.action];
      expect(found, JSON.stringify(row)).toEqual(wanted);
    }
  });
});

describe('mode seed-table', () => {
  it('remediates with its two annotations alone: nothing is kept, marked or restored', () => {
    const world = new World({ mode: 'seed-table' });
    world.run(10 * MINUTE_MS);
    expect(world.kinds()).toEqual(['PowerOffRequested', 'NodeDeleted', 'annotate', 'PowerOnRequested']);
    const keys = world.done.flatMap((action) => (action.kind === 'annotate' ? action.changes.map(({ key }) => key) : []));
    expect(new Set(keys)).toEqual(new Set([HOLD, REQUEST]));
    expect(world.node?.labels['zone']).toBeUndefined();
  });

  it('loops when a health check asks again while the Node is missing, and mode incident does not', () => {
    const run = (mode: 'seed-table' | 'incident'): number => {
      const world = new World({ mode, bootMs: BOOT_MS, asksEveryMs: 50_000 });
      world.run(50 * MINUTE_MS);
      return world.operator.offs;
    };
    expect(run('seed-table')).toBeGreaterThan(10);
    expect(run('incident')).toBe(1);
  });

  it('deletes no Node before the off is proven: trouble with the BMC blocks that row, and no other', () => {
    const world = new World({ mode: 'seed-table' });
    world.step();
    world.pass(MINUTE_MS);
    world.operator.errorType = 'power management error';
    expect(world.decide()).toMatchObject({ actions: [], problems: [expect.stringContaining('node n is not deleted')] });
    world.unask();
    expect(world.decide().actions).toHaveLength(1);
  });

  it('sets its hold under the resourceVersion at which the host was on, so that any off beneath it is newer', () => {
    const world = new World({ mode: 'seed-table' });
    expect(world.decide().actions).toMatchObject([{ resourceVersion: '1' }]);
  });

  it('goes on after a restart: a host with the hold and without a request is switched on', () => {
    const world = new World({ mode: 'seed-table' });
    world.step();
    world.pass(MINUTE_MS);
    world.step();
    world.step();
    expect(world.machine?.annotations[REQUEST]).toBeUndefined();
    expect(world.operator.isOn).toBe(false);
    const next = new World({ mode: 'seed-table', operator: world.operator, node: undefined });
    next.unask();
    next.run(MINUTE_MS);
    expect(next.operator).toMatchObject({ isOn: true, annotations: {} });
  });

  it('waits where the power is not reported at all', () => {
    const world = new World({ mode: 'seed-table' });
    const { power: _power, ...host } = world.host;
    Object.defineProperty(world, 'host', { value: host });
    expect(world.decide()).toMatchObject({ actions: [], phase: 'waiting' });
  });
});
