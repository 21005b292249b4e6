import { expect, it } from 'vitest';
import { healthCheckWarnings } from '../../src/cli/validate/health-checks.ts';
import { machineObject, checkObject } from './objects.ts';
import { CHECKS, MACHINES, ShellWorld } from './shell-world.ts';

const SLOW = 60_000;

it('validate tells of checks that select the same Machines, and of what is wrong in one', { timeout: SLOW }, async () => {
  const world = await ShellWorld.create();
  await world.create(MACHINES, machineObject('m1'));
  await world.create(MACHINES, machineObject('m2', { labels: { role: 'other' } }));
  await world.create(CHECKS, checkObject('first'));
  await world.clock.advance(1_000);
  await world.create(CHECKS, checkObject('again'));
  await world.create(CHECKS, checkObject('elsewhere', { selector: { matchLabels: { role: 'other' } } }));
  await world.create(CHECKS, checkObject('wrong', { selector: {} }));
  const found = await healthCheckWarnings({ transport: world.transport, cluster: world.operator, clock: world.clock });
  expect(found.map(({ severity, where, message }) => `${severity} ${where} ${message}`)).toEqual([
    'warning MachineHealthCheck default/wrong spec.selector: Required value: selector must not be empty. It does nothing',
    'warning MachineHealthCheck default/again selects 1 of the Machines of MachineHealthCheck default/first as well, such as m1: give each Machine one check, or two controllers contradict each other',
  ]);
});
