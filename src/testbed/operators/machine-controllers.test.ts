import { beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../kube/client.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { ApiServer } from '../apiserver/server.ts';
import { inProcessTransport } from '../apiserver/transport.ts';
import type { ApiEvent } from '../../laws/trace.ts';
import { definitionOf } from '../objects/any-definition.ts';
import { createFleet, deploymentName, FLEET_NAMESPACE, fleetLabels, machineName, zoneName } from './fleet.ts';
import { COUNTED_DEPLOYMENTS, COUNTED_SETS } from './kinds.ts';
import { MachineControllers } from './machine-controllers.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NODE_NAMES = ['n1', 'n2', 'n3', 'n4'];
const [A, B] = [zoneName(0), zoneName(1)];

/** Four nodes in two zones, their Machines, and what keeps them. */
class FleetWorld {
  readonly clock = new ManualClock();
  readonly trace: ApiEvent[] = [];
  readonly #transport;
  readonly cluster: ApiClient;

  constructor() {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    const random = new SystemRandom();
    const server = new ApiServer({ clock: this.clock, random, users, authorization: 'rbac', audit: (event) => void this.trace.push(event) });
    this.#transport = inProcessTransport(server, 'admin');
    this.cluster = new ApiClient({ transport: this.#transport });
  }

  async start(): Promise<void> {
    for (const resource of [MACHINES, MACHINE_SETS, MACHINE_DEPLOYMENTS])
      await this.#transport.request({ method: 'POST', path: DEFINITIONS, body: definitionOf(resource), deadlineMs: 1_000 });
    const nodes = NODE_NAMES.map((node, index) => ({ node, zone: zoneName(index % 2) }));
    for (const { node, zone } of nodes)
      await this.cluster.create(NODES, { metadata: { name: node, labels: fleetLabels(zone) }, spec: {}, status: {} });
    await createFleet(this.cluster, nodes, (delayMs) => this.clock.advance(delayMs));
    const trace = (): void => undefined;
    new MachineControllers({ transport: this.#transport, clock: this.clock, random: new SystemRandom(), trace }).start();
    await this.clock.advance(1_000);
  }

  machine(node: string): Promise<Machine | undefined> {
    return this.cluster.get(MACHINES, machineName(node), FLEET_NAMESPACE);
  }

  async fails(node: string): Promise<void> {
    const status = { currentStatus: { phase: 'Failed' } };
    await this.cluster.mergePatch(MACHINES, machineName(node), { status }, { namespace: FLEET_NAMESPACE, subresource: 'status' });
    await this.clock.advance(1_000);
  }

  async counts(zone: string): Promise<unknown[]> {
    const deployment = await this.cluster.get(COUNTED_DEPLOYMENTS, deploymentName(zone), FLEET_NAMESPACE);
    const set = await this.cluster.get(COUNTED_SETS, `${deploymentName(zone)}-1`, FLEET_NAMESPACE);
    return [deployment?.status, set?.status];
  }

  async names(list: Promise<KubeObject[]>): Promise<string[]> {
    return (await list).map(({ metadata }) => metadata.name).sort();
  }
}

describe('the fleet of the drill', () => {
  let world: FleetWorld;
  beforeEach(async () => {
    world = new FleetWorld();
    await world.start();
  });

  it('has a Machine in Running for each node, and in each zone the first is the oldest', async () => {
    const machines = await Promise.all(NODE_NAMES.map((node) => world.machine(node)));
    expect(machines.map((machine) => [machine?.metadata.labels?.['node'], machine?.status?.currentStatus?.phase])).toEqual(
      NODE_NAMES.map((node) => [node, 'Running']),
    );
    const [first, , third] = machines.map((machine) => Date.parse(machine?.metadata.creationTimestamp ?? ''));
    expect(third).toBeGreaterThan(first ?? Infinity);
  });

  it('counts what stands and what is available, in sets and deployments', async () => {
    const both = { replicas: 2, availableReplicas: 2 };
    expect(await world.counts(A)).toEqual([both, both]);
    await world.fails('n1');
    expect(await world.counts(A)).toEqual([
      { replicas: 2, availableReplicas: 1 },
      { replicas: 2, availableReplicas: 1 },
    ]);
    expect(await world.counts(B)).toEqual([both, both]);
  });

  it('hands the replicas of a deployment to its set, and leaves it to others who goes', async () => {
    await world.cluster.mergePatch(MACHINE_DEPLOYMENTS, deploymentName(A), { spec: { replicas: 1 } }, { namespace: FLEET_NAMESPACE });
    await world.clock.advance(1_000);
    expect((await world.cluster.get(MACHINE_SETS, `${deploymentName(A)}-1`, FLEET_NAMESPACE))?.spec?.replicas).toBe(1);
    expect(await world.names(world.cluster.list(MACHINES, { namespace: FLEET_NAMESPACE }))).toHaveLength(4);
  });

  it('takes the Node of a Machine away with it, and makes no other', async () => {
    await world.cluster.remove(MACHINES, machineName('n3'), { namespace: FLEET_NAMESPACE });
    await world.clock.advance(1_000);
    expect(await world.names(world.cluster.list(NODES))).toEqual(['n1', 'n2', 'n4']);
    expect(await world.machine('n3')).toBeUndefined();
    expect(await world.counts(A)).toEqual([
      { replicas: 1, availableReplicas: 1 },
      { replicas: 1, availableReplicas: 1 },
    ]);
  });

  it('rests when there is nothing to do', async () => {
    const writes = (): number => world.trace.filter(({ verb }) => verb === 'patch').length;
    const before = writes();
    await world.clock.advance(60_000);
    expect(writes()).toBe(before);
  });
});
