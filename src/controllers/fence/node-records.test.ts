import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { method, planOf } from '../../domain/testing/model.ts';
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
  const records = new NodeRecords(harness.dependencies, (name) => observations.get(name));
  const nodeNamed = (name: string): Node => {
    const node = nodeOf({ ready: 'True' });
    return { ...node, metadata: { ...node.metadata, name, uid: `uid-${name}` } };
  };
  const observations = new Map<string, NodeObservation>();
  const see = async (name: string): Promise<NodeObservation> => {
    const observation = observations.get(name) ?? new NodeObservation(clock.monotonicMs());
    observations.set(name, observation);
    harness.nodes.items.push(nodeNamed(name));
    await records.keep(nodeNamed(name), observation);
    return observation;
  };
  return { clock, made, again, see, answers, harness, records, nodeNamed };
}

const names = (count: number): string[] => Array.from({ length: count }, (_unused, index) => `n${String(index)}`);

describe('the reports of healthy nodes that have none', () => {
  it('are made at once for a hundred, then eight a second, each once its turn has come', async () => {
    const { clock, made, again, see } = harnessOf();
    for (const name of names(200)) await see(name);
    expect(made).toHaveLength(100);
    expect([again.get('n100'), again.get('n199')]).toEqual([125, 12_500]);
    await clock.advance(5_000);
    for (const name of names(200).slice(100)) await see(name);
    expect([made.length, again.get('n199')]).toEqual([140, 7_500]);
    await clock.advance(60_000);
    for (const name of names(200).slice(140)) await see(name);
    expect(made).toHaveLength(200);
  });

  it('leave most places to nodes that fail where the server is slow: eight are written at a time, the others take another turn', async () => {
    const { clock, made, again, see, answers } = harnessOf();
    answers.isSlow = true;
    const passes = names(50).map(see);
    await clock.settle();
    expect(made).toHaveLength(8);
    expect([again.size, again.get('n8')]).toEqual([42, 125]);
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
    expect(again.get('n149')).toBe(6_150);
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

describe('the report of a healthy node that its probe is about to make', () => {
  const probed = planOf({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] }] });

  it('says what its machine said of itself too, and nothing is written of that node any more', async () => {
    const { harness, records, see, made, clock } = harnessOf();
    harness.plan = probed;
    for (const name of names(101)) await see(name);
    const status = records.withProbe('n100', { devices: [] });
    expect(status).toMatchObject({ devices: [], problems: [], identity: { nodeUID: 'uid-n100', systemUUID: 'sys-a', bootID: 'boot-1' } });
    harness.reports.items = [{ metadata: { name: 'n100' }, status }];
    await clock.advance(60_000);
    await see('n100');
    expect(made).not.toContain('n100');
  });

  it('takes the turn of another one that its probe makes, and of none that has no device or something wrong with its plan', async () => {
    const { harness, records, see, made, clock } = harnessOf();
    harness.plan = probed;
    for (const name of names(110)) await see(name);
    await clock.advance(1_000);
    for (let number = 0; number < 20; number += 1) records.withProbe('n109', {});
    await see('n100');
    expect(made).not.toContain('n100');
    harness.plan = planOf({ powerManagement: [] });
    await see('n101');
    harness.plan = { ...probed, problems: [{ severity: 'error', where: 'a', message: 'b' }] };
    await see('n102');
    expect(made.slice(100)).toEqual(['n101', 'n102']);
    harness.plan = probed;
    await clock.advance(20_000);
    await see('n100');
    expect(made).toContain('n100');
  });

  it('keeps who it was, is nobody else’s, and leaves what is to be told of a plan for its own turn', async () => {
    const { harness, records, see, nodeNamed } = harnessOf();
    harness.plan = probed;
    await see('n0');
    const identity = { nodeUID: 'uid-n0', recordedAt: 'then' };
    expect(records.withProbe('n0', { identity })).toEqual({ identity });
    expect(records.withProbe('n1', {})).toEqual({});
    const own = harness.nodes.items;
    harness.nodes.items = [{ ...nodeNamed('n0'), metadata: { name: 'n0', uid: 'another' } }];
    expect(records.withProbe('n0', {})).toEqual({});
    harness.nodes.items = own;
    harness.plan = { ...probed, problems: [{ severity: 'error', where: 'a', message: 'b' }] };
    expect(records.withProbe('n0', {})).toEqual({});
    harness.plan = probed;
    expect(records.withProbe('n0', {}).identity?.nodeUID).toBe('uid-n0');
  });
});
