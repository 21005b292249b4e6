import { beforeEach, describe, expect, it } from 'vitest';
import { detectMode } from '../../config/preservation-mode.ts';
import { ApiServer } from '../../testbed/apiserver/server.ts';
import { inProcessTransport } from '../../testbed/apiserver/transport.ts';
import { ApiClient } from '../../kube/client.ts';
import { readYaml } from '../../testbed/apiserver/yaml-body.ts';
import { shippedIn } from '../../testbed/shipped/manifests.ts';
import type { Resource } from '../../ports/cluster.ts';
import { MACHINES } from '../../ports/machines.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { readManagerFacts } from './manager-facts.ts';

const NOW = Date.UTC(2026, 2, 29);
const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const DEPLOYMENTS: Resource<KubeObject & { spec: object }> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const FINALIZER = 'machine.sapcloud.io/machine-controller-manager';

let server: ApiServer;
let root: ApiClient;

beforeEach(async () => {
  const users = [
    { name: 'root', groups: ['system:masters'] },
    { name: 'nobody', groups: ['system:authenticated'] },
  ];
  server = new ApiServer({ clock: new ManualClock({ wallMs: NOW }), random: new SystemRandom(), users, authorization: 'rbac' });
  root = new ApiClient({ transport: inProcessTransport(server, 'root') });
  for (const name of ['shoot', 'other']) await root.create(NAMESPACES, { metadata: { name } });
});

type Facts = Awaited<ReturnType<typeof readManagerFacts>>;

function look(user = 'root', namespace?: string, nodes: readonly Node[] = []): Promise<Facts> {
  return readManagerFacts({ transport: inProcessTransport(server, user), namespace }, nodes, NOW);
}

async function define(change: (definition: Record<string, unknown>) => void = () => undefined): Promise<void> {
  for (const { text } of shippedIn('machine-crd')) {
    const copy = readYaml(text) as Record<string, unknown>;
    change(copy);
    await root.create(DEFINITIONS, copy as unknown as KubeObject);
  }
}

describe('what is found of an MCM', () => {
  it('is nothing in a cluster without Machines', async () => {
    expect(await look()).toMatchObject({ isServed: false, isReadable: false, leases: [], unseen: [] });
  });

  it('is a Node that an MCM elsewhere manages', async () => {
    const node: Node = {
      metadata: { name: 'n1', annotations: { 'node.machine.sapcloud.io/last-applied-anno-labels-taints': '{}' } },
      spec: {},
      status: {},
    };
    expect(await look('root', undefined, [node])).toMatchObject({ isServed: false, managedNode: 'n1' });
  });

  it('tells our definitions, which keep the expiry and what an MCM writes beside', async () => {
    await define();
    expect((await look()).definition).toEqual({ isOurs: true, hasExpiryField: true });
    const written = {
      spec: { class: { kind: 'MachineClass', name: 'x' } },
      status: { currentStatus: { phase: 'Running', preserveExpiryTime: '2026-04-01T00:00:00Z' } },
    };
    const machine: KubeObject = { metadata: { name: 'm1', namespace: 'shoot' }, ...written };
    await root.create<KubeObject>(MACHINES, machine);
    await root.mergePatch(MACHINES, 'm1', { status: written.status }, { namespace: 'shoot', subresource: 'status' });
    expect(await root.get(MACHINES, 'm1', 'shoot')).toMatchObject(written);
  });

  it('tells a definition that drops the expiry', async () => {
    await define((definition) => {
      const text = JSON.stringify(definition)
        .replaceAll('preserveExpiryTime', 'otherTime')
        .replaceAll('"x-kubernetes-preserve-unknown-fields":true', '"x-unused":true');
      Object.assign(definition, JSON.parse(text.replaceAll(',"x-unused":true', '')));
      (definition['metadata'] as KubeObject['metadata']).labels = {};
    });
    expect((await look()).definition).toEqual({ isOurs: false, hasExpiryField: false });
  });

  it('is its Lease, its Deployment and its finalizer, of the namespace that is asked about', async () => {
    await define();
    const renewTime = '2026-03-28T23:59:50.000000Z';
    await root.create(LEASES, { metadata: { name: 'machine-controller', namespace: 'shoot' }, spec: { holderIdentity: 'mcm', renewTime } });
    const spec = {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    await root.create(DEPLOYMENTS, { metadata: { name: 'machine-controller-manager', namespace: 'shoot' }, spec });
    await root.create(MACHINES, { metadata: { name: 'm1', namespace: 'shoot', finalizers: [FINALIZER] } });
    await root.mergePatch(
      MACHINES,
      'm1',
      { status: { lastOperation: { lastUpdateTime: '2026-03-28T23:50:00Z' } } },
      { namespace: 'shoot', subresource: 'status' },
    );
    const facts = await look('root', 'shoot');
    expect(facts.leases).toEqual([expect.objectContaining({ name: 'machine-controller', holder: 'mcm', renewedMs: NOW - 10_000 })]);
    expect(facts.deployments).toEqual([{ name: 'machine-controller-manager', namespace: 'shoot', replicas: 0 }]);
    expect(facts.machines).toEqual([{ name: 'm1', hasFinalizer: true, operatedMs: NOW - 600_000 }]);
    expect(detectMode('own', facts).reasons).toHaveLength(3);
    expect(await look('root', 'other')).toMatchObject({ leases: [], deployments: [], machines: [] });
    expect((await look()).leases).toHaveLength(1);
  });

  it('is in doubt where its Lease looks old: its clock may be another, so one look does not tell', async () => {
    await define();
    const renewTime = '2026-03-28T22:00:00.000000Z';
    await root.create(LEASES, { metadata: { name: 'machine-controller', namespace: 'shoot' }, spec: { holderIdentity: 'mcm', renewTime } });
    expect(detectMode('own', await look())).toMatchObject({ mode: 'observe', reasons: [expect.stringContaining('it is read a second time')] });
  });

  it('is named where it may not be looked at, and then nothing is ours', async () => {
    await define();
    const facts = await look('nobody');
    expect(facts).toMatchObject({ isServed: true, isReadable: false });
    expect(facts.unseen).toEqual([
      'the right to get customresourcedefinitions machines.machine.sapcloud.io is missing',
      'the right to list machines.machine.sapcloud.io is missing',
      'the right to list leases is missing',
      'the right to list deployments is missing',
    ]);
    expect(detectMode('own', facts).mode).toBe('observe');
  });
});
