import { describe, expect, it } from 'vitest';
import { externalFleet, fleet, seedFleet, setNode } from './fleet.ts';
import type { State } from './fleet.ts';
import { requestObject } from './objects.ts';

/** So many failed machines, and the others well. */
function mixed(failed: number, total: number): Record<string, State> {
  return Object.fromEntries(Array.from({ length: total }, (_none, index) => [`m${index}`, index < failed ? 'failed' : 'well'] as const));
}

const atMost = (maximum: number | string): object => ({ triggerIf: { unhealthyLessThanOrEqualTo: maximum } });
const within = (range: string): object => ({ triggerIf: { unhealthyInRange: range } });

describe('remediation', () => {
  it.each([
    [2, 5, '40%', true],
    [3, 5, '40%', false],
    // 40% of 4 is 1.6: rounded down.
    [1, 4, '40%', true],
    [2, 4, '40%', false],
    [2, 5, 2, true],
    [3, 5, 2, false],
    [0, 5, 0, true],
    [1, 5, 0, false],
  ])('of %i of %i machines under at most %s is allowed: %s', (failed, total, maximum, isAllowed) => {
    const world = fleet(mixed(failed, total), { remediation: atMost(maximum) });
    world.settle();
    expect(world.checkCondition('mhc', 'RemediationAllowed')?.status).toBe(isAllowed ? 'True' : 'False');
    expect(world.condition('m0', 'OwnerRemediated') !== undefined).toBe(isAllowed && failed > 0);
  });

  it.each([
    [1, 5, '40%', true],
    // Two of five are 40%: at the threshold.
    [2, 5, '40%', false],
    // One of four is less than 40%, whatever it is rounded to.
    [1, 4, '40%', true],
    [2, 4, '40%', false],
    [1, 5, 2, true],
    [2, 5, 2, false],
    [3, 5, 2, false],
    [5, 5, undefined, true],
  ])('in the seed’s shape of %i of %i machines under %s is allowed: %s', (failed, total, maxUnhealthy, isAllowed) => {
    const world = seedFleet(mixed(failed, total), maxUnhealthy === undefined ? {} : { maxUnhealthy });
    const { views } = world.settle();
    expect(views[0]?.blocked === undefined).toBe(isAllowed);
    expect(world.condition('m0', 'OwnerRemediated') !== undefined).toBe(isAllowed);
  });

  it('at the threshold of the seed is told in its words', () => {
    expect(seedFleet(mixed(2, 5), { maxUnhealthy: '40%' }).settle().views[0]?.blocked).toBe(
      'Remediation is not allowed, the number of not started or unhealthy machines is at or above maxUnhealthy (total: 5, unhealthy: 2, maxUnhealthy: 40%)',
    );
  });

  it.each([
    [2, false],
    [3, true],
    [5, true],
    [6, false],
  ])('of %i machines within [3-5] is allowed: %s', (failed, isAllowed) => {
    const world = fleet(mixed(failed, 8), { remediation: within('[3-5]') });
    const { views } = world.settle();
    expect(views[0]?.blocked === undefined).toBe(isAllowed);
    expect(views[0]?.remediationsAllowed).toBe(isAllowed ? 5 - failed : 0);
  });

  it('that is not allowed marks no machine for it, and says everywhere that the check failed', () => {
    const world = fleet(mixed(3, 5), { remediation: atMost('40%') });
    world.settle();
    for (const name of ['m0', 'm1', 'm2']) {
      expect(world.condition(name, 'HealthCheckSucceeded')?.status).toBe('False');
      expect(world.condition(name, 'OwnerRemediated')).toBe(undefined);
    }
    const message =
      'Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: 5, unhealthy: 3, maxUnhealthy: 40%)';
    const said = { status: 'False', reason: 'TooManyUnhealthy', message };
    expect(world.checkCondition('mhc', 'RemediationAllowed', 'v1beta2')).toMatchObject(said);
    expect(world.checkCondition('mhc', 'RemediationAllowed', 'v1beta1')).toMatchObject({ ...said, severity: 'Warning' });
    const restricted = world.done.flatMap(({ target, events = [] }) => events.map((event) => [target.name, event]));
    expect(restricted).toEqual([['mhc', { type: 'Warning', reason: 'RemediationRestricted', message }]]);
  });

  it('outside of a range is told with the range', () => {
    const world = fleet(mixed(2, 8), { remediation: within('[3-5]') });
    expect(world.settle().views[0]?.blocked).toBe(
      'Remediation is not allowed, the number of not started or unhealthy machines does not fall within the range (total: 8, unhealthy: 2, unhealthyRange: [3-5])',
    );
  });

  it('counts machines that are pending, starting or being deleted as unhealthy, and restricts nothing while none has failed', () => {
    const world = fleet({ a: 'pending', b: 'starting', c: 'well', d: 'well' }, { parts: { c: { isDeleting: true } }, remediation: atMost(2) });
    world.settle();
    expect(world.status('mhc')).toMatchObject({ expectedMachines: 4, currentHealthy: 1, remediationsAllowed: 0 });
    expect(world.checkCondition('mhc', 'RemediationAllowed')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('unhealthy: 0') as string,
    });
    expect(world.events()).toEqual([]);
  });

  it('is looked at again after a short circuit, when a machine comes due and when one has recovered', () => {
    const world = fleet({ a: 'failed', b: 'failed', c: 'pending', d: 'well', e: 'well' }, { remediation: atMost(2) });
    expect(world.settle()).toMatchObject({ views: [{ blocked: expect.any(String) as string }], nextDueMs: world.nowMs + 201_000 });
    setNode(world, 'c', 'well');
    world.settle();
    expect(['a', 'b'].map((name) => world.condition(name, 'OwnerRemediated')?.status)).toEqual(['False', 'False']);
    expect(world.checkCondition('mhc', 'RemediationAllowed')).toMatchObject({ status: 'True', reason: 'RemediationAllowed' });
  });

  it('that is not allowed any more leaves requests that are under way, and takes those of healthy machines away', () => {
    const requests = [requestObject('m0'), requestObject('m4')];
    const world = externalFleet(mixed(3, 5), { remediation: atMost(2), requests });
    world.settle();
    expect(world.requestNames()).toEqual(['m0']);
  });

  it('tells as remediationsAllowed how many more machines may become unhealthy', () => {
    const world = fleet(mixed(1, 5), { remediation: atMost(3) });
    world.settle();
    expect(world.status('mhc')['remediationsAllowed']).toBe(2);
  });
});
