import { describe, expect, it } from 'vitest';
import { cooldown } from '../../../domain/policies/cooldown.ts';
import { DEFAULT_ISOLATION } from '../../../domain/policies/controller-isolated.ts';
import { maintenance } from '../../../domain/policies/maintenance.ts';
import { maxConcurrent } from '../../../domain/policies/max-concurrent.ts';
import { maxUnhealthy } from '../../../domain/policies/max-unhealthy.ts';
import { StormHarness } from '../../../../test/bench/storm-harness.ts';
import { entryOf } from './testing/entries.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const UNHEALTHY = maxUnhealthy({ name: 'max-unhealthy', percentage: 40, isolation: { ...DEFAULT_ISOLATION, graceMs: 0 } });
const ONE = maxConcurrent({ name: 'max-concurrent', max: 1, maxPerDomain: 1, topologyKeys: [] });
const CORDON = entryOf({ id: 'cordon-1' });

describe('the storm shell, whatever its watches bring first', () => {
  it.each([
    ['that the watches show before the Nodes', []],
    ['of Nodes that were made anew', ['a', 'b']],
  ])('counts slots of fences %s', (_what, names) => {
    const harness = new StormHarness(names, [ONE]);
    harness.fence('a', { state: 'running', journal: [CORDON] });
    for (const node of ['a', 'b']) {
      harness.nodes.remove(node);
      harness.ready(node, 'True');
    }
    harness.fail('b');
    expect(harness.holding('b')).toEqual(['max-concurrent']);
    expect(harness.storm.activeHoldsOn('b')[0]?.message).toContain('1 under way (a)');
  });
});

describe('a storm', () => {
  it('is over when all that it held are well and their fences over, though nobody asks any more: not when the next node fails', async () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY, cooldown({ name: 'cooldown', durationMs: 60_000 })]);
    harness.fail('a', 'b', 'c');
    for (const node of ['a', 'b', 'c']) {
      harness.fence(node);
      expect(harness.holding(node)).toEqual(['max-unhealthy']);
    }
    for (const node of ['a', 'b', 'c']) {
      harness.ready(node, 'True');
      harness.fence(node, { state: 'final', outcome: 'untouched' });
    }
    for (const node of NAMES) harness.lifeAtMs.delete(node);
    await harness.clock.advance(70_000);
    expect(harness.lastGauge).toEqual({ 'max-unhealthy': 0, cooldown: 0 });
    harness.fail('d');
    expect(harness.holding('d')).toEqual([]);
  });

  it('says that nothing is held once the last held node is well and its fence over, though its mark stands on', async () => {
    const harness = new StormHarness(NAMES, [maintenance({ name: 'maintenance', windows: [], offsetMs: () => 0 })]);
    const marked = { annotations: { 'nodefence/maintenance': 'disk' } };
    harness.ready('a', 'Unknown', marked);
    harness.fence('a');
    expect(harness.holding('a')).toEqual(['maintenance']);
    expect(harness.lastGauge).toEqual({ maintenance: 1 });
    harness.ready('a', 'True', marked);
    harness.fence('a', { state: 'final', outcome: 'untouched' });
    await harness.clock.advance(10_000);
    expect(harness.lastGauge).toEqual({ maintenance: 0 });
    const judgements = harness.gauges.length;
    await harness.clock.advance(600_000);
    expect(harness.gauges).toHaveLength(judgements);
  });
});
