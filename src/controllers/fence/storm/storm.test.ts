import { describe, expect, it } from 'vitest';
import { cooldown } from '../../../domain/policies/cooldown.ts';
import { maintenance } from '../../../domain/policies/maintenance.ts';
import { maxConcurrent } from '../../../domain/policies/max-concurrent.ts';
import { DEFAULT_ISOLATION } from '../../../domain/policies/controller-isolated.ts';
import { maxUnhealthy } from '../../../domain/policies/max-unhealthy.ts';
import { CORDON_MARK } from '../../../domain/node-fence.ts';
import type { Node } from '../../../ports/objects.ts';
import type { StormPolicy } from '../../../domain/policies/policy.ts';
import { rate } from '../../../domain/policies/rate.ts';
import { StormBench } from '../../../../test/bench/storm-bench.ts';
import { entryOf } from './testing/entries.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const UNHEALTHY = maxUnhealthy({ name: 'max-unhealthy', percentage: 40, isolation: { ...DEFAULT_ISOLATION, graceMs: 0 } });
const ONE = maxConcurrent({ name: 'max-concurrent', max: 1, maxPerDomain: 1, topologyKeys: [] });
const CORDON = entryOf({ id: 'cordon-1' });

describe('the storm shell', () => {
  it('holds every node when too many fail at once, and says so in one gauge', () => {
    const bench = new StormBench(NAMES, [UNHEALTHY]);
    bench.fail('a', 'b');
    expect(bench.holding('a')).toEqual([]);
    bench.fail('c');
    for (const node of ['a', 'b', 'c']) expect(bench.holding(node)).toEqual(['max-unhealthy']);
    expect(bench.lastGauge).toEqual({ 'max-unhealthy': 3 });
  });

  it('counts a node that fell silent before Kubernetes says anything of it, and no more when it is heard again', async () => {
    const bench = new StormBench(NAMES, [UNHEALTHY]);
    await bench.clock.advance(14_000);
    for (const node of ['a', 'b', 'd', 'e']) bench.lifeAtMs.set(node, bench.clock.monotonicMs());
    bench.fail('a');
    expect(bench.holding('a')).toEqual([]);
    await bench.clock.advance(1_000);
    expect(bench.holding('a')).toEqual(['max-unhealthy']);
    bench.lifeAtMs.set('c', bench.clock.monotonicMs());
    await bench.clock.advance(600);
    expect(bench.holding('a')).toEqual([]);
  });

  it('counts machines that failed and are kept for a look, from the moment at which they are', () => {
    let isKept = false;
    const listeners: ((nodes: readonly string[]) => void)[] = [];
    const bench = new StormBench(NAMES, [UNHEALTHY], {
      preservation: {
        guardOf: (node) => (isKept && node === 'c' ? { node, guard: 'isolate-and-hold', cause: 'user' } : undefined),
        isPreserved: () => isKept,
        onChange: (listener) => {
          listeners.push(listener);
          return () => undefined;
        },
      },
    });
    bench.fail('a', 'b');
    expect(bench.holding('a')).toEqual([]);
    isKept = true;
    for (const listener of listeners) listener(['c']);
    expect(bench.holding('a')).toEqual(['max-unhealthy']);
  });

  it('gives the slot of a fence that is held for a look to another, and lets it wait for one when the hold is over', () => {
    const bench = new StormBench(NAMES, [ONE]);
    bench.fail('a', 'b');
    const held = { reason: 'preserved', policy: 'preservation', message: '', since: 'now' };
    bench.fence('a', { state: 'running', journal: [CORDON], slotGivenAway: true, hold: held });
    expect(bench.holding('b')).toEqual([]);
    bench.fence('b', { journal: [CORDON] });
    expect(bench.holding('a')).toEqual(['max-concurrent']);
  });

  it('counts no silence from before its own watch of the leases was open again', async () => {
    const bench = new StormBench(NAMES, [UNHEALTHY]);
    await bench.clock.advance(60_000);
    bench.leases.reopened(bench.clock.monotonicMs());
    bench.fail('a');
    expect(bench.holding('a')).toEqual([]);
  });

  it('takes what an earlier fence of the node left cordoned for ours: nobody has the node in hand', () => {
    const bench = new StormBench(NAMES, [maintenance({ name: 'maintenance', windows: [], offsetMs: () => 0 })]);
    const cordoned = (annotations: Record<string, string>): void => {
      bench.ready('a', 'Unknown', { annotations });
      const node = bench.nodes.get('a') as Node;
      bench.nodes.put({ ...node, spec: { ...node.spec, unschedulable: true } });
    };
    cordoned({});
    bench.fence('a');
    expect(bench.holding('a')).toEqual(['maintenance']);
    cordoned({ [CORDON_MARK]: 'node-fence-b' });
    expect(bench.holding('a')).toEqual(['maintenance']);
    cordoned({ [CORDON_MARK]: 'node-fence-a' });
    expect(bench.holding('a')).toEqual([]);
  });

  it('gives the last slot once: whoever is decided in the same moment sees it taken before any write is acknowledged', () => {
    const bench = new StormBench(NAMES, [ONE]);
    bench.fail('a', 'b');
    const fence = bench.fence('a');
    bench.fence('b');
    expect([bench.holding('a'), bench.holding('b')]).toEqual([[], []]);
    bench.storm.reserve(fence, CORDON);
    expect([bench.holding('a'), bench.holding('b')]).toEqual([[], ['max-concurrent']]);
  });

  it('gives the slot back when the write fails, and the next node is looked at', async () => {
    const bench = new StormBench(NAMES, [ONE]);
    bench.fail('a', 'b');
    const fence = bench.fence('a');
    bench.fence('b');
    bench.storm.reserve(fence, CORDON);
    bench.holding('b');
    bench.storm.settle('a', fence);
    await bench.clock.advance(100);
    expect(bench.woken.map(({ node }) => node)).toEqual(['b']);
    expect(bench.holding('b')).toEqual([]);
  });

  it('keeps the slot when the write stands, until the release', async () => {
    const bench = new StormBench(NAMES, [ONE]);
    bench.fail('a', 'b');
    const fence = bench.fence('a');
    bench.fence('b');
    bench.storm.reserve(fence, CORDON);
    bench.holding('b');
    bench.storm.settle('a', bench.fence('a', { state: 'running', journal: [CORDON] }));
    await bench.clock.advance(1_000);
    expect(bench.holding('b')).toEqual(['max-concurrent']);
    bench.fence('a', { state: 'running', journal: [CORDON], released: { by: 'delete-pods', at: 'now', pods: 1, evidence: 'off-1' } });
    await bench.clock.advance(100);
    expect(bench.woken.at(-1)?.node).toBe('b');
    expect(bench.holding('b')).toEqual([]);
  });

  it('never holds a fence by a judgement that still counted its own slot', () => {
    const bench = new StormBench(NAMES, [ONE]);
    bench.fail('a', 'b');
    bench.fence('b');
    bench.fence('a', { state: 'running', journal: [CORDON] });
    expect([bench.holding('a'), bench.holding('b')]).toEqual([[], ['max-concurrent']]);
    bench.fence('a', { state: 'running', journal: [CORDON], released: { by: 'delete-pods', at: 'now', pods: 1, evidence: 'off-1' } });
    expect(bench.holding('a')).toEqual([]);
  });

  it('a read reserves no slot', () => {
    const bench = new StormBench(NAMES, [ONE]);
    bench.storm.reserve(bench.fence('a'), { ...CORDON, action: 'confirm' });
    bench.fail('b');
    expect(bench.holding('b')).toEqual([]);
  });

  it('a reservation counts for the rate, and no more when its write failed; who has begun is not held by it', () => {
    const bench = new StormBench(NAMES, [rate({ name: 'rate', max: 1, windowMs: 600_000 })]);
    bench.fail('a', 'b');
    const fence = bench.fence('a');
    bench.storm.reserve(fence, CORDON);
    expect([bench.holding('a'), bench.holding('b')]).toEqual([[], ['rate']]);
    bench.storm.settle('a', fence);
    expect(bench.storm.standingOn('b')).toEqual([]);
  });

  it('wakes those that waited longest first, a few at once, when what held them is over', async () => {
    const names = Array.from({ length: 60 }, (_unused, index) => `n${index}`);
    const bench = new StormBench(names, [maxUnhealthy({ name: 'max-unhealthy', max: 30, isolation: DEFAULT_ISOLATION })]);
    const failed = names.slice(0, 31);
    bench.fail(...failed);
    for (const node of failed) expect(bench.holding(node)).toEqual(['max-unhealthy']);
    bench.ready('n30', 'True');
    await bench.clock.advance(100);
    expect(bench.woken.map(({ node }) => node)).toEqual(failed.slice(0, 16));
  });

  it('looks again when a hold ends by time alone', async () => {
    const bench = new StormBench(NAMES, [rate({ name: 'rate', max: 1, windowMs: 7_000 })]);
    bench.fail('a', 'b');
    bench.storm.reserve(bench.fence('a'), CORDON);
    expect(bench.holding('b')).toEqual(['rate']);
    const atMs = bench.clock.monotonicMs();
    await bench.clock.advance(7_000);
    expect(bench.woken.at(-1)).toEqual({ node: 'b', atMs: atMs + 7_000 });
  });

  it('begins the cooldown in the very judgement in which the storm is over', () => {
    const bench = new StormBench(NAMES, [UNHEALTHY, cooldown({ name: 'cooldown', durationMs: 60_000 })]);
    bench.fail('a', 'b', 'c');
    expect(bench.holding('a')).toEqual(['max-unhealthy']);
    bench.ready('c', 'True');
    expect(bench.storm.standingOn('a').map(({ policy }) => policy)).toEqual(['cooldown']);
  });

  it('what forbids may be a moment old; what permits is never older than the last change', async () => {
    let judged = 0;
    const counting: StormPolicy = { ...UNHEALTHY, judge: (view) => ((judged += 1), UNHEALTHY.judge(view)) };
    const bench = new StormBench(NAMES, [counting]);
    bench.fail('a', 'b', 'c', 'd');
    bench.holding('a');
    for (const node of ['b', 'c', 'd', 'e']) {
      bench.fail(node);
      bench.holding(node);
    }
    expect(judged).toBe(1);
    for (const node of ['b', 'c', 'd', 'e']) bench.ready(node, 'True');
    await bench.clock.advance(101);
    expect(bench.holding('a')).toEqual([]);
    bench.fail('b', 'c', 'd');
    expect(bench.holding('a')).toEqual(['max-unhealthy']);
  });

  it('a heartbeat of a healthy node changes nothing that is judged', () => {
    let judged = 0;
    const counting: StormPolicy = { ...UNHEALTHY, judge: (view) => ((judged += 1), UNHEALTHY.judge(view)) };
    const bench = new StormBench(NAMES, [counting]);
    bench.fail('a');
    bench.storm.standingOn('a');
    for (const node of ['b', 'c']) {
      bench.lifeAtMs.set(node, bench.clock.monotonicMs());
      bench.ready(node, 'True', { resourceVersion: '8' });
    }
    bench.storm.standingOn('a');
    expect(judged).toBe(1);
  });

  it('remembers that a node was held until its fence is over', () => {
    const bench = new StormBench(NAMES, [UNHEALTHY]);
    bench.fail('a', 'b', 'c');
    bench.fence('a');
    bench.holding('a');
    bench.ready('c', 'True');
    bench.storm.standingOn('a');
    expect(bench.storm.isHeld('a')).toBe(true);
    bench.fence('a', { state: 'final' });
    expect(bench.storm.isHeld('a')).toBe(false);
  });

  it('asks around only while something has failed', () => {
    const calls: string[] = [];
    const answers = { targets: new Map(), members: new Map(), alerts: new Map() };
    const connectivity = { ask: () => void calls.push('ask'), rest: () => void calls.push('rest'), answers, onChange: () => undefined };
    const bench = new StormBench(NAMES, [UNHEALTHY], { connectivity });
    bench.storm.standingOn('a');
    bench.fail('a');
    bench.storm.standingOn('a');
    expect(calls).toEqual(['rest', 'ask']);
  });
});
