import { describe, expect } from 'vitest';
import type { NodeFence } from '../../src/ports/resources.ts';
import { NODE_FENCES } from '../../src/ports/resources.ts';
import { HeldClock } from './held-clock.ts';
import { condition } from './operator.ts';
import { scenario } from './scenario.ts';
import type { Play } from './scenario.ts';
import { until } from './waiting.ts';

/** Time enough for a login before the off, and no look at a device in its turn meanwhile. */
const DELAY_MS = 4_000;
const SLOW = { power_management_delay: `${DELAY_MS / 1_000}s`, probe_interval: '24h' };
/** From then on the clock stands still: the fence itself reads the device when the off is due, and not before. */
const HELD_AFTER_MS = 2_000;

function sessions({ world }: Play, node: string): number {
  return world.bmc(node).device.accounts.createdSessions;
}

/** When the node was isolated, as its NodeFence says; undefined: it was not. */
async function isolatedAtMs({ world }: Play, node: string): Promise<number | undefined> {
  const fence = await world.cluster.get<NodeFence>(NODE_FENCES, `node-fence-${node}`);
  const isolatedAt = fence?.status?.timeline.isolatedAt;
  return isolatedAt === undefined ? undefined : Date.parse(isolatedAt);
}

/** However long the login takes on a busy machine, the off is not due before it. */
const clock = (): HeldClock => new HeldClock();

describe.concurrent('the BMC of a node that is about to be switched off', () => {
  scenario(
    'is connected and logged in well before the off is due, and by no other session then',
    { probes: true, clock, wrote: (files) => files.set(SLOW) },
    async (play) => {
      const { world, operator } = play;
      let isHeld = true;
      let heldFromMs = Number.POSITIVE_INFINITY;
      play.clock?.holdWhile(() => isHeld && world.clock.wallMs() >= heldFromMs);
      world.machine('a').panic();
      heldFromMs = (await until('it is isolated', () => isolatedAtMs(play, 'a'))) + HELD_AFTER_MS;
      await until('somebody logs in', async () => (sessions(play, 'a') > 0 ? true : undefined));
      expect(world.witness.sets('a')).toEqual([]);
      expect(world.clock.wallMs()).toBeLessThan(heldFromMs - HELD_AFTER_MS + DELAY_MS);
      isHeld = false;
      await operator.sees('a', 'proven off', (status) => status.timeline.poweredOffAt !== undefined);
      expect([sessions(play, 'a'), sessions(play, 'b')]).toEqual([1, 0]);
    },
  );

  scenario(
    'is left alone while a person has stopped the fence',
    { probes: true, clock, wrote: (files) => files.set({ ...SLOW, power_management_delay: '22s' }) },
    async (play) => {
      const { world, operator } = play;
      let isHeld = false;
      play.clock?.holdWhile(() => isHeld);
      world.machine('a').panic();
      const isolatedMs = await until('it is isolated', () => isolatedAtMs(play, 'a'));
      // Before anybody would call it: 20 s before the off is due.
      isHeld = true;
      expect(world.clock.wallMs()).toBeLessThan(isolatedMs + 2_000);
      await operator.stop('a', 'look-first', 'I am at the console');
      isHeld = false;
      await operator.sees('a', 'stopped', (status) => condition(status, 'Stopped') === 'True StoppedByPerson');
      await until('it would be called', async () => (world.clock.wallMs() > isolatedMs + 5_000 ? true : undefined));
      expect(sessions(play, 'a')).toBe(0);
      await operator.removeStop('look-first');
      await until('it is called', async () => (sessions(play, 'a') > 0 ? true : undefined));
      expect(world.witness.sets('a')).toEqual([]);
    },
  );
});
