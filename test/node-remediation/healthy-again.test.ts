import { describe, expect, it } from 'vitest';
import { isFoundIll } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { MINUTE_MS, node, ownerMachine, request, SECOND_MS, World } from './world.ts';

const NEVER_OFF = { sentMs: 10 * SECOND_MS };
const WELL = { ...NEVER_OFF, offMs: 30 * SECOND_MS, finalMs: 120 * SECOND_MS, outcome: 'recovered' } as const;

function machineOf(facts = {}): ReturnType<typeof ownerMachine> {
  return ownerMachine({ name: 'n', namespace: 'machines', ...facts });
}

describe('a request', () => {
  it('that still stands while its node is Ready, and its health check finds it ill, is tried again, and hands the Machine back at the limit', () => {
    const ill = { type: 'HealthCheckSucceeded', status: 'False', reason: 'UnhealthyNode' } as const;
    const machine = machineOf({ conditions: [ill] });
    const world = new World({ machine, request: request({}, { strategy: 'escalate', timeoutSeconds: 300 }) });
    world.run(30 * MINUTE_MS);
    expect(world.fences).toBe(2);
    expect(world.own).toMatchObject({ phase: 'Failed', retryCount: 1 });
    expect(world.owner.conditions).toContainEqual(expect.objectContaining({ type: 'OwnerRemediated', status: 'False' }));
  });

  it.each([
    ['fence-and-recover', 'Succeeded'],
    ['escalate', 'Succeeded'],
    ['fence', 'Stopped'],
  ])('of strategy %s is not tried again on a node that is Ready meanwhile: it ends %s', (strategy, phase) => {
    const healthy = { type: 'HealthCheckSucceeded', status: 'True', reason: 'HealthCheckSucceeded' } as const;
    const spec = { strategy, powerOffTimeoutSeconds: 30, cooldownSeconds: 120 };
    const world = new World({ machine: machineOf(), request: request({}, spec), courses: [NEVER_OFF, WELL] });
    world.until('Fencing');
    world.pass(20 * SECOND_MS);
    world.node = node({ isReady: true });
    world.run(40 * SECOND_MS);
    world.machine = { ...world.owner, conditions: [healthy] };
    world.run(10 * MINUTE_MS);
    expect(world.own).toMatchObject({ phase, retryCount: 1 });
    expect(world.fences).toBe(1);
    expect([...world.problems].join()).toContain('node n is Ready: it is fenced again only if its health check still finds it unhealthy after 60 s');
  });

  it('of a person is not tried again on a node that is Ready meanwhile', () => {
    const world = new World({ request: request({}, { powerOffTimeoutSeconds: 30 }), courses: [NEVER_OFF, WELL] });
    world.until('Fencing');
    world.pass(20 * SECOND_MS);
    world.node = node({ isReady: true });
    world.run(10 * MINUTE_MS);
    expect([world.fences, world.own.phase]).toEqual([1, 'Succeeded']);
  });

  it.each(['NoHealthCheck', 'HealthCheckPaused'])('is not tried again by the word of a health check that looks no more: %s', (reason) => {
    const ill = { type: 'HealthCheckSucceeded', status: 'False', reason: 'UnhealthyNode' } as const;
    const world = new World({ machine: machineOf({ conditions: [ill] }), request: request({}, { strategy: 'escalate', timeoutSeconds: 300 }) });
    world.until('Succeeded');
    const unknown = { type: 'HealthCheckSucceeded', status: 'Unknown', reason } as const;
    world.machine = { ...world.owner, conditions: [unknown] };
    world.run(30 * MINUTE_MS);
    expect([world.fences, world.own.phase, isFoundIll(world.owner)]).toEqual([1, 'Succeeded', false]);
  });

  it('tells the Machine later what it could not tell it at once', () => {
    const world = new World({ machine: machineOf() });
    world.until('Succeeded');
    world.machine = { ...world.owner, conditions: [] };
    world.run(MINUTE_MS);
    expect(world.owner.conditions).toMatchObject([{ type: 'ExternallyRemediated', status: 'True', message: 'its node was fenced, and is back' }]);
  });

  it('because its node is healthy, tells the Machine so, though its fence is not over yet', () => {
    const waiting = { type: 'ExternallyRemediated', status: 'False', reason: 'WaitingForRemediation' } as const;
    const world = new World({ machine: machineOf({ conditions: [waiting] }) });
    world.until('Recovering');
    world.delete();
    world.run(3 * MINUTE_MS);
    expect(world.request).toBeUndefined();
    expect(world.owner.conditions).toMatchObject([{ type: 'ExternallyRemediated', status: 'True', message: 'its node is healthy again' }]);
  });
});
