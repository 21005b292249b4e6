import { describe, expect, it } from 'vitest';
import type { FenceState, NodeFenceStatus } from '../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceController } from './controller.ts';
import { FenceCounts } from './fence-counts.ts';
import { FenceHarness, provenStatus } from './testing/harness.ts';

type Shown = [states: Readonly<Partial<Record<FenceState, number>>>, reasons: Readonly<Record<string, number>>];

const held = (reason: string): Pick<NodeFenceStatus, 'hold'> => ({ hold: { reason, policy: reason, message: '', since: '2026-01-01T00:00:00Z' } });

function fenceOf(node: string, more: Partial<NodeFenceStatus> = {}): NodeFence {
  const status = { ...provenStatus(planOf({ timing: DEFAULT_TIMING })), ...more };
  return { metadata: { name: `node-fence-${node}`, uid: `fence-${node}` }, spec: { node }, status };
}

/** What the two gauges show. */
class Gauges {
  shown: Shown | undefined;
  #states: Shown[0] = {};

  fences(states: Shown[0]): void {
    this.#states = states;
  }

  held(reasons: Shown[1]): void {
    this.shown = [this.#states, reasons];
  }
}

describe('nodefence_fences and nodefence_fences_held', () => {
  it('show what stands now: a fence counts in one state, and under what holds it for as long as that does', () => {
    const gauges = new Gauges();
    const counts = new FenceCounts(gauges, () => true);
    counts.see('node-fence-a', { ...fenceOf('a'), status: undefined as never });
    counts.see('node-fence-b', fenceOf('b', { state: 'new', ...held('rate') }));
    counts.see('node-fence-c', fenceOf('c', { state: 'error' }));
    expect(gauges.shown).toEqual([{ new: 2, error: 1 }, { rate: 1 }]);
    counts.see('node-fence-b', fenceOf('b', { state: 'running' }));
    counts.see('node-fence-a', fenceOf('a', { state: 'final', ...held('rate') }));
    counts.see('node-fence-c', undefined);
    expect(gauges.shown).toEqual([{ final: 1, running: 1 }, {}]);
  });

  it('are set by the leader alone, from what was there before it led', () => {
    const harness = new FenceHarness(new ManualClock());
    const gauges = new Gauges();
    const listeners: Parameters<Lister<NodeFence>['onChange']>[0][] = [];
    const leadership = { ...harness.dependencies.leadership, isLeading: false };
    Object.assign(harness.fences, {
      items: [fenceOf('a', held('own-node'))],
      onChange: (listener: (typeof listeners)[0]) => listeners.push(listener),
    });
    const fences = (states: Shown[0]): void => gauges.fences(states);
    const metrics = { ...harness.dependencies.metrics, fences, held: (reasons: Shown[1]) => gauges.held(reasons) };
    const controller = new FenceController({ ...harness.dependencies, leadership, metrics });
    for (const listener of listeners) listener(undefined, fenceOf('b', { state: 'error' }));
    expect(gauges.shown).toBeUndefined();
    leadership.isLeading = true;
    controller.lookAtAll();
    expect(gauges.shown).toEqual([{ running: 1, error: 1 }, { 'own-node': 1 }]);
    for (const listener of listeners) listener(fenceOf('b', { state: 'error' }), undefined);
    expect(gauges.shown).toEqual([{ running: 1 }, { 'own-node': 1 }]);
  });
});
