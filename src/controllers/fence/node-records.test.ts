import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { NodeRecords } from './node-records.ts';
import { NodeObservation } from './observation.ts';
import { FenceHarness, nodeOf } from './testing/harness.ts';

/** Nodes that are seen healthy, none of which has a report; those that were made. */
function harnessOf(mode: 'observe' | 'enforce' = 'enforce') {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const made: string[] = [];
  const answers = { isSlow: false, pending: [] as (() => void)[] };
  const again = new Map<string, number>();
  const cluster: Cluster = {
    ...harness.dependencies.cluster,
    get: () => Promise.resolve(undefined),
    create: (_resource, object) => Promise.resolve(object),
    replaceStatus: (_resource, object) => {
      made.push(object.metadata.name);
      return answers.isSlow ? new Promise((resolve) => answers.pending.push(() => resolve(object))) : Promise.resolve(object);
    },
  };
  const queue = { add: (name: string, delayMs = 0) => void again.set(name, delayMs) };
  Object.assign(harness.dependencies, { cluster, queue, options: { ...harness.dependencies.options, mode } });
  harness.reports.items = [];
  const records = new NodeRecords(harness.dependencies);
  const observations = new Map<string, NodeObservation>();
  const see = async (name: string): Promise<NodeObservation> => {
    const observation = observations.get(name) ?? new NodeObservation(clock.monotonicMs());
    observations.set(name, observation);
    const node = nodeOf({ ready: 'True' });
    await records.keep({ ...node, metadata: { ...node.metadata, name, uid: `uid-${name}` } }, observation);
    return observation;
  };
  return { clock, made, again, see, answers };
}

const names = (count: number): string[] => Array.from({ length: count }, (_unused, index) => `n${String(index)}`);

describe('the reports of healthy nodes that have none', () => {
  it('are made at once for a hundred, then ten a second, each once its turn has come', async () => {
    const { clock, made, again, see } = harnessOf();
    for (const name of names(200)) await see(name);
    expect(made).toHaveLength(100);
    expect([again.get('n100'), again.get('n199')]).toEqual([100, 10_000]);
    await clock.advance(5_000);
    for (const name of names(200).slice(100)) await see(name);
    expect([made.length, again.get('n199')]).toEqual([150, 5_000]);
    await clock.advance(60_000);
    for (const name of names(200).slice(150)) await see(name);
    expect(made).toHaveLength(200);
  });

  it('leave most places to nodes that fail where the server is slow: eight are written at a time, the others take another turn', async () => {
    const { clock, made, again, see, answers } = harnessOf();
    answers.isSlow = true;
    const passes = names(50).map(see);
    await clock.settle();
    expect(made).toHaveLength(8);
    expect([again.size, again.get('n8')]).toEqual([42, 100]);
    for (const answer of answers.pending.splice(0)) answer();
    await Promise.all(passes);
    answers.isSlow = false;
    await clock.advance(5_000);
    for (const name of again.keys()) await see(name);
    expect(new Set(made).size).toBe(50);
  });

  it('do not lose their turn when a node is looked at before', async () => {
    const { clock, again, see } = harnessOf();
    for (const name of names(150)) await see(name);
    await clock.advance(100);
    await see('n149');
    expect(again.get('n149')).toBe(4_900);
  });

  it('are missed by nobody meanwhile: what the machine said of itself is kept', async () => {
    const { see, made } = harnessOf();
    for (const name of names(100)) await see(name);
    const observation = await see('late');
    expect([made.includes('late'), observation.machine?.nodeUID]).toEqual([false, 'uid-late']);
  });

  it('are made in mode observe too: a node that fails before mode enforce begins is known by its own', async () => {
    const { made, see } = harnessOf('observe');
    await see('well');
    expect(made).toEqual(['well']);
  });
});
