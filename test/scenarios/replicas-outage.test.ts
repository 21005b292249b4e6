import { describe, expect } from 'vitest';
import type { DeviceEvent, TraceEvent } from '../../src/laws/trace.ts';
import { replicated, seen, TAKE_OVER_MS, terms } from './replicated-world.ts';
import { until } from './waiting.ts';

const OUTAGE_MS = 60_000;

function isSetOff(event: TraceEvent): event is DeviceEvent {
  return event.kind === 'device' && event.action === 'set' && event.want === 'off';
}

describe.concurrent('the API server is gone for a minute in the middle of a fence', () => {
  for (const how of ['silent', 'refuse'] as const) {
    replicated(`${how}: nothing is set while it is gone, nobody is ready, and the fence ends well afterwards`, 300_000, async (play) => {
      const { world, served, operator, leader, standby } = play;
      world.machine('a').panic();
      const off = await seen(play, 'the BMC is told off', isSetOff);
      await served.shell.pause(how);
      const goneAt = performance.now();
      expect(await leader.exit()).toBe(1);
      await standby.isReadyz(503, OUTAGE_MS);
      await until('the minute is over', async () => (performance.now() - goneAt >= OUTAGE_MS ? true : undefined), OUTAGE_MS + 10_000);
      expect(world.witness.sets('a')).toEqual(['off 204']);
      expect(world.witness.releases()).toEqual([]);
      await served.shell.resume();
      await standby.isReadyz(200, TAKE_OVER_MS);
      const status = await operator.sees('a', 'recovered', ({ state, outcome }) => state === 'final' && outcome === 'recovered', TAKE_OVER_MS);
      expect(status.timeline.releasedAt).toBeDefined();
      expect(terms(play)).toHaveLength(2);
      const own = world.witness.deviceEvents('a').filter((event) => isSetOff(event) && event.session !== off.session);
      expect(own.length).toBeGreaterThan(0);
    });
  }
});
