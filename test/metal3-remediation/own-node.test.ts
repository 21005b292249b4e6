import { describe, expect, it } from 'vitest';
import { Operator } from '../baremetal-host/operator.ts';
import { HOLD, MINUTE_MS, SECOND_MS, World } from './world.ts';

const OWN_NODE = { reason: 'own-node', message: 'this controller runs on it', isStop: false };

/** A predecessor has asked for the off of a host whose BMC does not obey yet. */
function asked(): World {
  const world = new World({ operator: new Operator({ bmc: 'stuck-on' }) });
  world.run(30 * SECOND_MS);
  expect(world.operator.annotations[HOLD]).toBeDefined();
  return world;
}

describe('the host of the node that the leader runs on', () => {
  it('is not to be switched off any more: what a predecessor asked for is withdrawn, reported once, and not asked for again', () => {
    const world = asked();
    world.holds = [OWN_NODE];
    world.run(10 * SECOND_MS);
    expect(world.operator.annotations[HOLD]).toBeUndefined();
    world.operator.bmc = 'well';
    world.run(5 * MINUTE_MS);
    expect(world.operator.isOn).toBe(true);
    expect(world.kinds().filter((kind) => kind === 'PowerOffWithdrawn')).toHaveLength(1);
    expect([...world.problems].join()).toContain('own-node');
  });

  it('is remediated once somebody else leads', () => {
    const world = asked();
    world.holds = [OWN_NODE];
    world.run(MINUTE_MS);
    world.holds = [];
    world.operator.bmc = 'well';
    world.run(10 * MINUTE_MS);
    expect(world.operator).toMatchObject({ offs: 1, ons: 1, isOn: true });
    expect(world.kinds()).toContain('RemediationFinished');
  });

  it('is let on after the taint of the release is gone, where nobody can say any more that it is off', () => {
    const world = new World({ servesOutOfService: true });
    while (!world.kinds().includes('NodeOutOfService')) if (world.step(1) === 0) world.pass(5 * SECOND_MS);
    world.operator.operationalStatus = 'error';
    world.holds = [OWN_NODE];
    world.run(10 * SECOND_MS);
    expect(world.kinds().slice(-2)).toEqual(['OutOfServiceEnded', 'PowerOffWithdrawn']);
  });

  it('stays asked for under any other hold', () => {
    const world = asked();
    world.holds = [{ ...OWN_NODE, reason: 'max-unhealthy' }];
    world.run(10 * SECOND_MS);
    expect(world.operator.annotations[HOLD]).toBeDefined();
  });
});
