import { describe, expect, it, vi } from 'vitest';
import { cooldown } from '../../../domain/policies/cooldown.ts';
import { maintenance } from '../../../domain/policies/maintenance.ts';
import { maxConcurrent } from '../../../domain/policies/max-concurrent.ts';
import { controllerIsolated, DEFAULT_ISOLATION } from '../../../domain/policies/controller-isolated.ts';
import { maxUnhealthy } from '../../../domain/policies/max-unhealthy.ts';
import { CORDON_MARK } from '../../../domain/node-fence.ts';
import { NO_ANSWERS } from '../../../ports/connectivity.ts';
import type { ConnectivityProbes, Questions } from '../../../ports/connectivity.ts';
import type { Node } from '../../../ports/objects.ts';
import type { StormPolicy } from '../../../domain/policies/policy.ts';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import type { Plan } from '../../../domain/plan.ts';
import { rate } from '../../../domain/policies/rate.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { storageReachable } from '../../../domain/policies/storage-reachable.ts';
import { StormHarness } from '../../../../test/bench/storm-harness.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness } from '../testing/harness.ts';
import { ForeignObjects } from './foreign-objects.ts';
import { Storm } from './storm.ts';
import { entryOf } from './testing/entries.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const UNHEALTHY = maxUnhealthy({ name: 'max-unhealthy', percentage: 40, isolation: { ...DEFAULT_ISOLATION, graceMs: 0 } });
const ONE = maxConcurrent({ name: 'max-concurrent', max: 1, maxPerDomain: 1, topologyKeys: [] });
const CORDON = entryOf({ id: 'cordon-1' });

describe('the storm shell', () => {
  it('holds every node when too many fail at once, and says so in one gauge', () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY]);
    harness.fail('a', 'b');
    expect(harness.holding('a')).toEqual([]);
    harness.fail('c');
    for (const node of ['a', 'b', 'c']) expect(harness.holding(node)).toEqual(['max-unhealthy']);
    expect(harness.lastGauge).toEqual({ 'max-unhealthy': 3 });
  });

  it('counts a node that fell silent before Kubernetes says anything of it, and no more when it is heard again', async () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY]);
    await harness.clock.advance(14_000);
    for (const node of ['a', 'b', 'd', 'e']) harness.lifeAtMs.set(node, harness.clock.monotonicMs());
    harness.fail('a');
    expect(harness.holding('a')).toEqual([]);
    await harness.clock.advance(1_000);
    expect(harness.holding('a')).toEqual(['max-unhealthy']);
    harness.lifeAtMs.set('c', harness.clock.monotonicMs());
    await harness.clock.advance(600);
    expect(harness.holding('a')).toEqual([]);
  });

  it('does not look at every silent node for every node that asks', async () => {
    const names = Array.from({ length: 400 }, (_unused, index) => `node-${index}`);
    const harness = new StormHarness(names, [UNHEALTHY]);
    await harness.clock.advance(60_000);
    const failed = names.slice(0, 200);
    harness.fail(...failed);
    let looks = 0;
    vi.spyOn(harness.lifeAtMs, 'get').mockImplementation(() => {
      looks += 1;
      return 0;
    });
    for (const node of failed) expect(harness.storm.activeHoldsOn(node)).toHaveLength(1);
    await harness.clock.advance(100);
    expect(looks).toBeLessThan(10 * names.length);
  });

  it('counts machines that failed and are kept for a look, from the moment at which they are', () => {
    let isKept = false;
    const listeners: ((nodes: readonly string[]) => void)[] = [];
    const harness = new StormHarness(NAMES, [UNHEALTHY], {
      preservation: {
        guardOf: (node) => (isKept && node === 'c' ? { node, guard: 'isolate-and-hold', cause: 'user' } : undefined),
        isPreserved: () => isKept,
        onChange: (listener) => {
          listeners.push(listener);
          return () => undefined;
        },
      },
    });
    harness.fail('a', 'b');
    expect(harness.holding('a')).toEqual([]);
    isKept = true;
    for (const listener of listeners) listener(['c']);
    expect(harness.holding('a')).toEqual(['max-unhealthy']);
  });

  it('plans no node because what is preserved has changed, and finds who fell silent all the same', async () => {
    const listeners: ((nodes: readonly string[]) => void)[] = [];
    const onChange = (listener: (nodes: readonly string[]) => void): (() => void) => {
      listeners.push(listener);
      return () => undefined;
    };
    let planned = 0;
    const planFor = (): Plan => {
      planned += 1;
      return planOf({ timing: DEFAULT_TIMING });
    };
    const harness = new StormHarness(NAMES, [UNHEALTHY], {
      preservation: { guardOf: () => undefined, isPreserved: () => false, onChange },
      planner: { planFor, parametersFor: () => Promise.resolve({}), stormPolicies: () => [UNHEALTHY] },
    });
    harness.storm.configurationChanged();
    planned = 0;
    await harness.clock.advance(14_999);
    for (const node of ['a', 'b', 'd', 'e']) harness.lifeAtMs.set(node, harness.clock.monotonicMs());
    for (const listener of listeners) listener(NAMES);
    expect(planned).toBe(0);
    await harness.clock.advance(1);
    for (const listener of listeners) listener(NAMES);
    harness.fail('a');
    expect(harness.holding('a')).toEqual(['max-unhealthy']);
  });

  it('holds a failed node for as long as it renews its lease on the storage, though nothing else changes', async () => {
    let renews: boolean | undefined = true;
    const fastDetection = {
      failureOf: () => undefined,
      heardAtMs: () => undefined,
      renewsLease: (node: string) => (node === 'a' ? renews : undefined),
    };
    const harness = new StormHarness(NAMES, [storageReachable({ name: 'storage-reachable', when: ['lease-alive'] })], { fastDetection });
    harness.fail('a', 'b');
    expect([harness.holding('a'), harness.holding('b')]).toEqual([['storage-reachable'], []]);
    renews = false;
    await harness.clock.advance(600);
    expect(harness.holding('a')).toEqual([]);
    renews = true;
    await harness.clock.advance(600);
    expect(harness.holding('a')).toEqual(['storage-reachable']);
  });

  it('gives the slot of a fence that is held for a look to another, and lets it wait for one when the hold is over', () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.fail('a', 'b');
    const held = { reason: 'preserved', policy: 'preservation', message: '', since: 'now' };
    harness.fence('a', { state: 'running', journal: [CORDON], slotGivenAway: true, hold: held });
    expect(harness.holding('b')).toEqual([]);
    harness.fence('b', { journal: [CORDON] });
    expect(harness.holding('a')).toEqual(['max-concurrent']);
  });

  it('counts no silence from before its own watch of the leases was open again', async () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY]);
    await harness.clock.advance(60_000);
    harness.leases.reopened(harness.clock.monotonicMs());
    harness.fail('a');
    expect(harness.holding('a')).toEqual([]);
  });

  it('takes what an earlier fence of the node left cordoned for ours: nobody has the node in hand', () => {
    const harness = new StormHarness(NAMES, [maintenance({ name: 'maintenance', windows: [], offsetMs: () => 0 })]);
    const cordoned = (annotations: Record<string, string>): void => {
      harness.ready('a', 'Unknown', { annotations });
      const node = harness.nodes.get('a') as Node;
      harness.nodes.put({ ...node, spec: { ...node.spec, unschedulable: true } });
    };
    cordoned({});
    harness.fence('a');
    expect(harness.holding('a')).toEqual(['maintenance']);
    cordoned({ [CORDON_MARK]: 'node-fence-b' });
    expect(harness.holding('a')).toEqual(['maintenance']);
    cordoned({ 'nodefence.ha.k8s.io/cordoned-by-remedy': 'run' });
    expect(harness.holding('a'), 'what a remedy has drained is nobody else’s work').toEqual([]);
    cordoned({});
    expect(harness.holding('a')).toEqual(['maintenance']);
    cordoned({ [CORDON_MARK]: 'node-fence-a' });
    expect(harness.holding('a')).toEqual([]);
  });

  it('finds the slot of a fence when it starts, whatever else names the node: what bears another name is no fence of it', () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.fail('a', 'b');
    const fence = harness.fence('a', { state: 'running', journal: [CORDON] });
    for (const name of ['aa', 'node-fence-a', 'zz']) harness.fences.put(name === 'node-fence-a' ? fence : { metadata: { name }, spec: fence.spec });
    const started = new Storm(harness.dependencies, (node) => harness.lifeAtMs.get(node));
    expect(started.holdsOn('b').map(({ policy }) => policy)).toEqual(['max-concurrent']);
    started.close();
  });

  it('gives the last slot once: whoever is decided in the same moment sees it taken before any write is acknowledged', () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.fail('a', 'b');
    const fence = harness.fence('a');
    harness.fence('b');
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], []]);
    harness.storm.reserve(fence, CORDON);
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], ['max-concurrent']]);
  });

  it('fences the failed one of two nodes first, then the well one that somebody asks for', async () => {
    const harness = new StormHarness(['a', 'b'], [UNHEALTHY]);
    harness.fail('a');
    harness.fence('a');
    harness.request('b');
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], ['max-unhealthy']]);
    harness.request('b', { journal: [{ ...CORDON, result: 'not-sent', finishedAt: 'now' }] });
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], ['max-unhealthy']]);
    harness.ready('a', 'True');
    harness.fence('a', { state: 'final' });
    await harness.clock.advance(600);
    expect(harness.holding('b')).toEqual([]);
  });

  it('begins with one of two well nodes that somebody asks for: the other one sees it taken before any write is acknowledged', async () => {
    const harness = new StormHarness(['a', 'b'], [UNHEALTHY]);
    const fence = harness.request('a');
    harness.request('b');
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], []]);
    harness.storm.reserve(fence, CORDON);
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], ['max-unhealthy']]);
    harness.storm.settle('a', fence);
    await harness.clock.advance(100);
    expect(harness.holding('b')).toEqual([]);
  });

  it('gives the slot back when the write fails, and the next node is looked at', async () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.fail('a', 'b');
    const fence = harness.fence('a');
    harness.fence('b');
    harness.storm.reserve(fence, CORDON);
    harness.holding('b');
    harness.storm.settle('a', fence);
    await harness.clock.advance(100);
    expect(harness.woken.map(({ node }) => node)).toEqual(['b']);
    expect(harness.holding('b')).toEqual([]);
  });

  it('keeps the slot when the write stands, until the release', async () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.fail('a', 'b');
    const fence = harness.fence('a');
    harness.fence('b');
    harness.storm.reserve(fence, CORDON);
    harness.holding('b');
    harness.storm.settle('a', harness.fence('a', { state: 'running', journal: [CORDON] }));
    await harness.clock.advance(1_000);
    expect(harness.holding('b')).toEqual(['max-concurrent']);
    harness.fence('a', { state: 'running', journal: [CORDON], released: { by: 'delete-pods', at: 'now', pods: 1, evidence: 'off-1' } });
    await harness.clock.advance(100);
    expect(harness.woken.at(-1)?.node).toBe('b');
    expect(harness.holding('b')).toEqual([]);
  });

  it('never holds a fence by a judgement that still counted its own slot', () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.fail('a', 'b');
    harness.fence('b');
    harness.fence('a', { state: 'running', journal: [CORDON] });
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], ['max-concurrent']]);
    harness.fence('a', { state: 'running', journal: [CORDON], released: { by: 'delete-pods', at: 'now', pods: 1, evidence: 'off-1' } });
    expect(harness.holding('a')).toEqual([]);
  });

  it('a read reserves no slot', () => {
    const harness = new StormHarness(NAMES, [ONE]);
    harness.storm.reserve(harness.fence('a'), { ...CORDON, action: 'confirm' });
    harness.fail('b');
    expect(harness.holding('b')).toEqual([]);
  });

  it('a reservation counts for the rate, and no more when its write failed; who has begun is not held by it', () => {
    const harness = new StormHarness(NAMES, [rate({ name: 'rate', max: 1, windowMs: 600_000 })]);
    harness.fail('a', 'b');
    const fence = harness.fence('a');
    harness.storm.reserve(fence, CORDON);
    expect([harness.holding('a'), harness.holding('b')]).toEqual([[], ['rate']]);
    harness.storm.settle('a', fence);
    expect(harness.storm.activeHoldsOn('b')).toEqual([]);
  });

  it('wakes those that waited longest first, a few at once, when what held them is over', async () => {
    const names = Array.from({ length: 60 }, (_unused, index) => `n${index}`);
    const harness = new StormHarness(names, [maxUnhealthy({ name: 'max-unhealthy', max: 30, isolation: DEFAULT_ISOLATION })]);
    const failed = names.slice(0, 31);
    harness.fail(...failed);
    for (const node of failed) expect(harness.holding(node)).toEqual(['max-unhealthy']);
    harness.ready('n30', 'True');
    await harness.clock.advance(100);
    expect(harness.woken.map(({ node }) => node)).toEqual(failed.slice(0, 16));
  });

  it('looks again when a hold ends by time alone', async () => {
    const harness = new StormHarness(NAMES, [rate({ name: 'rate', max: 1, windowMs: 7_000 })]);
    harness.fail('a', 'b');
    harness.storm.reserve(harness.fence('a'), CORDON);
    expect(harness.holding('b')).toEqual(['rate']);
    const atMs = harness.clock.monotonicMs();
    await harness.clock.advance(7_000);
    expect(harness.woken.at(-1)).toEqual({ node: 'b', atMs: atMs + 7_000 });
  });

  it('begins the cooldown in the very judgement in which the storm is over', () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY, cooldown({ name: 'cooldown', durationMs: 60_000 })]);
    harness.fail('a', 'b', 'c');
    expect(harness.holding('a')).toEqual(['max-unhealthy']);
    harness.ready('c', 'True');
    expect(harness.storm.activeHoldsOn('a').map(({ policy }) => policy)).toEqual(['cooldown']);
  });

  it('what forbids may be a moment old; what permits is never older than the last change', async () => {
    let judged = 0;
    const counting: StormPolicy = { ...UNHEALTHY, judge: (view) => ((judged += 1), UNHEALTHY.judge(view)) };
    const harness = new StormHarness(NAMES, [counting]);
    harness.fail('a', 'b', 'c', 'd');
    harness.holding('a');
    for (const node of ['b', 'c', 'd', 'e']) {
      harness.fail(node);
      harness.holding(node);
    }
    expect(judged).toBe(1);
    for (const node of ['b', 'c', 'd', 'e']) harness.ready(node, 'True');
    await harness.clock.advance(101);
    expect(harness.holding('a')).toEqual([]);
    harness.fail('b', 'c', 'd');
    expect(harness.holding('a')).toEqual(['max-unhealthy']);
  });

  it('a heartbeat of a healthy node changes nothing that is judged', () => {
    let judged = 0;
    const counting: StormPolicy = { ...UNHEALTHY, judge: (view) => ((judged += 1), UNHEALTHY.judge(view)) };
    const harness = new StormHarness(NAMES, [counting]);
    harness.fail('a');
    harness.storm.activeHoldsOn('a');
    for (const node of ['b', 'c']) {
      harness.lifeAtMs.set(node, harness.clock.monotonicMs());
      harness.ready(node, 'True', { resourceVersion: '8' });
    }
    harness.storm.activeHoldsOn('a');
    expect(judged).toBe(1);
  });

  it('remembers that a node was held until its fence is over', () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY]);
    harness.fail('a', 'b', 'c');
    harness.fence('a');
    harness.holding('a');
    harness.ready('c', 'True');
    harness.storm.activeHoldsOn('a');
    expect(harness.storm.isHeld('a')).toBe(true);
    harness.fence('a', { state: 'final' });
    expect(harness.storm.isHeld('a')).toBe(false);
  });

  it('asks around while something has failed, or somebody was judged within the last minute', async () => {
    const calls: string[] = [];
    const answers = { targets: new Map(), members: new Map(), alerts: new Map() };
    const connectivity = { ask: () => void calls.push('ask'), rest: () => void calls.push('rest'), answers, onChange: () => undefined };
    const harness = new StormHarness(NAMES, [UNHEALTHY], { connectivity });
    await harness.clock.advance(120_000);
    expect(calls).toEqual([]);
    harness.fail('a');
    harness.storm.activeHoldsOn('a');
    await harness.clock.advance(300_000);
    expect(calls).toEqual(['ask']);
    harness.ready('a', 'True');
    await harness.clock.advance(119_000);
    expect(calls).toEqual(['ask', 'rest']);
  });

  it('asks around for a node that is well, too, where its machine is to be switched off on request: it was held for ever by targets that nobody asked', async () => {
    let questions: Questions | undefined;
    const reached = { targets: new Map([['gateway', true]]), members: new Map(), alerts: new Map() };
    const connectivity: ConnectivityProbes = {
      ask: (asked) => void (questions = asked),
      rest: () => void (questions = undefined),
      get answers() {
        return questions === undefined ? NO_ANSWERS : reached;
      },
      onChange: () => undefined,
    };
    const isolated = controllerIsolated({ name: 'controller-isolated', ...DEFAULT_ISOLATION, targets: ['gateway'], graceMs: 0 });
    const harness = new StormHarness(NAMES, [isolated], { connectivity });
    expect(harness.storm.activeHoldsOn('a')).toEqual([]);
    harness.pass(120_000);
    await harness.clock.advance(0);
    expect(questions).toBeUndefined();
  });

  it.each([
    ['a fence', (storm: Storm) => storm.holdsOn('a')],
    ['a request', (storm: Storm) => storm.activeHoldsOn('a')],
    ['a remedy', (storm: Storm) => storm.holdsOnRemedy('a', new Map())],
  ])('holds %s until it is read whether others have the node in hand, also where nothing has failed before', async (_what, holdsOf) => {
    const maintained = Promise.withResolvers<{ metadata: { name: string }; spec: { nodeName: string } }[]>();
    const cluster = { list: () => maintained.promise as Promise<never>, get: () => Promise.resolve(undefined) };
    const clock = new ManualClock();
    const foreignMarks = new ForeignObjects({ cluster, clock, log: new FenceHarness(clock).dependencies.log });
    const harness = new StormHarness(NAMES, [maintenance({ name: 'maintenance', windows: [], offsetMs: () => 0 })], { foreignMarks });
    const words = (): string[] => holdsOf(harness.storm).map(({ message }) => message);
    expect(words()).toEqual([expect.stringContaining('NodeMaintenances and the lock of kured are being read')]);
    maintained.resolve([{ metadata: { name: 'disk-swap' }, spec: { nodeName: 'a' } }]);
    await clock.settle();
    expect(words()).toEqual([expect.stringContaining('NodeMaintenance disk-swap')]);
    expect(harness.storm.activeHoldsOn('b')).toEqual([]);
  });
});
