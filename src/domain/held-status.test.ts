import { describe, expect, it } from 'vitest';
import { staleHold } from './health.ts';
import { recordOf } from './incident-record.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import type { ActiveHold } from './snapshot.ts';
import { Model } from './testing/model.ts';

const OBSERVE: ActiveHold = { reason: 'observe', policy: 'observe', message: '--mode observe: nothing is changed' };
const MANY: ActiveHold = { reason: 'max-unhealthy', policy: 'max-unhealthy', message: '5 of 8 are unhealthy' };
const LEASE: ActiveHold = { reason: 'medik8s-lease', policy: 'medik8s-lease', message: 'somebody has the node' };
const SECOND_MS = 1_000;

/** A failed node whose fence these hold, looked at for an hour; every hold that was written, as JSON. */
function heldFor(hour: (round: number, nowMs: number) => readonly ActiveHold[]): Set<string> {
  const model = new Model();
  model.fail();
  const written = new Set<string>();
  for (let round = 0; round < 72; round += 1) {
    model.holds = hour(round, model.nowMs);
    for (let count = 0; count < 3; count += 1) model.step();
    // The alarm is told once.
    const { alarmedAt: _alarmedAt, ...hold } = model.status.hold ?? {};
    written.add(JSON.stringify([model.status.message, hold]));
    model.nowMs += 50 * SECOND_MS;
  }
  return written;
}

/** Of watches that are silent every second time. */
function flapping(round: number, nowMs: number): ActiveHold[] {
  const unheard = staleHold(nowMs - round * SECOND_MS - 31 * SECOND_MS, 30 * SECOND_MS, nowMs);
  return round % 2 === 1 && unheard !== undefined ? [unheard] : [];
}

describe('the status of a fence that is held', () => {
  it('is written once for as long as the same holds say the same', () => {
    expect(heldFor(() => [MANY, LEASE])).toHaveLength(1);
  });

  it('is not written anew where watches come and go, which it says nothing of while others hold it', () => {
    expect(heldFor((round, nowMs) => [...flapping(round, nowMs), MANY])).toHaveLength(1);
    expect(heldFor((round, nowMs) => [MANY, ...flapping(round, nowMs), LEASE])).toHaveLength(1);
  });

  it('says who else holds it as soon as that changes', () => {
    expect(heldFor((round) => (round < 36 ? [MANY] : [MANY, LEASE]))).toHaveLength(2);
  });

  it('is brought up to date where words change, at most once a minute', () => {
    const written = heldFor((round) => [{ ...MANY, message: `${round} of 100 are unhealthy` }]);
    expect(written.size).toBeGreaterThan(30);
    expect(written.size).toBeLessThanOrEqual(37);
  });

  it('says so where nothing but a silent watch holds it', () => {
    const [hold] = heldFor((_round, nowMs) => flapping(1, nowMs));
    expect(hold).toContain('stale-view');
  });

  it('says of mode observe what it would do, and not anew where watches come and go', () => {
    const written = [...heldFor((round, nowMs) => [OBSERVE, MANY, ...flapping(round, nowMs)])];
    expect(written).toHaveLength(1);
    expect(written.join()).toContain('would be held by max-unhealthy');
  });
});

describe('what has held a fence', () => {
  const told = (status: NodeFenceStatus): unknown => status.conditions.find(({ type }) => type === 'Held');
  const held = (): Model => {
    const model = new Model();
    model.fail();
    model.holds = [MANY];
    for (let count = 0; count < 3; count += 1) model.step();
    return model;
  };

  it('stays in the condition Held when it is over, until something else holds', () => {
    const model = held();
    expect(told(model.status)).toMatchObject({ status: 'True', reason: 'MaxUnhealthy', message: '5 of 8 are unhealthy' });
    model.holds = [];
    model.next();
    const over = { status: 'False', reason: 'HoldOver', message: 'max-unhealthy: 5 of 8 are unhealthy' };
    expect(told(model.status)).toMatchObject(over);
    for (let count = 0; count < 5; count += 1) model.next();
    expect(model.status.journal).not.toEqual([]);
    expect(told(model.status)).toMatchObject(over);
    model.holds = [LEASE];
    model.step();
    expect(told(model.status)).toMatchObject({ status: 'True', message: 'somebody has the node' });
  });

  it('is on the record of an incident that was held before anything was done', () => {
    const model = held();
    expect(recordOf(model.status, undefined)).toBeUndefined();
    model.holds = [];
    for (let count = 0; count < 3; count += 1) model.next();
    expect(recordOf(model.status, undefined)).toMatchObject({ heldBy: 'max-unhealthy: 5 of 8 are unhealthy' });
  });

  it('is nothing where nothing held it', () => {
    const model = new Model();
    model.fail();
    for (let count = 0; count < 5; count += 1) model.next();
    expect(told(model.status)).toMatchObject({ status: 'False', reason: 'NotHeld', message: '' });
    expect(recordOf(model.status, undefined)).not.toHaveProperty('heldBy');
  });
});

describe('the alarm of a fence that waits', () => {
  const MINUTE_MS = 60 * SECOND_MS;
  const STOP = { by: 'NodeFenceStop s', reason: 'works' };

  /** Minutes at which an Event said that it waits for too long, and its words, where this stands in each minute. */
  function alarms(minutes: number, standing: (minute: number) => { holds: readonly ActiveHold[]; isStopped?: boolean }): [number, string][] {
    const model = new Model();
    model.fail();
    const told: [number, string][] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      const { holds, isStopped = false } = standing(minute);
      model.holds = holds;
      model.stop = isStopped ? STOP : undefined;
      for (let count = 0; count < 3; count += 1) {
        const { events } = model.step();
        for (const event of events) if (event.reason === 'FencingHeldTooLong') told.push([minute, event.message]);
      }
      model.nowMs += MINUTE_MS;
    }
    return told;
  }

  it('comes after `alarm_after` also where one hold takes turns with another: it waits all the same', () => {
    const told = alarms(60, (minute) => ({ holds: [Math.floor(minute / 10) % 2 === 0 ? MANY : LEASE] }));
    expect(told.map(([minute]) => minute)).toEqual([16]);
    expect(told[0]?.[1]).toMatch(/^Held for more than 900 s, now by medik8s-lease since \S+: somebody has the node\./u);
  });

  it('comes once where clocks are set back meanwhile', () => {
    const model = new Model();
    model.fail();
    model.holds = [MANY];
    const told: string[] = [];
    for (let minute = 0; minute < 40; minute += 1) {
      for (let count = 0; count < 3; count += 1) told.push(...model.step().events.map(({ reason }) => reason));
      if (minute === 10) model.wallBackMs = 7_200_000;
      model.nowMs += MINUTE_MS;
    }
    expect(told.filter((reason) => reason === 'FencingHeldTooLong')).toHaveLength(1);
  });

  it('comes again for the hold that then stays', () => {
    const told = alarms(60, (minute) => ({ holds: [minute < 20 ? MANY : LEASE] }));
    expect(told.map(([minute]) => minute)).toEqual([16, 35]);
    expect(told[0]?.[1]).toMatch(/^Held by max-unhealthy for more than 900 s, since /u);
  });

  it('does not count what came before a break, a stop of a person, or mode observe', () => {
    const over = (minute: number, between: { holds: readonly ActiveHold[]; isStopped?: boolean }): ReturnType<Parameters<typeof alarms>[1]> =>
      minute === 10 ? between : { holds: [minute < 10 ? MANY : LEASE] };
    const first = (between: Parameters<typeof over>[1]): (number | undefined)[] =>
      alarms(40, (minute) => over(minute, between)).map(([minute]) => minute);
    expect([first({ holds: [], isStopped: true }), first({ holds: [OBSERVE] })]).toEqual([[26], [26]]);
  });
});
