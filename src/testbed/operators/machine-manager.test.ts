import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../kube/client.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import { NODES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { ApiServer } from '../apiserver/server.ts';
import { inProcessTransport } from '../apiserver/transport.ts';
import { definitionOf } from '../objects/any-definition.ts';
import { createFleet, FLEET_NAMESPACE, machineName, zoneName } from './fleet.ts';
import { MachineManager, PRESERVE } from './machine-manager.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NODE = 'n1';

describe('the MCM of the drill', () => {
  const clock = new ManualClock();
  let cluster: ApiClient;
  let manager: MachineManager;

  beforeEach(async () => {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    const random = new SystemRandom();
    const transport = inProcessTransport(new ApiServer({ clock, random, users, authorization: 'rbac' }), 'admin');
    cluster = new ApiClient({ transport });
    for (const resource of [MACHINES, MACHINE_SETS, MACHINE_DEPLOYMENTS])
      await transport.request({ method: 'POST', path: DEFINITIONS, body: definitionOf(resource), deadlineMs: 1_000 });
    await cluster.create(NODES, { metadata: { name: NODE }, spec: {}, status: {} });
    await createFleet(cluster, [{ node: NODE, zone: zoneName(0) }], (delayMs) => clock.advance(delayMs));
    await ready('True');
    manager = new MachineManager({ transport, clock, random, trace: () => undefined }, { healthTimeoutMs: 4_000, preserveTimeoutMs: 60_000 });
    manager.start();
    await clock.advance(500);
  });

  afterEach(() => manager.stop());

  const machine = (): Promise<Machine | undefined> => cluster.get(MACHINES, machineName(NODE), FLEET_NAMESPACE);
  const current = async (): Promise<object | undefined> => (await machine())?.status?.currentStatus;

  async function ready(status: 'True' | 'Unknown'): Promise<void> {
    await cluster.mergePatch(NODES, NODE, { status: { conditions: [{ type: 'Ready', status }] } }, { subresource: 'status' });
    await clock.advance(500);
  }

  async function ask(value: string | null): Promise<void> {
    await cluster.mergePatch(NODES, NODE, { metadata: { annotations: { [PRESERVE]: value } } });
    await clock.advance(500);
  }

  it('deletes a machine that nobody wants kept, when its patience is over and not before', async () => {
    await ready('Unknown');
    expect(await current()).toMatchObject({ phase: 'Unknown' });
    await clock.advance(3_000);
    expect((await machine())?.metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(2_000);
    expect((await machine())?.metadata.deletionTimestamp).toBeDefined();
  });

  it('keeps one that its node asks for, until that is taken back', async () => {
    await ready('Unknown');
    await ask('when-failed');
    await clock.advance(60_000);
    expect(await current()).toMatchObject({ phase: 'Failed', preserveExpiryTime: expect.any(String) as string });
    await ask(null);
    expect((await machine())?.metadata.deletionTimestamp).toBeDefined();
  });

  it('lets one that is Ready again run, and keeps it no more', async () => {
    await ask('when-failed');
    await ready('Unknown');
    await clock.advance(5_000);
    await ready('True');
    expect(await current()).toMatchObject({ phase: 'Running' });
    expect(await current()).not.toHaveProperty('preserveExpiryTime');
    await clock.advance(60_000);
    expect((await machine())?.metadata.deletionTimestamp).toBeUndefined();
  });
});
