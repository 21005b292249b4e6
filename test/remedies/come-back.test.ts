import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PODS } from '../../src/ports/resources.ts';
import { DEADLOCK } from './configurations.ts';
import { MINUTE_MS, RemedyShellWorld, SECOND_MS } from './shell-world.ts';

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

/** A node with a deadlock whose first remedy runs. */
async function running(configuration = DEADLOCK): Promise<void> {
  await world.addNode('a');
  await world.configure(configuration);
  await world.pass(6 * SECOND_MS);
  await world.says('a', { KernelDeadlock: 'True' });
  await world.pass(33 * SECOND_MS);
}

describe('pods that a remedy lets go', () => {
  const evicted = DEADLOCK.replace('{name: repair}', '{name: clean-pods}');
  const evictedBy = ({ writes }: { writes: string[] }): string[] => writes.filter((write) => write.endsWith('/eviction'));

  it('are evicted once each: those that come back to the node stay, also under another controller, and are told', async () => {
    const first = world.start();
    world.plan = { ...world.plan, podsPerMinute: 1 };
    await world.addNode('a');
    for (const name of ['p', 'q']) await world.addPod(name, 'a', { terminationGracePeriodSeconds: 0 });
    await world.configure(evicted);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(36 * SECOND_MS);
    const [gone = ''] = evictedBy(first).map((write) => write.split('/').at(-2));
    await world.addPod(gone, 'a');
    await first.close();
    const second = world.start();
    await world.pass(80 * SECOND_MS);
    const pods = await world.operator.list(PODS, { namespace: 'default' });
    expect([evictedBy(first), evictedBy(second), pods.map(({ metadata }) => metadata.name)]).toEqual([
      [expect.any(String)],
      [expect.any(String)],
      [gone],
    ]);
    expect((await world.remedies('a'))?.runs).toMatchObject([{ result: 'succeeded', message: `default/${gone} has come since, and stays` }]);
    expect(second.events.join()).toContain('clean-pods for KernelDeadlock=True has succeeded: default/');
  });

  it('are let go once each by clean-resource', async () => {
    const replica = world.start();
    await world.addPod('p', 'a', { terminationGracePeriodSeconds: 0 });
    await running(DEADLOCK.replace('{name: repair}, {period: 1m}', '{name: repair}, {period: 10m}, {clean-resource: true}'));
    const [job] = await world.jobs();
    await world.ends(job!, 'Complete');
    await world.pass(12 * SECOND_MS);
    await world.addPod('p', 'a', { terminationGracePeriodSeconds: 0 });
    await world.pass(60 * SECOND_MS);
    expect([evictedBy(replica).length, (await world.operator.list(PODS, { namespace: 'default' })).length]).toEqual([1, 1]);
    expect((await world.remedies('a'))?.positions?.[0]?.message).toBe('waits before the next remedy');
  });

  it.each(['clean-pods', 'clean-resource'])(
    'stay when they come back, by %s, also where the clock of the API server is set back meanwhile',
    async (by) => {
      const replica = world.start();
      world.plan = { ...world.plan, podsPerMinute: 1 };
      for (const name of ['p', 'q']) await world.addPod(name, 'a', { terminationGracePeriodSeconds: 0 });
      const cleaning = DEADLOCK.replace('{name: repair}, {period: 1m}', '{name: repair}, {period: 10m}, {clean-resource: true}');
      await running(by === 'clean-pods' ? evicted : cleaning);
      for (const job of await world.jobs()) await world.ends(job, 'Complete');
      await world.pass(6 * SECOND_MS);
      const [gone = ''] = evictedBy(replica).map((write) => write.split('/').at(-2));
      world.clock.jumpWall(-60 * MINUTE_MS);
      await world.addPod(gone, 'a');
      await world.pass(80 * SECOND_MS);
      const pods = await world.operator.list(PODS, { namespace: 'default' });
      expect([new Set(evictedBy(replica)).size, evictedBy(replica).length, pods.map(({ metadata }) => metadata.name)]).toEqual([2, 2, [gone]]);
    },
  );

  it('go once more at most by each new leader, where the clock of the API server was set back before: it knows their times alone', async () => {
    const first = world.start();
    world.plan = { ...world.plan, podsPerMinute: 1 };
    for (const name of ['p', 'q']) await world.addPod(name, 'a', { terminationGracePeriodSeconds: 0 });
    await running(evicted);
    await world.pass(6 * SECOND_MS);
    const [gone = ''] = evictedBy(first).map((write) => write.split('/').at(-2));
    world.clock.jumpWall(-60 * MINUTE_MS);
    await world.addPod(gone, 'a', { terminationGracePeriodSeconds: 0 });
    await first.close();
    const second = world.start();
    for (let minute = 0; minute < 6; minute += 1) {
      await world.pass(61 * SECOND_MS);
      const pods = await world.operator.list(PODS, { namespace: 'default' });
      if (!pods.some(({ metadata }) => metadata.name === gone)) await world.addPod(gone, 'a', { terminationGracePeriodSeconds: 0 });
    }
    const times = evictedBy(second).filter((write) => write.split('/').at(-2) === gone).length;
    expect([times, (await world.remedies('a'))?.runs?.map(({ result }) => result)]).toEqual([1, ['succeeded']]);
  });
});
