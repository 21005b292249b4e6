import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from './plan.ts';
import type { ActiveHold } from './snapshot.ts';
import { Model, planOf } from './testing/model.ts';

const OBSERVE: ActiveHold = { reason: 'observe', policy: 'observe', message: '--mode observe: nothing is changed' };
const TIMING = { ...DEFAULT_TIMING, isolationDelayMs: 5_000, powerManagementDelayMs: 300_000 };
/** The model's clock on the wall. */
const at = (ms: number): string => new Date(1_700_000_000_000 + ms).toISOString().replace('.000Z', 'Z');

/** A failed node under these holds; its fence has begun. `told`: every event in words. */
function observed(holds: readonly ActiveHold[], more = {}): { model: Model; told: string[]; look: () => void } {
  const model = new Model(planOf({ timing: TIMING, ...more }));
  model.fail();
  model.holds = holds;
  const told: string[] = [];
  const look = (): void => {
    for (let count = 0; count < 3; count += 1) told.push(...model.step().events.map(({ reason, message }) => `${reason}: ${message}`));
  };
  look();
  return { model, told, look };
}

it('a hold whose end no calendar has is on record, without it: nobody is told of one that is not', () => {
  const model = new Model(planOf({ timing: TIMING }));
  model.fail();
  model.holds = [{ reason: 'storm', policy: 'cooldown', message: 'a storm is over', untilMs: Number.MAX_VALUE }];
  for (let count = 0; count < 3; count += 1) model.step();
  expect(model.status.hold).toMatchObject({ policy: 'cooldown' });
  expect(model.status.hold).not.toHaveProperty('until');
  model.holds = [{ reason: 'storm', policy: 'rate', message: 'too many', untilMs: 9e15 }];
  model.step();
  expect(model.status.hold).not.toHaveProperty('until');
});

describe('a fence in mode observe', () => {
  it('says what enforce would do and when, by absolute times, and nothing that sounds as if it happened', () => {
    const { model, told } = observed([OBSERVE]);
    const words = `--mode observe, nothing is changed: would cordon at ${at(model.nowMs + 5_000)}, would switch off by redfish at bmc at ${at(model.nowMs + 305_000)}, and would find no pod to release`;
    expect(told).toEqual(['FailureObserved: Ready is Unknown (NodeStatusUnknown); mode observe: nothing is changed.', `WouldFence: ${words}`]);
    expect(model.status.message).toBe(words);
    expect(model.dispatched).toEqual([]);
  });

  it('says "now" of what would be done already, and keeps the time of what comes after it', () => {
    const { model, look } = observed([OBSERVE]);
    const beganMs = model.nowMs;
    model.nowMs += 100_000;
    look();
    expect(model.status.message).toContain(`would now cordon, would switch off by redfish at bmc at ${at(beganMs + 305_000)}`);
    model.nowMs += 300_000;
    look();
    expect(model.status.message).toContain('would now cordon, would now switch off by redfish at bmc');
  });

  it('says what would hold it and until when, and counts from there, also when the hold is over', () => {
    const grace: ActiveHold = { reason: 'startup-grace', policy: 'startup-grace', message: 'no new fence for 5 min', untilMs: 1_240_000 };
    const { model, look } = observed([OBSERVE, grace]);
    const words = `would be held by startup-grace until ${at(1_240_000)}: no new fence for 5 min; would cordon at ${at(1_240_000)}, would switch off by redfish at bmc at ${at(1_540_000)}`;
    expect(model.status.message).toContain(words);
    expect(model.status.hold?.besides).toEqual([{ reason: 'startup-grace', policy: 'startup-grace', message: grace.message, until: at(1_240_000) }]);
    model.nowMs = 1_240_000;
    model.holds = [OBSERVE];
    look();
    expect(model.status.hold).toMatchObject({ freeSince: expect.stringContaining(at(1_240_000).slice(0, 19)) as string });
    expect(model.status.hold).not.toHaveProperty('besides');
    model.nowMs = 1_340_000;
    look();
    expect(model.status.message).toContain(`would now cordon, would switch off by redfish at bmc at ${at(1_540_000)}`);
  });

  it('says what would come after a hold of which nobody knows the end', () => {
    const many: ActiveHold = { reason: 'max-unhealthy', policy: 'max-unhealthy', message: '5 of 8 are unhealthy' };
    const { model } = observed([OBSERVE, many]);
    expect(model.status.message).toContain(
      'would be held by max-unhealthy: 5 of 8 are unhealthy; once that ends would cordon at once, would switch off by redfish at bmc 300 s later',
    );
  });

  it('says what would be released, or that nothing would be', () => {
    const { model } = observed([OBSERVE], { release: 'none' });
    expect(model.status.message).toContain('and would release nothing (release=none)');
  });
});

describe('a fence in mode observe whose plan cannot be carried out', () => {
  const wrong = { severity: 'error' as const, step: 'power-management' as const, where: 'ConfigMap fence-config-a', message: 'no Secret' };
  it.each([
    ['says where enforce would fail', { problems: [wrong] }, 'would fail at power-management (ConfigMap fence-config-a: no Secret)'],
    ['releases nothing without a proof', { powerManagement: [] }, 'would cordon at'],
  ])('%s', (_what, more, words) => {
    const { model } = observed([OBSERVE], more);
    expect(model.status.message).toContain(words);
    expect(model.status.message).toContain('and would release nothing: nothing of its plan proves that the node cannot write');
  });
});

describe('a hold of mode enforce', () => {
  it('is recorded with its end, told as a moment, and with what holds besides', () => {
    const grace: ActiveHold = { reason: 'startup-grace', policy: 'startup-grace', message: 'no new fence for 5 min', untilMs: 1_240_000 };
    const many: ActiveHold = { reason: 'max-unhealthy', policy: 'max-unhealthy', message: '5 of 8 are unhealthy' };
    const { model, told, look } = observed([grace, many]);
    expect(told).toContain(`FencingHeld: Held by startup-grace: no new fence for 5 min (until ${at(1_240_000)})`);
    expect(model.status.hold).toMatchObject({ until: at(1_240_000), besides: [{ policy: 'max-unhealthy', message: '5 of 8 are unhealthy' }] });
    expect(model.status.message).toBe(`no new fence for 5 min (until ${at(1_240_000)})`);
    model.nowMs += 1_000;
    model.holds = [grace];
    look();
    expect(model.status.hold).not.toHaveProperty('besides');
  });
});
