import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceController } from './controller.ts';
import { Rounds } from './rounds.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

const MANY = 1_000;

/** `node-0` has failed, `node-1` has an open fence; the others are well. */
function harnessOf(count: number): { harness: FenceHarness; clock: ManualClock; queued: string[] } {
  const clock = new ManualClock();
  const harness = new FenceHarness(clock);
  const queued: string[] = [];
  Object.assign(harness.dependencies, { queue: { ...harness.dependencies.queue, add: (name: string) => void queued.push(name) } });
  harness.nodes.items = Array.from({ length: count }, (_unused, index) => {
    const node = nodeOf({ ready: index === 0 ? 'Unknown' : 'True' });
    return { ...node, metadata: { ...node.metadata, name: `node-${index}` } };
  });
  const status = provenStatus(planOf({ timing: DEFAULT_TIMING }));
  harness.fences.items = [{ metadata: { name: 'node-fence-node-1' }, spec: { node: 'node-1' }, status }];
  return { harness, clock, queued };
}

describe('a round over all nodes', () => {
  it('looks at those that have failed at once, and at the others some at a time', async () => {
    const { harness, clock, queued } = harnessOf(MANY);
    new Rounds(harness.dependencies).begin();
    expect(queued.slice(0, 2)).toEqual(['node-1', 'node-0']);
    expect(queued.length).toBeLessThan(MANY / 10);
    await clock.advance(1_000);
    expect(new Set(queued).size).toBe(MANY);
    expect(clock.pending).toBe(0);
  });

  it('goes on to its end however often another is asked for, and that one follows it', async () => {
    const { harness, clock, queued } = harnessOf(MANY);
    const rounds = new Rounds(harness.dependencies);
    for (let count = 0; count < 5; count += 1) {
      rounds.begin();
      await clock.advance(5);
    }
    await clock.advance(1_000);
    const looks = queued.filter((name) => name === `node-${MANY - 1}`);
    expect(looks).toHaveLength(2);
  });

  it('is one at a time, also where somebody asks right between two', async () => {
    const { harness, clock } = harnessOf(MANY);
    const rounds = new Rounds(harness.dependencies);
    rounds.begin();
    rounds.begin();
    for (let ms = 0; ms < 200; ms += 1) {
      await clock.advance(1);
      rounds.begin();
      expect(clock.pending).toBe(1);
    }
  });

  it('finds reports and NodeFences that have outlived their Nodes', () => {
    const { harness, queued } = harnessOf(1);
    harness.reports.items = [{ metadata: { name: 'gone' } }, { metadata: { name: 'node-0' } }];
    new Rounds(harness.dependencies).begin();
    expect(queued).toEqual(['node-1', 'node-0', 'node-0', 'node-1', 'gone']);
  });

  it('ends with the controller', async () => {
    const { harness, clock, queued } = harnessOf(MANY);
    const rounds = new Rounds(harness.dependencies);
    rounds.begin();
    rounds.beginSoon();
    rounds.close();
    const before = queued.length;
    await clock.advance(1_000);
    expect(queued).toHaveLength(before);
  });
});

describe('a change of the configuration', () => {
  it('is looked at once for all that come together', async () => {
    const { harness, clock, queued } = harnessOf(10);
    const controller = new FenceController(harness.dependencies);
    for (let count = 0; count < MANY; count += 1) controller.configurationChanged();
    await clock.advance(1_000);
    expect(queued.filter((name) => name === 'node-9')).toHaveLength(1);
  });

  it('is looked at by the leader alone', async () => {
    const { harness, clock, queued } = harnessOf(10);
    Object.assign(harness.dependencies.leadership, { isLeading: false });
    new FenceController(harness.dependencies).configurationChanged();
    await clock.advance(1_000);
    expect(queued).toEqual([]);
  });
});
