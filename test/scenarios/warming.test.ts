import { describe, expect } from 'vitest';
import { condition } from './operator.ts';
import { scenario } from './scenario.ts';
import type { Play } from './scenario.ts';
import { until } from './waiting.ts';

/** Time enough for a login before the off, and no look at a device in its turn meanwhile. */
const DELAY_MS = 4_000;
const SLOW = { power_management_delay: `${DELAY_MS / 1_000}s`, probe_interval: '24h' };
/** The fence itself reads the device when the off is due, and not before. */
const MARGIN_MS = 1_000;

function sessions({ world }: Play, node: string): number {
  return world.bmc(node).device.accounts.createdSessions;
}

describe.concurrent('the BMC of a node that is about to be switched off', () => {
  scenario(
    'is connected and logged in well before the off is due, and by no other session then',
    { probes: true, wrote: (files) => files.set(SLOW) },
    async (play) => {
      const { world, operator } = play;
      world.machine('a').panic();
      await until('somebody logs in', async () => (sessions(play, 'a') > 0 ? true : undefined));
      const loggedInMs = world.clock.wallMs();
      expect(world.witness.sets('a')).toEqual([]);
      const { timeline } = await operator.sees('a', 'proven off', (status) => status.timeline.poweredOffAt !== undefined);
      expect(loggedInMs).toBeLessThan(Date.parse(timeline.isolatedAt ?? '') + DELAY_MS - MARGIN_MS);
      expect([sessions(play, 'a'), sessions(play, 'b')]).toEqual([1, 0]);
    },
  );

  scenario(
    'is left alone while a person has stopped the fence',
    { probes: true, wrote: (files) => files.set({ ...SLOW, power_management_delay: '22s' }) },
    async (play) => {
      const { world, operator } = play;
      world.machine('a').panic();
      await operator.seesState('a', 'running');
      await operator.stop('a', 'look-first', 'I am at the console');
      const stopped = await operator.sees('a', 'stopped', (status) => condition(status, 'Stopped') === 'True StoppedByPerson');
      const isolatedMs = Date.parse(stopped.timeline.isolatedAt ?? '');
      // 20 s before the off is due it would be called.
      await until('it would be called', async () => (world.clock.wallMs() > isolatedMs + 5_000 ? true : undefined));
      expect(sessions(play, 'a')).toBe(0);
      await operator.removeStop('look-first');
      await until('it is called', async () => (sessions(play, 'a') > 0 ? true : undefined));
      expect(world.witness.sets('a')).toEqual([]);
    },
  );
});
