import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../src/domain/node-fence.ts';
import { DEADLOCK } from './configurations.ts';
import { MINUTE_MS, RemedyShellWorld, SECOND_MS } from './shell-world.ts';

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

describe('remedies that a NodeFence carries out', () => {
  const seed = `
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - nodeConditionType: DiskPressure
    nodeConditionStatus: true
    nodeConditionPeriod: 10s
    remedy1: [{name: storage-fence}, {period: 1m}]
    remedy2: [{name: repair}]
    recovery: [{name: recovery}]
`;

  async function isolated(configuration = seed, type = 'DiskPressure'): Promise<void> {
    await world.addNode('a');
    await world.configure(configuration);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { [type]: 'True' });
    await world.pass(14 * SECOND_MS);
  }

  /** Isolated by its fence, and then its condition is over. */
  async function wellAgain(): Promise<void> {
    await isolated();
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    await world.says('a', { DiskPressure: 'False' });
    await world.pass(14 * SECOND_MS);
  }

  const call: JournalEntry = {
    ...{
      id: 'fc-off-1',
      step: 'isolation',
      level: 1,
      operation: '1',
      method: 'fc-off',
      agent: 'fc-switch',
      device: 'switch-1',
      plug: '2',
      action: 'off',
    },
    ...{ attempt: 1, restart: 0, runner: 'in-process', epoch: 1, startedAt: '2026-11-25T00:00:00Z', deadlineMs: 18_000 },
  };
  const hold = () => ({ policy: 'isolation-only', reason: 'isolation-only', message: 'it is isolated', since: world.now() });

  it('storage-fence asks for isolation alone, and is done when the node is isolated; the request stands', async () => {
    world.start();
    await isolated();
    expect((await world.fence('a'))?.spec).toMatchObject({
      lastStep: 'isolation',
      requestedBy: { kind: 'RemedyConfiguration', name: 'DiskPressure=True' },
    });
    expect(await world.position('a')).toBe('running storage-fence 1');
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    expect([await world.position('a'), (await world.fence('a'))?.spec.lastStep]).toEqual(['waiting 1', 'isolation']);
  });

  it('escalates to a whole fence by the same NodeFence, and counts by its outcome', async () => {
    const replica = world.start();
    await isolated();
    const before = (await world.fence('a'))?.spec.requestedBy?.uid;
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(75 * SECOND_MS);
    const spec = (await world.fence('a'))?.spec;
    expect([spec?.lastStep, spec?.requestedBy?.uid === before]).toEqual([undefined, false]);
    expect(await world.position('a')).toBe('running repair 1');
    const trigger = { kind: 'remediation' as const, since: world.now(), requestUID: spec?.requestedBy?.uid ?? '' };
    await world.fenced('a', { state: 'final', outcome: 'recovered', trigger, timeline: { finalAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    expect(replica.ended).toEqual(['DiskPressure=True storage-fence succeeded', 'DiskPressure=True repair succeeded']);
  });

  it('a fence that is held for hours is looked at every few seconds, and not ended', async () => {
    world.start();
    await isolated(seed.replace('remedy1: [{name: storage-fence}, {period: 1m}]\n    remedy2: [{name: repair}]', 'remedy1: [{name: repair}]'));
    await world.fenced('a', { state: 'new', hold: { ...hold(), policy: 'max-unhealthy', reason: 'max-unhealthy' } });
    await world.pass(59 * MINUTE_MS);
    const asked = async (): Promise<number> => {
      const before = world.trace.length;
      await world.pass(MINUTE_MS);
      return world.trace.length - before;
    };
    const usual = await asked();
    await world.pass(MINUTE_MS);
    expect(await asked()).toBeLessThan(2 * usual);
    expect([await world.position('a'), (await world.fence('a'))?.spec.requestedBy?.kind]).toEqual(['running repair 1', 'RemedyConfiguration']);
  });

  it('a recovery that does not end within an hour is handed to a person', async () => {
    const replica = world.start();
    await wellAgain();
    await world.pass(50 * MINUTE_MS);
    expect(await world.position('a')).toBe('running recovery 1');
    await world.pass(15 * MINUTE_MS);
    expect((await world.position('a'))?.split(' ')[0]).toBe('handed-over');
    expect(replica.ended.at(-1)).toBe('DiskPressure=True recovery failed');
  });

  it('recovery withdraws the request when the condition is over, and is done when the fence has taken back what it did', async () => {
    const replica = world.start();
    await wellAgain();
    const fence = await world.fence('a');
    expect([fence?.spec.requestedBy, fence?.spec.lastStep, await world.position('a')]).toEqual([undefined, undefined, 'running recovery 1']);
    await world.fenced('a', { state: 'final', outcome: 'recovered', timeline: { finalAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    expect([await world.position('a'), replica.ended]).toEqual([
      'recovered 1',
      ['DiskPressure=True storage-fence succeeded', 'DiskPressure=True recovery succeeded'],
    ]);
  });

  it('goes through nothing more while the fence is after the node by itself, and says so', async () => {
    const replica = world.start();
    await isolated();
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    await world.fenced('a', { state: 'running', step: 'power-management', hold: undefined as never });
    await world.pass(75 * SECOND_MS);
    expect((await world.position('a'))?.split(' ')[0]).toBe('waiting');
    expect(replica.problems().join()).toContain('held: RemedyConfiguration DiskPressure=True has the node');
  });

  it('methods of the node that switch nothing off isolate it, and their request ends with them where nothing is left to take back', async () => {
    const replica = world.start();
    await world.addNode('a');
    const methods = seed.replace('name: storage-fence', 'name: quick').replace('    recovery: [{name: recovery}]\n', '');
    await world.configure(`${methods}remedyConfigs:\n  - {name: quick, fenceMethods: [restart-kubelet]}\n`);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { DiskPressure: 'True' });
    await world.pass(14 * SECOND_MS);
    expect((await world.fence('a'))?.spec).toMatchObject({ methods: ['restart-kubelet'], lastStep: 'isolation' });
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(12 * SECOND_MS);
    expect([replica.ended, (await world.fence('a'))?.spec]).toEqual([['DiskPressure=True quick succeeded'], { node: 'a' }]);
  });

  it('a Configuration with an error ends nothing and begins nothing, and what was under way goes on when it is mended', async () => {
    const replica = world.start();
    await isolated();
    const before = await world.remedies('a');
    await world.configure(seed.replace('nodeConditionPeriod: 10s', 'nodeConditionPeriod: often'));
    await world.pass(20 * SECOND_MS);
    expect((await world.remedies('a'))?.positions?.[0]).toMatchObject({ episode: before?.positions?.[0]?.episode, phase: 'running' });
    expect([(await world.fence('a'))?.spec.lastStep, replica.problems().join()]).toEqual(['isolation', expect.stringContaining('mend that one')]);
    await world.configure(seed);
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(12 * SECOND_MS);
    expect(await world.position('a')).toBe('waiting 1');
  });

  it('read no device while a call of its fence to one may still arrive, and say so; nor while the fence is after the node', async () => {
    world.start();
    await world.addPod('p', 'a');
    // What the kubelet says of itself nobody can tell once it is silent.
    const standing = seed.replace('DiskPressure', 'KernelDeadlock');
    const cleaning = standing.replace('{name: storage-fence}, {period: 1m}', '{name: storage-fence}, {period: 1h}, {clean-resource: true}');
    await isolated(cleaning, 'KernelDeadlock');
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() }, journal: [call] });
    world.silentSinceMs.set('a', 0);
    await world.says('a', { Ready: 'Unknown' });
    await world.pass(12 * SECOND_MS);
    const says = async (): Promise<string> => (await world.remedies('a'))?.positions?.[0]?.message ?? '';
    expect([world.probed, await says()]).toEqual([[], expect.stringContaining('its fence has a call to switch-1 under way')]);
    await world.fenced('a', { hold: undefined as never, journal: [{ ...call, finishedAt: world.now(), result: 'succeeded' }] });
    await world.pass(12 * SECOND_MS);
    expect([world.probed, await says()]).toEqual([[], expect.stringContaining('has the node')]);
    await world.fenced('a', { hold: hold() });
    await world.pass(12 * SECOND_MS);
    expect([new Set(world.probed).size, await says()]).toEqual([1, expect.stringContaining('reads on, not off')]);
  });

  it('a request whose remedies are configured no more is withdrawn', async () => {
    world.start();
    await isolated();
    await world.fenced('a', { state: 'running', hold: hold(), timeline: { isolatedAt: world.now() } });
    await world.pass(6 * SECOND_MS);
    await world.configure(DEADLOCK);
    await world.pass(12 * SECOND_MS);
    expect([await world.position('a'), (await world.fence('a'))?.spec.requestedBy]).toEqual([undefined, undefined]);
  });
});
