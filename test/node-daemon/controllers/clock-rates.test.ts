import { beforeEach, describe, expect, it } from 'vitest';

import { Heartbeats } from '../../../src/controllers/node-daemons/heartbeats.ts';
import { ControllerWorld } from './world.ts';
import type { Replica } from './world.ts';

const CHRONY = 1 - 1 / 12;

describe('clocks of nodes that run wrong', () => {
  let world: ControllerWorld;
  let leader: Replica;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
  });

  const bootOf = (node: string): string => world.machines.get(node)?.bootID ?? '';
  const doubt = (node: string, replica = leader): string | undefined => replica.controller.clockDoubt(node, bootOf(node));
  const told = (): string[] => world.events.filter((event) => event.includes('ClockDrifts'));
  const daemonWords = async (node: string): Promise<string | undefined> =>
    (await world.report(node))?.status?.conditions?.find(({ type }: { type: string }) => type === 'NodeDaemonHeard')?.message;

  async function started(...nodes: string[]): Promise<void> {
    for (const node of nodes) {
      const machine = await world.add(node);
      await machine.daemon.start();
    }
    await world.run(150_000, 500);
  }

  function slew(node: string, rate: number): void {
    world.machines.get(node)?.slew(rate);
  }

  it('say nothing while they run right', async () => {
    await started('a', 'b', 'c');
    expect(['a', 'b', 'c'].map((node) => doubt(node))).toEqual([undefined, undefined, undefined]);
    expect(leader.counts.get('clock-slow')).toBe(0);
    expect(told()).toEqual([]);
  });

  it('are doubted, and told once, by an Event and in the report for as long as that lasts, also by the next leader', async () => {
    await started('a', 'b', 'c');
    slew('a', CHRONY);
    await world.run(65_000, 500);
    expect(doubt('a')).toMatch(
      /^its clock fell \d\.\d s behind ours within \d+ s when it was last heard, more than the 2 % by which two sound clocks may differ$/,
    );
    expect(leader.controller.clockDoubt('a', 'another boot')).toBeUndefined();
    expect(doubt('b')).toBeUndefined();
    expect(told(), 'a single jump looks like that too').toEqual([]);
    const next = world.replica('controller-2', { isLeading: false });
    await world.run(215_000, 500);
    expect(told()).toEqual([
      expect.stringMatching(/^a Warning ClockDrifts Its clock runs slow by more than 2 % of ours, .* maxslewrate 10000 .* fell \d\.\d s behind/),
    ]);
    expect(await daemonWords('a')).toContain(
      'they say: watchdog armed. Its clock runs slow by more than 2 % of ours, and its silence is no evidence',
    );
    expect(await daemonWords('b')).not.toContain('clock');
    expect([leader.counts.get('clock-slow'), leader.counts.get('clock-fast')]).toEqual([1, 0]);
    const { resourceVersion } = (await world.report('a'))?.metadata ?? {};
    leader.leadership.isLeading = false;
    next.lead();
    await world.run(60_000, 500);
    expect(doubt('a', next)).toContain('behind ours');
    expect(told()).toHaveLength(1);
    expect((await world.report('a'))?.metadata.resourceVersion).toBe(resourceVersion);
    slew('a', 1);
    await world.run(130_000, 500);
    expect(doubt('a', next)).toBeUndefined();
    expect(await daemonWords('a')).not.toContain('clock');
    expect(told()).toHaveLength(1);
  });

  it('stay in doubt where a node falls silent while its clock runs slow, until another boot is heard', async () => {
    await started('a', 'b', 'c');
    slew('a', CHRONY);
    await world.run(65_000, 500);
    world.machines.get('a')?.die('power cut');
    await world.run(300_000, 1_000);
    expect(doubt('a')).toContain('behind ours');
    expect(leader.counts.get('clock-slow')).toBe(1);
  });

  it('are told and not doubted where they are fast: such a node takes itself down earlier', async () => {
    await started('a', 'b', 'c');
    slew('a', 1 + 1 / 12);
    await world.run(240_000, 500);
    expect(doubt('a')).toBeUndefined();
    expect(told()).toEqual([
      expect.stringMatching(/^a Warning ClockDrifts Its clock runs fast by more than 2 % of ours, .* gained \d\.\d s on ours/),
    ]);
  });

  it('are rather our own clock where most of them run wrong in the same way: one problem, and the doubt about each', async () => {
    await started('a', 'b', 'c');
    for (const node of ['a', 'b', 'c']) slew(node, CHRONY);
    await world.run(240_000, 500);
    expect(told()).toEqual([]);
    expect(leader.problems).toEqual([expect.stringContaining('the clocks of most nodes run slow by more than 2 % of ours') as string]);
    expect(['a', 'b', 'c'].filter((node) => doubt(node) === undefined)).toEqual([]);
    expect(await daemonWords('a')).not.toContain('clock');
  });

  it('are measured anew after this process stood still', () => {
    const heartbeats = new Heartbeats();
    const hear = (fromSeconds: number, toSeconds: number, rate: number): void => {
      for (let atMs = fromSeconds * 1_000; atMs < toSeconds * 1_000; atMs += 1_000)
        heartbeats.accept('a', { bootID: 'boot', counter: Math.floor(atMs * rate * 1_000), signs: 0, atMs, wallMs: atMs });
    };
    hear(0, 96, 0.95);
    heartbeats.interrupted(96_000);
    hear(96, 185, 0.95);
    expect(heartbeats.clocks.doubt('a', 'boot')).toBeUndefined();
    hear(185, 205, 0.95);
    expect(heartbeats.clocks.doubt('a', 'boot')).toContain('behind ours');
    heartbeats.retain(() => false);
    expect(heartbeats.clocks.doubt('a', 'boot')).toBeUndefined();
  });

  it('are not known to a leader that has measured nothing yet', async () => {
    await started('a', 'b', 'c');
    slew('a', CHRONY);
    await world.run(100_000, 500);
    const next = world.replica('controller-2', { isLeading: false });
    leader.leadership.isLeading = false;
    next.lead();
    await world.run(40_000, 500);
    expect(doubt('a', next)).toBeUndefined();
  });
});
