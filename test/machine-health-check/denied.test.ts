import { afterEach, expect, it } from 'vitest';
import { MACHINES, ShellWorld } from './shell-world.ts';

let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

it.each([
  ['Machine', '/machines/m1/status', 'm1'],
  ['MachineHealthCheck', '/machinehealthchecks/check/status', 'check'],
])('a right that is lacking to write a %s is told once there, and nothing else waits for it', { timeout: 60_000 }, async (kind, path, name) => {
  world = await ShellWorld.create();
  await world.check();
  await world.add('m1', { unreadySeconds: 400 });
  await world.add('m2', { unreadySeconds: 400 });
  let isDenied = true;
  const { events } = world.start({ fate: (write) => (isDenied && write.endsWith(path) ? 'denied' : 'done') });
  await world.pass(200_000);
  const told = events.filter((event) => event.includes('WriteRefused'));
  expect(told).toEqual([`${kind} ${name} Warning WriteRefused`]);
  expect(await world.conditions(MACHINES, 'm2')).toContain('HealthCheckSucceeded=False/UnhealthyNode');
  isDenied = false;
  await world.pass(120_000);
  expect(await world.conditions(MACHINES, 'm1')).toContain('HealthCheckSucceeded=False/UnhealthyNode');
  expect(events.filter((event) => event.includes('WriteRefused'))).toHaveLength(1);
});
