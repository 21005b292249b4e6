import { beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../kube/client.ts';
import type { Resource } from '../../../ports/cluster.ts';
import type { Node } from '../../../ports/objects.ts';
import { NODE_FENCE_REMEDIATION } from '../../../ports/remediation.ts';
import { LEASES, NODES } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import { ApiServer } from '../../apiserver/server.ts';
import { inProcessTransport } from '../../apiserver/transport.ts';
import { definitionOf } from '../../objects/any-definition.ts';
import { NAMESPACES } from '../../cluster/kinds.ts';
import { createHostFleet, HOST_DEFINITIONS, HOST_MACHINES, hostMachineName, HOSTS_NAMESPACE } from '../host-fleet.ts';
import { ClusterApiCheck } from './cluster-api-check.ts';
import { MEDIK8S_LEASE_NAMESPACE, NODE_HEALTH_CHECKS, NodeHealthCheck } from './node-health-check.ts';
import type { Remediator, Request } from './node-health-check.ts';
import { POWER_CYCLE_TEMPLATES, POWER_CYCLES, PowerCycling } from './power-cycle.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WHEN = [{ type: 'KernelDeadlock', status: 'True', durationMs: 2_000 }];
const NAMESPACE = 'default';
const OURS: Remediator = { ...NODE_FENCE_REMEDIATION, template: 'gentle', timeoutMs: 60_000 };
const LAST: Remediator = { requests: POWER_CYCLES, templates: POWER_CYCLE_TEMPLATES, template: 'last', timeoutMs: 60_000 };

/** One node, and the API that health checkers see. */
class Ward {
  readonly clock = new ManualClock();
  readonly #transport;
  readonly cluster: ApiClient;

  constructor() {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    this.#transport = inProcessTransport(new ApiServer({ clock: this.clock, random: new SystemRandom(), users, authorization: 'rbac' }), 'admin');
    this.cluster = new ApiClient({ transport: this.#transport });
  }

  get dependencies() {
    return { transport: this.#transport, clock: this.clock, random: new SystemRandom(), trace: (): void => undefined };
  }

  async start(): Promise<void> {
    const kinds: Resource[] = [
      NODE_FENCE_REMEDIATION.requests,
      NODE_FENCE_REMEDIATION.templates,
      NODE_HEALTH_CHECKS,
      POWER_CYCLES,
      POWER_CYCLE_TEMPLATES,
    ];
    for (const body of [...HOST_DEFINITIONS, ...kinds.map(definitionOf)])
      await this.#transport.request({ method: 'POST', path: DEFINITIONS, body, deadlineMs: 1_000 });
    await this.cluster.create(NAMESPACES, { metadata: { name: MEDIK8S_LEASE_NAMESPACE } });
    await createHostFleet(this.cluster, ['n1'], this.clock.wallMs());
    const spec = { template: { spec: { strategy: 'fence' as const } } };
    for (const namespace of [NAMESPACE, HOSTS_NAMESPACE])
      await this.cluster.create(NODE_FENCE_REMEDIATION.templates, { metadata: { name: 'gentle', namespace }, spec });
    await this.cluster.create(POWER_CYCLE_TEMPLATES, { metadata: { name: 'last', namespace: NAMESPACE }, spec: { template: {} } });
    await this.cluster.create(NODES, { metadata: { name: 'n1' }, spec: {}, status: {} });
    await this.ill(false);
  }

  async ill(isIll: boolean, ready: 'True' | 'Unknown' = 'True'): Promise<void> {
    const conditions: Node['status']['conditions'] = [
      { type: 'Ready', status: ready },
      { type: 'KernelDeadlock', status: isIll ? 'True' : 'False' },
    ];
    await this.cluster.mergePatch(NODES, 'n1', { status: { conditions } }, { subresource: 'status' });
    await this.clock.advance(100);
  }

  async says(succeeded: string): Promise<void> {
    const [request] = await this.requests();
    const status = { conditions: [{ type: 'Succeeded', status: succeeded }] };
    await this.cluster.mergePatch(
      NODE_FENCE_REMEDIATION.requests,
      request?.metadata.name ?? '',
      { status },
      { namespace: NAMESPACE, subresource: 'status' },
    );
  }

  requests(): Promise<Request[]> {
    return this.cluster.list(NODE_FENCE_REMEDIATION.requests);
  }

  cycles(): Promise<Request[]> {
    return this.cluster.list(POWER_CYCLES);
  }

  async hasLease(): Promise<boolean> {
    return (await this.cluster.get(LEASES, 'node-n1', MEDIK8S_LEASE_NAMESPACE)) !== undefined;
  }
}

let ward: Ward;
beforeEach(async () => {
  ward = new Ward();
  await ward.start();
});

describe('the NodeHealthCheck of the drill', () => {
  beforeEach(async () => {
    await new NodeHealthCheck(ward.dependencies, { name: 'check', namespace: NAMESPACE, when: WHEN, remediators: [OURS, LAST] }).start();
    await ward.clock.advance(1_000);
  });

  it('asks when a node has been unhealthy for long enough, under the Lease of the node, and takes both back when it is well', async () => {
    await ward.ill(true);
    await ward.clock.advance(1_000);
    expect(await ward.requests()).toEqual([]);
    await ward.clock.advance(2_000);
    const [request] = await ward.requests();
    expect(request).toMatchObject({ spec: { strategy: 'fence' }, metadata: { ownerReferences: [{ kind: 'NodeHealthCheck' }] } });
    expect(request?.metadata.annotations).toMatchObject({
      'remediation.medik8s.io/node-name': 'n1',
      'remediation.medik8s.io/template-name': 'gentle',
    });
    expect(await ward.hasLease()).toBe(true);
    await ward.ill(false);
    await ward.clock.advance(2_000);
    expect([await ward.requests(), await ward.hasLease()]).toEqual([[], false]);
  });

  it('gives a request up when its time is over, and goes on to the next remediator', async () => {
    await ward.ill(true);
    await ward.clock.advance(70_000);
    const [request] = await ward.requests();
    expect(request?.metadata.annotations?.['remediation.medik8s.io/nhc-timed-out']).toBeDefined();
    expect(await ward.cycles()).toHaveLength(1);
  });

  it('goes on at once when a remediator has failed, and gives nothing up that has succeeded', async () => {
    await ward.ill(true);
    await ward.clock.advance(5_000);
    await ward.says('True');
    await ward.clock.advance(120_000);
    expect(await ward.cycles()).toEqual([]);
    await ward.says('False');
    await ward.clock.advance(1_000);
    expect(await ward.cycles()).toHaveLength(1);
  });

  it('takes a node that is not Ready neither for healthy nor for ill', async () => {
    await ward.ill(true);
    await ward.clock.advance(5_000);
    await ward.ill(false, 'Unknown');
    await ward.clock.advance(10_000);
    expect(await ward.requests()).toHaveLength(1);
    expect(await ward.cycles()).toEqual([]);
  });
});

describe("somebody else's remediator in the drill", () => {
  it('cycles once for each request, tells how far it is, and lets the request go', async () => {
    const cycled: string[] = [];
    new PowerCycling(ward.dependencies, ({ metadata }) => Promise.resolve(void cycled.push(metadata.name))).start();
    await ward.cluster.create(POWER_CYCLES, { metadata: { name: 'c', namespace: NAMESPACE } });
    await ward.clock.advance(5_000);
    expect(cycled).toEqual(['c']);
    expect((await ward.cycles())[0]?.status?.conditions).toMatchObject([{ status: 'False' }, { type: 'Succeeded', status: 'True' }]);
    await ward.cluster.remove(POWER_CYCLES, 'c', { namespace: NAMESPACE });
    await ward.clock.advance(1_000);
    expect(await ward.cycles()).toEqual([]);
  });
});

describe('the MachineHealthCheck of Cluster API in the drill', () => {
  it('shows that it is at work, and asks by the name of the Machine for as long as that is unhealthy', async () => {
    await new ClusterApiCheck(ward.dependencies, { template: 'gentle', when: WHEN }).start();
    await ward.clock.advance(5_000);
    const lease = await ward.cluster.get(LEASES, 'controller-leader-election-capi', 'capi-system');
    expect(ward.clock.wallMs() - Date.parse(lease?.spec.renewTime ?? '')).toBeLessThan(3_000);
    await ward.ill(true);
    await ward.clock.advance(4_000);
    const [request] = await ward.requests();
    expect(request?.metadata).toMatchObject({ name: hostMachineName('n1'), ownerReferences: [{ kind: 'Machine' }] });
    const machine = await ward.cluster.get(HOST_MACHINES, hostMachineName('n1'), HOSTS_NAMESPACE);
    expect(machine?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'HealthCheckSucceeded=False',
      'ExternallyRemediated=False',
    ]);
    await ward.ill(false);
    await ward.clock.advance(2_000);
    expect(await ward.requests()).toEqual([]);
  });
});
