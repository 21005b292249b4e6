import { afterEach, describe, expect, it } from 'vitest';
import { HOLD, OUT_OF_SERVICE } from '../../src/controllers/machine-remediation/names.ts';
import { ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** The kubelet of n1 has said nothing for a minute, with a volume mounted, and somebody asks. */
async function failed(how: Parameters<ShellWorld['start']>[0] = {}): Promise<Replica> {
  world = await ShellWorld.create();
  await world.attach('n1');
  await world.attach('n2');
  const replica = world.start(how);
  await world.pass(30 * SECOND_MS);
  world.hardware('n1').isBroken = true;
  await world.pass(MINUTE_MS);
  world.detaches = false;
  await world.ask('n1');
  return replica;
}

const taints = async (): Promise<unknown[]> => ((await world.node('n1'))?.spec.taints ?? []).filter(({ key }) => key === OUT_OF_SERVICE.key);
const isHeld = async (): Promise<boolean> => (await world.host('n1'))?.metadata.annotations?.[HOLD] !== undefined;

describe('a Machine whose Node has volumes', { timeout: 60_000 }, () => {
  it('has its Node tainted under the shipped rights, and deleted when its volumes are detached', async () => {
    const { events, warnings } = await failed();
    await world.pass(30 * SECOND_MS);
    expect(await taints()).toEqual([OUT_OF_SERVICE]);
    expect(world.hardware('n1')).toMatchObject({ isOn: false, offs: 1 });
    world.detaches = true;
    await world.pass(5 * SECOND_MS);
    expect([await world.node('n1'), await world.attached('n1'), await world.attached('n2')]).toEqual([undefined, 0, 1]);
    world.hardware('n1').isBroken = false;
    await world.pass(3 * MINUTE_MS);
    expect([await world.left('n1'), await taints(), warnings]).toEqual([[], [], []]);
    expect(events.map((event) => event.split(' ').slice(0, 4).join(' ')).slice(1, 3)).toEqual([
      'Node n1 Normal NodeOutOfService',
      'Node n1 Normal NodeDeleted',
    ]);
  });

  it('has its Node deleted after two minutes all the same, and a person is told', async () => {
    const { events, warnings } = await failed();
    await world.pass(MINUTE_MS + 50 * SECOND_MS);
    expect(await world.node('n1')).toBeDefined();
    await world.pass(40 * SECOND_MS);
    expect(await world.node('n1')).toBeUndefined();
    const told = 'node n1 is deleted while 1 volume of it is still attached, after a wait of 120 s: the cluster may take six minutes to detach it';
    expect(warnings.join()).toContain(told);
    expect(events.join()).toContain(told);
  });

  it('has its Node deleted at once, with a word, where the API server refuses the taint', async () => {
    const { warnings } = await failed();
    world.refuseTaints(403);
    await world.pass(MINUTE_MS);
    expect(await world.node('n1')).toBeUndefined();
    expect(warnings.join()).toContain('node n1 is deleted while 1 volume of it is still attached');
  });

  it('has its Node deleted after two minutes where the taint can not be set for so long', async () => {
    const { warnings } = await failed();
    world.refuseTaints(500);
    await world.pass(2 * MINUTE_MS);
    expect(await world.node('n1')).toBeDefined();
    await world.pass(2 * MINUTE_MS);
    expect(await world.node('n1')).toBeUndefined();
    expect(warnings.join()).toContain('node n1 is deleted while 1 volume of it is still attached, after a wait of 120 s');
  });

  it('has the taint taken back, and its host on, when the request is taken away', async () => {
    await failed();
    await world.pass(30 * SECOND_MS);
    const before = await world.node('n1');
    await world.unask('n1');
    await world.pass(20 * SECOND_MS);
    expect([await taints(), await isHeld(), world.hardware('n1').isOn]).toEqual([[], false, true]);
    expect((await world.node('n1'))?.metadata.uid).toBe(before?.metadata.uid);
  });

  it('has the taint taken back by a successor that finds nothing else', async () => {
    const first = await failed();
    await world.pass(30 * SECOND_MS);
    first.leadership.isLeading = false;
    await first.close();
    await world.unask('n1');
    await world.letGo('n1');
    world.start();
    await world.pass(30 * SECOND_MS);
    expect(await taints()).toEqual([]);
  });

  it.each(['lost', 'unanswered'] as const)(
    'is brought back with no host off, no mark, no taint and no lock, wherever its controller dies (%s)',
    async (lastFate) => {
      let count = 1;
      for (let isOver = false; !isOver; count += 1) {
        const at = count;
        const first = await failed({ fate: (_write, number) => (number < at ? 'done' : number === at ? lastFate : 'lost') });
        world.detaches = true;
        world.hardware('n1').isBroken = false;
        for (let tries = 0; tries < 90 && first.writes.length < at; tries += 1) await world.pass(SECOND_MS);
        isOver = first.writes.length < at;
        first.leadership.isLeading = false;
        await first.close();
        await world.pass(20 * SECOND_MS);
        world.start();
        await world.pass(8 * MINUTE_MS);
        const words = `write ${at} ${lastFate}`;
        expect(world.hardware('n1'), words).toMatchObject({ isOn: true, offs: 1 });
        expect([await world.left('n1'), await taints(), await world.holder('n1'), await world.attached('n1')], words).toEqual([[], [], undefined, 0]);
        await world.end();
      }
      expect(count).toBeGreaterThan(9);
    },
  );
});
