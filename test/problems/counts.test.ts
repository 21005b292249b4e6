import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_FENCE_REPORTS, NODE_FENCES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ALARMS, ProblemWorld } from './world.ts';
import type { ReplicaOfProblems } from './world.ts';

const WEB = 'Deployment shop/web';
const MINUTE_MS = 60_000;

let world: ProblemWorld;
let leader: ReplicaOfProblems;

beforeEach(async () => {
  world = await ProblemWorld.create();
  leader = await world.start();
});

afterEach(() => world.end());

/** One crash of the kernel after the other, and their Events. */
async function oops(...nodes: string[]): Promise<void> {
  for (const node of nodes) {
    await world.event(node);
    await world.pass(MINUTE_MS);
  }
}

describe('Events about a node', () => {
  it('are counted in its report, and raise its alarm once', async () => {
    await oops('worker-1', 'worker-1');
    expect([await world.counts('worker-1'), leader.events]).toEqual([{ 'node: KernelOops': 2 }, []]);
    await oops('worker-1', 'worker-1');
    expect(leader.events).toEqual(['Warning ProblemAlarmRaised worker-1: 3 KernelOops in 1h: node worker-1. The alarm asks for 3.']);
    expect(leader.alarms).toEqual(new Map([['KernelOops', { node: 1, workload: 0 }]]));
    expect((await world.report('worker-1'))?.status?.problemCounts?.alarms).toEqual([{ reason: 'KernelOops', count: 3, windowMs: 3_600_000 }]);
    await world.pass(65 * MINUTE_MS);
    expect(leader.events.slice(1)).toEqual(['Normal ProblemAlarmCleared worker-1: Fewer than 3 KernelOops in 1h: node worker-1.']);
    expect(leader.alarms).toEqual(new Map());
    expect((await world.report('worker-1'))?.status?.problemCounts, 'what is over is not kept').toBeUndefined();
  });

  it('that are written again are counted by how often', async () => {
    const name = await world.event('worker-1');
    await world.pass(MINUTE_MS);
    await world.again(name, 3);
    await world.pass(MINUTE_MS);
    expect(leader.events).toHaveLength(1);
    expect(leader.counted.get('KernelOops')).toBe(3);
  });

  it('that tell of a condition, of no Node that there is, or of what no alarm names are not counted', async () => {
    await world.event('worker-1', { reason: 'KernelOops', message: 'Node condition KernelDeadlock is now: True, reason: KernelOops, message: "x"' });
    await world.event('worker-9');
    await world.event('worker-1', { reason: 'TaskHung' });
    await world.pass(MINUTE_MS);
    expect([await world.counts('worker-1'), await world.report('worker-9')]).toEqual([{}, undefined]);
    expect(leader.counted).toEqual(new Map([['other', 2]]));
  });

  it('of a node that no alarm is for are counted as other, each once, however often they are written again', async () => {
    await world.configure(ALARMS.replace('alarms:', 'nodeSelector: type=storage\nalarms:'));
    await world.pass(1_000);
    const name = await world.event('worker-1');
    for (const count of [2, 3, 4]) {
      await world.pass(MINUTE_MS);
      await world.again(name, count);
    }
    await world.pass(MINUTE_MS);
    expect(leader.counted).toEqual(new Map([['other', 4]]));
  });

  it('in a burst are few writes', async () => {
    for (let index = 0; index < 120; index += 1) {
      await world.event('worker-1', { message: `oops ${index}` });
      await world.pass(1_000);
    }
    expect(leader.writes.filter((node) => node === 'worker-1').length).toBeLessThan(12);
    await world.pass(MINUTE_MS);
    expect(await world.counts('worker-1')).toEqual({ 'node: KernelOops': 3 });
  });
});

describe('a workload that crashes its nodes', () => {
  it('is told by name, over all of them', async () => {
    for (const node of ['worker-1', 'worker-2']) await world.addPod(node);
    await world.pass(1_000);
    await oops('worker-1');
    await oops('worker-2');
    expect(leader.events).toEqual([]);
    await world.addPod('worker-3');
    await world.pass(1_000);
    await oops('worker-3');
    expect(leader.events).toEqual([
      `Warning ProblemAlarmRaised worker-3: 3 KernelOops on 3 nodes in 1h (worker-1, worker-2, worker-3): pods of ${WEB} ran there. The alarm asks for 3.`,
    ]);
    expect(await world.counts('worker-3')).toEqual({ [`${WEB}: KernelOops`]: 1, 'node: KernelOops': 1 });
    expect(leader.alarms).toEqual(new Map([['KernelOops', { node: 0, workload: 1 }]]));
    await world.pass(62 * MINUTE_MS);
    expect(leader.events.slice(1)).toEqual([`Normal ProblemAlarmCleared worker-3: Fewer than 3 KernelOops in 1h: pods of ${WEB} ran there.`]);
  });

  it('is told where the last that is counted is not the last that happened', async () => {
    for (const node of ['worker-1', 'worker-2', 'worker-3']) await world.addPod(node);
    await world.pass(MINUTE_MS);
    await oops('worker-1', 'worker-2');
    await world.pass(2 * MINUTE_MS);
    await world.event('worker-3', { lateByMs: 210_000 });
    await world.pass(1_000);
    expect(leader.events).toEqual([
      `Warning ProblemAlarmRaised worker-2: 3 KernelOops on 3 nodes in 1h (worker-1, worker-2, worker-3): pods of ${WEB} ran there. The alarm asks for 3.`,
    ]);
    await world.pass(62 * MINUTE_MS);
    expect(leader.events.slice(1)).toEqual([`Normal ProblemAlarmCleared worker-2: Fewer than 3 KernelOops in 1h: pods of ${WEB} ran there.`]);
    expect(leader.alarms).toEqual(new Map());
  });

  it('is not told where one node alone is broken, whose own alarm says so', async () => {
    await world.addPod('worker-1');
    await world.pass(1_000);
    await oops('worker-1', 'worker-1', 'worker-1');
    expect(leader.events).toEqual(['Warning ProblemAlarmRaised worker-1: 3 KernelOops in 1h: node worker-1. The alarm asks for 3.']);
  });
});

describe('what others report', () => {
  it('is counted once for each moment, whoever tells it again', async () => {
    const atMs = world.clock.wallMs();
    const report = (moreMs: number): void =>
      leader.problems.controllers[0]?.report({ node: 'worker-1', reason: 'KernelDeadlock', atMs: atMs + moreMs });
    for (const moreMs of [0, 0, 1_000]) report(moreMs);
    await world.pass(MINUTE_MS);
    expect(await world.counts('worker-1')).toEqual({ 'node: KernelDeadlock': 2 });
    expect(leader.events).toHaveLength(1);
  });

  it('is counted by the leader alone', async () => {
    const standby = await world.start({ isLeading: false });
    standby.problems.controllers[0]?.report({ node: 'worker-1', reason: 'KernelDeadlock', atMs: world.clock.wallMs() });
    await world.event('worker-2');
    await world.pass(MINUTE_MS);
    expect([standby.writes, standby.events, [...standby.counted]]).toEqual([[], [], []]);
    expect(await world.counts('worker-1')).toEqual({});
  });

  it('has each incident of a fence in it, whatever its status says later', async () => {
    const fence: NodeFence = await world.operator.create(NODE_FENCES, { metadata: { name: 'node-fence-worker-1' }, spec: { node: 'worker-1' } });
    let current = fence;
    for (const [since, kind] of [
      ['2026-03-01T10:00:00Z', 'node-condition'],
      ['2026-03-01T10:00:00Z', 'node-condition'],
      ['2026-03-01T10:01:00Z', 'heartbeat'],
      ['2026-03-01T10:01:30Z', 'person'],
    ] as const) {
      const status = { ...STATUS, trigger: { kind, since } };
      current = await world.operator.replaceStatus(NODE_FENCES, { ...current, status });
      await world.pass(2_000);
    }
    await world.pass(MINUTE_MS);
    expect(await world.counts('worker-1')).toEqual({ 'node: NodeFenced': 2 });
    expect(leader.events).toEqual(['Warning ProblemAlarmRaised worker-1: 2 NodeFenced in 1h: node worker-1. The alarm asks for 2.']);
  });
});

describe('a new leader', () => {
  it('goes on from what the reports keep: nothing is counted or told twice', async () => {
    for (const node of ['worker-1', 'worker-2', 'worker-3']) await world.addPod(node);
    await world.pass(1_000);
    await oops('worker-1', 'worker-2', 'worker-3', 'worker-1', 'worker-1');
    expect(leader.events).toHaveLength(2);
    await world.pass(MINUTE_MS);
    const before = await world.counts('worker-1');
    leader.leadership.isLeading = false;
    const next = await world.start();
    await world.pass(2 * MINUTE_MS);
    expect([next.events, next.writes, [...next.counted]]).toEqual([[], [], []]);
    expect(await world.counts('worker-1')).toEqual(before);
    await world.pass(70 * MINUTE_MS);
    expect(next.events.toSorted()).toEqual([
      'Normal ProblemAlarmCleared worker-1: Fewer than 3 KernelOops in 1h: node worker-1.',
      `Normal ProblemAlarmCleared worker-3: Fewer than 3 KernelOops in 1h: pods of ${WEB} ran there.`,
    ]);
  });

  it('counts no incident twice where the clock was set back since', async () => {
    const fence: NodeFence = await world.operator.create(NODE_FENCES, { metadata: { name: 'node-fence-worker-1' }, spec: { node: 'worker-1' } });
    await world.pass(1_000);
    const status = { ...STATUS, trigger: { kind: 'node-condition' as const, since: world.now() } };
    await world.operator.replaceStatus(NODE_FENCES, { ...fence, status });
    await world.pass(MINUTE_MS);
    world.clock.jumpWall(-30 * MINUTE_MS);
    // Judged, and written, by the clock as it is now.
    await oops('worker-1');
    await world.pass(MINUTE_MS);
    leader.leadership.isLeading = false;
    const next = await world.start();
    await world.pass(MINUTE_MS);
    expect([await world.counts('worker-1'), next.events]).toEqual([{ 'node: KernelOops': 1, 'node: NodeFenced': 1 }, []]);
  });

  it('counts what was written while nobody led', async () => {
    await oops('worker-1');
    leader.leadership.isLeading = false;
    await oops('worker-1', 'worker-1');
    const next = await world.start({ isLeading: false });
    next.leadership.isLeading = true;
    next.problems.wake();
    await world.pass(MINUTE_MS);
    expect(next.events).toHaveLength(1);
    expect(next.counted.get('KernelOops')).toBe(2);
  });

  it('counts with what the one before it wrote late', async () => {
    await oops('worker-1');
    leader.leadership.isLeading = false;
    const next = await world.start();
    const report = await world.report('worker-1');
    const late = { reason: 'KernelDeadlock', times: [new Date(world.clock.wallMs()).toISOString()] };
    const counted = [...(report?.status?.problemCounts?.counted ?? []), late];
    const status = { ...report?.status, problemCounts: { ...report?.status?.problemCounts, counted } };
    await world.operator.replaceStatus(NODE_FENCE_REPORTS, { ...report, metadata: report?.metadata ?? { name: '' }, status });
    await oops('worker-1');
    await world.pass(MINUTE_MS);
    expect(await world.counts('worker-1')).toEqual({ 'node: KernelDeadlock': 1, 'node: KernelOops': 2 });
    expect(next.events).toEqual([]);
  });
});

describe('the configuration', () => {
  it('that has an error for a while forgets nothing', async () => {
    await oops('worker-1', 'worker-1');
    await world.configure(`${ALARMS}  - { reason: }\n`);
    await world.pass(5 * MINUTE_MS);
    await world.configure(ALARMS);
    await world.pass(1_000);
    await oops('worker-1');
    expect(leader.events).toHaveLength(1);
  });

  it('clears an alarm that it does not ask for any more', async () => {
    await oops('worker-1', 'worker-1', 'worker-1');
    await world.configure('apiVersion: node-remedy/v1alpha\nkind: Configuration\n');
    await world.pass(MINUTE_MS);
    expect(leader.events.at(-1)).toMatch(/^Normal ProblemAlarmCleared worker-1/u);
  });
});

it('an alarm in a file of the controller is one as any other, and so is one that is written there later', async () => {
  const plain = await ProblemWorld.create({ alarms: 'apiVersion: node-remedy/v1alpha\nkind: Configuration\n' });
  let text = 'apiVersion: node-remedy/v1alpha\nkind: Configuration\nalarms:\n  - { reason: KernelOops, count: 2, window: 1h }\n';
  const replica = await plain.start({ remedyFiles: () => [{ name: 'alarms.yaml', text, where: () => 'alarms.yaml' }] });
  for (let count = 0; count < 2; count += 1) {
    await plain.event('worker-1');
    await plain.pass(MINUTE_MS);
  }
  expect(replica.events).toEqual(['Warning ProblemAlarmRaised worker-1: 2 KernelOops in 1h: node worker-1. The alarm asks for 2.']);
  text = text.replace('KernelOops', 'TaskHung');
  await plain.pass(MINUTE_MS);
  for (let count = 0; count < 2; count += 1) {
    await plain.event('worker-2', { reason: 'TaskHung' });
    await plain.pass(MINUTE_MS);
  }
  expect(replica.events.at(-1)).toMatch(/^Warning ProblemAlarmRaised worker-2: 2 TaskHung/u);
  await plain.end();
});

it('without an alarm nobody watches Events, and nobody asks for the right', async () => {
  const idle = await ProblemWorld.create({ hasRights: false, alarms: 'apiVersion: node-remedy/v1alpha\nkind: Configuration\n' });
  const replica = await idle.start();
  await idle.pass(2 * MINUTE_MS);
  expect([replica.problems.controllers, replica.said]).toEqual([[], []]);
  await idle.configure(ALARMS);
  await idle.pass(2 * MINUTE_MS);
  expect(replica.said).toHaveLength(1);
  await idle.end();
});

it('an account that may not read Events says so, and counts the rest', async () => {
  const poor = await ProblemWorld.create({ hasRights: false });
  const replica = await poor.start();
  replica.problems.controllers[0]?.report({ node: 'worker-1', reason: 'KernelDeadlock', atMs: poor.clock.wallMs() });
  await poor.event('worker-1');
  await poor.pass(2 * MINUTE_MS);
  expect(replica.said).toMatchObject([
    expect.stringMatching(/^Events about Nodes are not counted: list events: .*forbidden.*: kubectl apply -k config\/remedies$/u),
  ]);
  expect(await poor.counts('worker-1')).toEqual({ 'node: KernelDeadlock': 1 });
  expect(new Set(replica.shown.slice(replica.shown.indexOf(1))), 'the alert on its metric fires, and does not begin anew with each write').toEqual(
    new Set([1]),
  );
  replica.leadership.isLeading = false;
  await poor.pass(MINUTE_MS);
  expect(replica.shown.at(-1), 'and ends where this replica counts no more').toBe(0);
  await poor.end();
});

const STATUS: NonNullable<NodeFence['status']> = {
  ...{ state: 'new', step: 'isolation', level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0, jobs: [], journal: [], evidence: [] },
  ...{ timeline: {}, conditions: [], history: [] },
};
