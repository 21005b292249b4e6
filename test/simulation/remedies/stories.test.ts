import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../../src/testbed/simulation/port.ts';
import type { Disturbance } from '../scenario.ts';
import { answered, played, quietWorld, says, writesOf } from './testing.ts';

const TIMEOUT_MS = 240_000;

function crash(tag: string, nth: number): CrashPoint {
  return { tag, nth, moment: 'after-effect', stopMs: 0 };
}

/** The leader is told to end, and another one comes. */
function takeOver(atMs: number): Disturbance {
  return { what: 'terminate', who: 'leader', atMs, durationMs: 0 };
}

describe('a world with remedies', { timeout: TIMEOUT_MS }, () => {
  it('answers a condition by one Job on another node, and forgets it when it is over', async () => {
    const { violations, lines, checks } = await played(
      quietWorld({ thresholds: [answered(['mend'])], monitors: [says('a', { 20: 'True', 32: 'False' })] }),
    );
    expect(violations).toEqual([]);
    expect(writesOf(lines, /jobs/)).toEqual([expect.stringMatching(/^2[567] create jobs.batch\/nodefence-system\/nr-mend-/)]);
    expect(checks).toMatchObject({ once: 1, written: 1, place: 1 });
  });

  it('has one Job although its controller dies when it was created', async () => {
    const world = quietWorld(
      { thresholds: [answered(['mend-slowly'])], monitors: [says('b', { 32: 'True', 90: 'False' })] },
      { crashes: [crash('jobs-write', 1)], restartAfterMs: 2_000 },
    );
    const { violations, lines, struck } = await played(world);
    expect([struck, violations]).toEqual([1, []]);
    expect(writesOf(lines, /jobs/)).toHaveLength(1);
  });

  it('takes the cordon of a remedy back that died behind it, although its condition is over before the next controller looks', async () => {
    const world = quietWorld(
      { thresholds: [answered(['drain'], { recovery: 'uncordon' })], monitors: [says('b', { 32: 'True', 40: 'False' })] },
      { crashes: [crash('nodes-write', 1)], restartAfterMs: 20_000 },
    );
    const { violations, lines, struck } = await played(world);
    expect([struck, violations]).toEqual([1, []]);
    expect(writesOf(lines, /patch nodes\/b/)).toHaveLength(2);
  });

  it('takes the cordon back by a controller that did not set it', async () => {
    const world = quietWorld(
      { thresholds: [answered(['cordon'], { recovery: 'uncordon' })], monitors: [says('b', { 20: 'True', 60: 'False' })] },
      { controllers: 2, disturbances: [takeOver(40_000)] },
    );
    const { violations, lines } = await played(world);
    expect(violations).toEqual([]);
    expect(writesOf(lines, /patch nodes\/b/)).toHaveLength(2);
  });

  it('leaves a cordon that somebody set after theirs was taken away', async () => {
    const world = quietWorld({
      thresholds: [answered(['cordon'], { recovery: 'uncordon' })],
      monitors: [says('b', { 20: 'True', 60: 'False' })],
      deeds: [{ what: 'cordon', how: 'again', node: 'b', atMs: 40_000, durationMs: 60_000 }],
    });
    const { violations, lines } = await played(world);
    expect(violations).toEqual([]);
    expect(writesOf(lines, /patch nodes\/b/)).toHaveLength(2);
  });

  it('counts what a controller before it has begun: one node of three', async () => {
    const world = quietWorld(
      {
        thresholds: [answered(['mend'])],
        // The name that comes first is looked at first.
        monitors: [says('c', { 20: 'True', 120: 'False' }), says('a', { 30: 'True', 110: 'False' })],
      },
      { controllers: 2, disturbances: [takeOver(50_000)], configuration: { ...quietWorld({ thresholds: [] }).configuration, policies: 'prompt' } },
    );
    const { violations, checks } = await played(world);
    expect(violations).toEqual([]);
    expect(checks['max-unhealthy']).toBeGreaterThan(0);
  });

  it('takes a request back whose threshold was configured away', async () => {
    const world = quietWorld({
      thresholds: [answered(['storage-fence'])],
      monitors: [says('b', { 20: 'True', 200: 'False' })],
      deeds: [{ what: 'configure', how: 'removed', atMs: 60_000, durationMs: 0 }],
    });
    const { violations, lines } = await played(world);
    expect(violations).toEqual([]);
    expect(writesOf(lines, /create nodefences/)).toHaveLength(1);
  });

  it('isolates a node no longer than its condition stands, whatever the recovery and the cooldown are', async () => {
    const world = quietWorld({
      thresholds: [answered(['storage-fence'], { recovery: 'uncordon', cooldownSeconds: 900 })],
      monitors: [says('b', { 20: 'True', 60: 'False' })],
    });
    const { violations, lines } = await played(world);
    expect(violations).toEqual([]);
    // It is marked as taken up first; the other one takes the request back.
    expect(writesOf(lines, /patch nodefences/)).toEqual([expect.stringMatching(/^25 /), expect.stringMatching(/^70 /)]);
  });

  // Every second that the off waits for behind isolation is one that the fence takes longer, and so the remedy behind it comes later.
  it.each([
    [0, 93],
    [2_000, 95],
  ])(
    'begins nothing under a stop, ends what runs when a fence takes over, and begins anew behind it, with power_management_delay %i ms in second %i',
    async (powerManagementDelayMs, anewAt) => {
      const world = quietWorld(
        {
          thresholds: [answered(['wedge', 'mend'], { maxAttempts: 2 })],
          monitors: [says('a', { 20: 'True', 100: 'False' }), says('b', { 20: 'True', 100: 'False' })],
          deeds: [{ what: 'stop', node: 'b', atMs: 22_000, durationMs: 90_000 }],
        },
        // Between two renewals: one that is under way at the fault may count or not.
        { fault: 'panic', faultAtMs: 29_000, configuration: { ...quietWorld({ thresholds: [] }).configuration, powerManagementDelayMs } },
      );
      const { violations, lines } = await played(world);
      expect(violations).toEqual([]);
      expect(writesOf(lines, /jobs/)).toEqual([
        expect.stringMatching(/^25 create /),
        expect.stringMatching(/^53 delete /),
        expect.stringMatching(new RegExp(`^${anewAt} create `)),
      ]);
    },
  );
});
