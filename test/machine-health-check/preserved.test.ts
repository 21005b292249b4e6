import { afterEach, describe, expect, it } from 'vitest';
import { machineHealthChecks, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import type { ActiveHold } from '../../src/domain/snapshot.ts';
import { NODES } from '../../src/ports/resources.ts';
import { definitionOf } from './definitions.ts';
import { ago, machineObject, NAMESPACE, nodeConditionsOf } from './objects.ts';
import { startProgram } from './program.ts';
import { MACHINES, ShellWorld } from './shell-world.ts';

let world: ShellWorld | undefined;

afterEach(async () => {
  await world?.end();
  world = undefined;
});

async function failed(template: boolean): Promise<ReturnType<ShellWorld['start']> & { world: ShellWorld }> {
  world = await ShellWorld.create();
  await world.template();
  await world.check('check', { template });
  await world.add('m1', { unreadySeconds: 400 });
  world.preserved.set('node-of-m1', 'preserved on request');
  const replica = world.start();
  await world.pass(10_000);
  return { ...replica, world };
}

describe('a failed machine that is preserved', { timeout: 60_000 }, () => {
  it('is not handed to its owner, who would delete it, and is when that is over', async () => {
    const { controller, world: own } = await failed(false);
    expect(await own.conditions(MACHINES, 'm1')).toEqual([]);
    expect(controller.problems().join()).toContain('its machine is preserved: preserved on request');
    own.preserved.clear();
    await own.pass(61_000);
    expect(await own.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });

  it('is asked for all the same where there is a template: whoever serves the request heeds it', async () => {
    const { world: own } = await failed(true);
    expect(await own.request('m1')).toBeDefined();
  });

  it.each([
    ['preservation', 1],
    ['max-unhealthy', 0],
  ])('is not deleted by the program where %s holds its off: %i', async (policy, left) => {
    const checks = machineHealthChecks(OPENSHIFT_GROUP, OPENSHIFT_MACHINES.version);
    const hold: ActiveHold = { policy, reason: 'preserved', message: 'preserved on request' };
    const program = await startProgram({
      definitions: [checks, OPENSHIFT_MACHINES].map((kind) => definitionOf(kind)),
      choice: 'own',
      stormHolds: () => [hold],
    });
    if (program === undefined) throw new Error('they are off');
    const { operator } = program;
    await operator.create(NODES, { metadata: { name: 'n' }, spec: { providerID: 'test:///m' }, status: {} });
    await operator.mergePatch(NODES, 'n', { status: { conditions: nodeConditionsOf('Unknown', 600) } }, { subresource: 'status' });
    const { ownerReferences = [] } = machineObject('m').metadata;
    const status = { nodeRef: { name: 'n' }, phase: 'Running', lastUpdated: ago(7_200) };
    await operator.create(OPENSHIFT_MACHINES, { metadata: { name: 'm', namespace: NAMESPACE, ownerReferences }, spec: {} });
    await operator.mergePatch(OPENSHIFT_MACHINES, 'm', { status }, { namespace: NAMESPACE, subresource: 'status' });
    const unhealthyConditions = [{ type: 'Ready', status: 'Unknown', timeout: '300s' }];
    await operator.create(checks, { metadata: { name: 'check', namespace: NAMESPACE }, spec: { selector: {}, unhealthyConditions } });
    await program.pass(430_000);
    expect(await operator.list(OPENSHIFT_MACHINES)).toHaveLength(left);
    await program.close();
  });
});
