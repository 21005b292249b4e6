import { describe, expect, it } from 'vitest';
import { decideByFence } from '../../src/controllers/metal3-remediation/by-fence.ts';
import { REMEDIATE_MACHINE } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { MINUTE_MS, ownerMachine, remediation, World } from './world.ts';

const TWICE = { strategy: { retryLimit: 2, timeoutSeconds: 300 } };

/** A remediation whose Node is back, and that still stands an hour later; `status`: what its health check says then. */
function standing(status: 'True' | 'False' | undefined): World {
  const conditions = status === undefined ? [] : [{ type: 'HealthCheckSucceeded', status }];
  const world = new World({ remediation: remediation({}, TWICE), machine: ownerMachine({ conditions }) });
  world.run(5 * MINUTE_MS);
  expect(world.kinds()).toContain('RemediationFinished');
  if (typeof world.node === 'object') world.node = { ...world.node, isReady: true };
  world.run(60 * MINUTE_MS);
  return world;
}

describe('a remediation that nobody deletes when it is done', () => {
  it('power-cycles no machine that its health check finds healthy', () => {
    const world = standing('True');
    expect([world.operator.offs, world.own.phase, world.own.retryCount]).toEqual([1, 'Waiting', 0]);
  });

  it.each(['False', undefined] as const)('is tried again as often as it may where that says %s, as Metal3 does', (status) => {
    const world = standing(status);
    expect([world.operator.offs, world.own.phase]).toEqual([3, 'Deleting machine']);
  });

  it.each([
    ['healthy', 'True', 1, 'Waiting'],
    ['unhealthy', 'False', 3, 'Deleting machine'],
  ] as const)('is tried again by the word of its health check alone where its Node may not be read: %s', (_what, status, offs, phase) => {
    const machine = ownerMachine({ conditions: [{ type: 'HealthCheckSucceeded', status }] });
    const world = new World({ remediation: remediation({}, TWICE), machine, node: 'forbidden' });
    world.run(60 * MINUTE_MS);
    expect([world.operator.offs, world.own.phase, world.own.finalizers]).toEqual([offs, phase, phase === 'Waiting' ? [] : expect.any(Array)]);
  });

  it('takes a person’s mark off a Machine whose Node may not be read: it would be unhealthy for ever', () => {
    const machine = ownerMachine({ annotations: { [REMEDIATE_MACHINE]: '' } });
    const world = new World({ remediation: remediation({}, TWICE), machine, node: 'forbidden' });
    world.run(3 * MINUTE_MS);
    expect(world.machine).toMatchObject({ annotations: {} });
    expect(world.operator).toMatchObject({ offs: 1, isOn: true });
  });

  it('has no second fence asked for either', () => {
    const world = standing('True');
    const decision = decideByFence(world.snapshot(), undefined);
    expect(decision.actions).toEqual([]);
  });
});
