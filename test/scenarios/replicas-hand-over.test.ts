import { describe, expect } from 'vitest';
import type { DeviceEvent, TraceEvent } from '../../src/laws/trace.ts';
import { journal } from './operator.ts';
import { replicated, seen, TAKE_OVER_MS, terms } from './replicated-world.ts';
import { until } from './waiting.ts';

const LEASE_MS = 15_000;

function isSetOff(event: TraceEvent): event is DeviceEvent {
  return event.kind === 'device' && event.action === 'set' && event.want === 'off';
}

describe.concurrent('the leader leaves in the middle of a fence', () => {
  replicated('SIGTERM: the lease is handed over, nobody waits for it to expire, and the successor ends the fence', 180_000, async (play) => {
    const { world, operator, leader, standby } = play;
    world.machine('a').panic();
    await operator.sees('a', 'isolated', ({ timeline }) => timeline.isolatedAt !== undefined);
    leader.signal('SIGTERM');
    const askedAt = world.clock.wallMs();
    expect(await leader.exit()).toBe(0);
    await standby.says('leading', TAKE_OVER_MS);
    const [first, second] = terms(play);
    expect(second?.epoch).toBe((first?.epoch ?? 0) + 1);
    // A lease that was left to expire would have stood for its whole length after the last renewal.
    expect((second?.fromMs ?? Infinity) - Math.max(askedAt, first?.lastMs ?? 0)).toBeLessThan(LEASE_MS);
    const status = await operator.seesRecovery('a');
    expect(journal(status).filter((run) => run.startsWith('mark-unschedulable'))).toEqual(['mark-unschedulable run succeeded']);
    expect(status.timeline.releasedAt).toBeDefined();
    expect(leader.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  replicated('killed with the off open: the successor reads the device before it switches anything, and sends its own off', 240_000, async (play) => {
    const { world, operator, leader, standby } = play;
    // The off takes effect while nobody leads.
    world.bmc('a').device.faults = { offDelayMs: 3_000 };
    world.machine('a').panic();
    const off = await seen(play, 'the BMC is told off', isSetOff);
    expect((await operator.status('a'))?.journal.some((entry) => entry.action === 'off' && entry.finishedAt === undefined)).toBe(true);
    await leader.kill();
    await standby.says('leading', TAKE_OVER_MS);
    const second = terms(play)[1];
    expect(second?.fromMs).toBeGreaterThan(off.at + LEASE_MS - 3_000);
    const status = await operator.seesRecovery('a');
    expect(journal(status).filter((run) => run.startsWith('redfish-off'))).toEqual(['redfish-off off found-done', 'redfish-off off succeeded']);
    const later = world.witness.deviceEvents('a').filter(({ at, action }) => at > off.at && action !== 'login');
    const bySuccessor = later.filter(({ session }) => session !== off.session);
    expect(bySuccessor[0]?.at).toBeGreaterThan(second?.fromMs ?? Infinity);
    const untilSet = bySuccessor.slice(0, bySuccessor.findIndex(isSetOff));
    expect(untilSet.some(({ action, shown }) => action === 'read' && shown === 'off')).toBe(true);
    expect(world.witness.sets('a')).toEqual(['off 204', 'off 204', 'on 204']);
  });

  replicated('SIGSTOP between reading the device and setting it: the old leader begins no device call when it wakes up', 240_000, async (play) => {
    const { world, operator, leader, standby } = play;
    // A byte at a time: the answer to the identity is under way when the leader stops.
    world.bmc('a').device.faults = { dripMs: 2 };
    world.machine('a').panic();
    const shown = await seen(
      play,
      'the BMC shows its identity',
      (event): event is DeviceEvent => event.kind === 'device' && event.action === 'identity' && event.node === 'a',
    );
    leader.signal('SIGSTOP');
    world.bmc('a').device.faults = {};
    expect(world.witness.sets('a')).toEqual([]);
    await standby.says('leading', TAKE_OVER_MS);
    const status = await operator.seesRecovery('a');
    leader.signal('SIGCONT');
    expect(await leader.exit()).toBe(1);
    expect(leader.log.at(-1)?.message).toBe('the process ends so that nothing acts without a lease');
    expect(world.witness.deviceEvents('a').filter(({ session, action }) => session === shown.session && action === 'set')).toEqual([]);
    expect(world.witness.sets('a')).toEqual(['off 204', 'on 204']);
    await until('nothing was written by the old leader', async () =>
      JSON.stringify((await operator.status('a'))?.timeline) === JSON.stringify(status.timeline) ? true : undefined,
    );
  });
});
