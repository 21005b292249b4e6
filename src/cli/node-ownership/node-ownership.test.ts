import { describe, expect, it } from 'vitest';
import { GAVE_UP, POWERED_OFF, TIMES_OUT_AT } from '../../controllers/machine-remediation/names.ts';
import { fenceName } from '../../domain/node-fence.ts';
import { ApiServer } from '../../testbed/apiserver/server.ts';
import { testRandom } from '../../testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../testbed/apiserver/transport.ts';
import { ApiClient } from '../../kube/client.ts';
import { sendShipped } from '../../testbed/shipped/send.ts';
import { OPERATOR_ROLE } from '../../manifests/operator-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import { CLUSTER_API_GROUP, machineHealthChecks } from '../../ports/cluster-api.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import { NODE_FENCE_REMEDIATION } from '../../ports/remediation.ts';
import { LEASES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { nodeOwnershipSection } from '../commands/pages/ownership-page.ts';
import { PLAIN } from '../commands/terminal/ink.ts';
import { nodeOwnershipOf, holdersOf } from './node-ownership.ts';
import type { OwnershipObjects, RemediationObject } from './node-ownership.ts';
import { listNodeOwnership } from './listed-ownership.ts';

const NOTHING: OwnershipObjects = { leases: [], remediations: [], machines: [], checks: [], unreadable: [] };
const SHEET = { ink: PLAIN, width: 100, nowMs: 0 };

function lease(node: string, holderIdentity: string): Lease {
  const spec = { holderIdentity, leaseDurationSeconds: 300, renewTime: '2026-03-29T02:00:00.000000Z' };
  return { metadata: { name: `node-${node}`, namespace: 'medik8s-leases' }, spec };
}

function machine(name: string, node: string, annotations: Record<string, string> = {}): ClusterMachine {
  return { metadata: { name, namespace: 'default', annotations }, status: { nodeRef: { name: node } } };
}

function remediation(name: string, more: Partial<KubeObject['metadata']> = {}, status: RemediationObject['status'] = {}) {
  return { kind: 'NodeFenceRemediation', object: { metadata: { name, namespace: 'default', ...more }, status } };
}

const OWNED = { ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'm1', uid: 'u' }] };

describe('who has a node', () => {
  it('is told by the node lease of anybody but the fence controller', () => {
    const { rows } = nodeOwnershipOf({ ...NOTHING, leases: [lease('a', 'node-maintenance'), lease('b', 'nodefence'), lease('c', '')] });
    expect(rows).toEqual([
      {
        who: 'Lease medik8s-leases/node-a of node-maintenance',
        node: 'a',
        state: 'renewed 2026-03-29T02:00:00.000000Z, for 300 s each time',
      },
    ]);
  });

  it.each([
    ['by its annotation', remediation('r', { annotations: { 'remediation.medik8s.io/node-name': 'a' } }), 'a'],
    ['by its fence', remediation('r', OWNED, { nodeFenceRef: { name: 'node-fence-b' } }), 'b'],
    ['by the node of its Machine', remediation('r', OWNED), 'n1'],
    ['by its own name', remediation('c'), 'c'],
  ])('is told by a request for remediation: %s', (_how, request, node) => {
    const { rows } = nodeOwnershipOf({ ...NOTHING, remediations: [request], machines: [machine('m1', 'n1')] });
    expect(rows).toMatchObject([{ who: `NodeFenceRemediation default/${request.object.metadata.name}`, node, state: 'waits for its turn' }]);
  });

  it('says how far a request is, and nothing of one that has succeeded', () => {
    const remediations = [
      remediation('a', {}, { phase: 'Fencing', retryCount: 2, lastRemediated: '2026-03-29T02:00:00Z' }),
      remediation('b', {}, { phase: 'Succeeded' }),
      remediation('c', { deletionTimestamp: '2026-03-29T02:00:00Z' }, { phase: 'Succeeded' }),
    ];
    expect(nodeOwnershipOf({ ...NOTHING, remediations }).rows.map(({ state }) => state)).toEqual([
      'Fencing, retry 2, begun 2026-03-29T02:00:00Z',
      'Succeeded, being deleted',
    ]);
  });

  it('says of a Metal3Remediation that is finished that it is, though its phase stays Waiting', () => {
    const metal3 = (name: string, finalizers: string[]) => ({
      ...remediation(name, { finalizers }, { phase: 'Waiting' }),
      kind: 'Metal3Remediation',
    });
    const remediations = [metal3('a', ['metal3remediation.infrastructure.cluster.x-k8s.io']), metal3('b', [])];
    expect(nodeOwnershipOf({ ...NOTHING, remediations }).rows.map(({ state }) => state)).toEqual([
      'Waiting',
      'finished, and to be deleted by who made it',
    ]);
  });

  it('is told by the annotation of a Machine that is power-cycled', () => {
    const machines = [machine('m1', 'a', { 'host.metal3.io/external-remediation': '' }), machine('m2', 'b')];
    expect(nodeOwnershipOf({ ...NOTHING, machines }).rows).toMatchObject([
      { who: 'machine remediation of default/m1', node: 'a', machine: 'default/m1' },
    ]);
  });

  it.each([
    [
      { 'host.metal3.io/external-remediation': '' },
      'asked for by host.metal3.io/external-remediation; Events of the Machine and of its host say what is done',
    ],
    [
      { [POWERED_OFF]: '2026-03-29T02:00:00Z', [TIMES_OUT_AT]: '2026-03-29T02:20:00Z' },
      'proven off 2026-03-29T02:00:00Z, its node is to be back until 2026-03-29T02:20:00Z',
    ],
    [{ 'host.metal3.io/external-remediation': '', [GAVE_UP]: 'the node lives' }, 'has given up: the node lives'],
  ])('says how far such a Machine is: %j', (annotations, state) => {
    expect(nodeOwnershipOf({ ...NOTHING, machines: [machine('m1', 'a', annotations)] }).rows).toMatchObject([{ state }]);
  });

  it('begins with the fence that stands, and names all others on it', () => {
    const nodeOwnership = nodeOwnershipOf({ ...NOTHING, leases: [lease('a', 'node-maintenance'), lease('b', 'other')] });
    const requestedBy = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', namespace: 'default', name: 'r', uid: 'u' };
    const fence: NodeFence = { metadata: { name: fenceName('a') }, spec: { node: 'a', requestedBy } };
    expect(holdersOf(nodeOwnership, fence, 'a')).toEqual([
      'NodeFenceRemediation default/r, by node-fence-a',
      expect.stringContaining('of node-maintenance'),
    ]);
    expect(holdersOf(nodeOwnership, undefined, 'c')).toEqual([]);
  });
});

describe('a health check', () => {
  it('is told when not all of its machines are healthy, or when it may not remediate; else nobody wants to read of it', () => {
    const check = (name: string, status: object) => ({ kind: 'MachineHealthCheck', object: { metadata: { name, namespace: 'default' }, status } });
    const conditions = [{ type: 'RemediationAllowed', status: 'False', reason: 'TooManyUnhealthy', message: 'Remediation is not allowed' }];
    const { checks } = nodeOwnershipOf({
      ...NOTHING,
      checks: [
        check('well', { expectedMachines: 3, currentHealthy: 3 }),
        check('ill', { expectedMachines: 3, currentHealthy: 2 }),
        check('blocked', { expectedMachines: 3, currentHealthy: 0, conditions }),
      ],
    });
    expect(checks).toEqual([
      { name: 'MachineHealthCheck default/ill', expectedMachines: 3, currentHealthy: 2 },
      { name: 'MachineHealthCheck default/blocked', expectedMachines: 3, currentHealthy: 0, blocked: 'Remediation is not allowed' },
    ]);
    expect(nodeOwnershipSection({ rows: [], checks, unreadable: [] }, SHEET)).toEqual([
      '\nRemediation',
      'MachineHealthCheck default/ill: 2 of 3 machines are healthy',
      'MachineHealthCheck default/blocked: 0 of 3 machines are healthy; nothing is remediated: Remediation\nis not allowed',
    ]);
  });
});

describe('the section of status', () => {
  it('is left out where nobody has anything, and names what may not be read', () => {
    expect(nodeOwnershipSection(nodeOwnershipOf(NOTHING), SHEET)).toEqual([]);
    expect(nodeOwnershipSection({ rows: [], checks: [], unreadable: ['machines.cluster.x-k8s.io'] }, SHEET)).toEqual([
      '',
      'Of remediation is not shown: machines.cluster.x-k8s.io.',
    ]);
  });

  it('says who drives health checks, also where there is nothing else to tell', () => {
    const drivers = ['MachineHealthChecks of cluster.x-k8s.io are driven by nodefence: --health-checks own, and no sign of another controller'];
    const [head, ...lines] = nodeOwnershipSection({ rows: [], checks: [], unreadable: [], drivers }, SHEET);
    expect([head, lines.join(' ').replaceAll('\n', ' ')]).toEqual(['\nRemediation', `${drivers[0]}.`]);
  });

  it('has a row for each who has a node', () => {
    const text = nodeOwnershipSection(nodeOwnershipOf({ ...NOTHING, leases: [lease('a', 'node-maintenance')] }), SHEET).join('\n');
    expect(text).toMatch(/WHO +NODE +STATE/);
    expect(text).toMatch(/Lease medik8s-leases\/node-a of node-maintenance +a +renewed/);
  });
});

describe('what is read of a cluster', () => {
  const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

  function rbac(kind: string): Resource {
    return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
  }

  async function site(): Promise<{ root: Cluster; transport: ApiTransport; ownershipAs: (user: string) => ReturnType<typeof listNodeOwnership> }> {
    const users = [
      { name: 'root', groups: ['system:masters'] },
      { name: 'nobody', groups: ['system:authenticated'] },
      { name: 'operator', groups: ['system:authenticated'] },
    ];
    const server = new ApiServer({ clock: new ManualClock(), random: testRandom(), users, authorization: 'rbac' });
    const reach = (user: string) => {
      const transport = inProcessTransport(server, user);
      return { transport, cluster: new ApiClient({ transport }) };
    };
    const { cluster: root, transport } = reach('root');
    return { root, transport, ownershipAs: (user) => listNodeOwnership(reach(user)) };
  }

  it('is nothing where nothing is installed', async () => {
    const { ownershipAs } = await site();
    expect(await ownershipAs('root')).toEqual({ rows: [], checks: [], unreadable: [] });
  });

  it('is each kind that is served, in one version; what may not be read is named', async () => {
    const { root, transport, ownershipAs } = await site();
    await sendShipped(transport, ['remediation', 'machine-health-check-crd']);
    for (const name of ['default', 'medik8s-leases']) {
      if ((await root.get(NAMESPACES, name)) === undefined) await root.create(NAMESPACES, { metadata: { name } });
    }
    await root.create(LEASES, lease('a', 'node-maintenance'));
    await root.create(NODE_FENCE_REMEDIATION.requests, { metadata: { name: 'b', namespace: 'default' }, spec: {} });
    const checks = machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2');
    await root.create(checks, { metadata: { name: 'check', namespace: 'default' }, spec: { clusterName: 'c', selector: {} } });
    await root.mergePatch(checks, 'check', { status: { expectedMachines: 2, currentHealthy: 1 } }, { namespace: 'default', subresource: 'status' });
    const nodeOwnership = await ownershipAs('root');
    expect(nodeOwnership.rows.map(({ node }) => node)).toEqual(['a', 'b']);
    expect(nodeOwnership.checks).toHaveLength(1);
    await sendShipped(transport, ['rbac']);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: OPERATOR_ROLE };
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'operator' }];
    await root.create<KubeObject>(rbac('ClusterRoleBinding'), { metadata: { name: 'operator' }, roleRef, subjects } as KubeObject);
    const command = 'kubectl -n medik8s-leases create rolebinding NAME --role=nodefence-operator --user=YOU';
    const unread = `Leases of medik8s-leases (ask an administrator: ${command})`;
    const withoutLeases = { ...nodeOwnership, rows: nodeOwnership.rows.filter(({ node }) => node !== 'a'), unreadable: [unread] };
    expect(await ownershipAs('operator')).toEqual(withoutLeases);
    await sendShipped(transport, ['medik8s']);
    const inside = { metadata: { name: 'operator', namespace: 'medik8s-leases' }, roleRef: { ...roleRef, kind: 'Role' }, subjects };
    await root.create<KubeObject>({ ...rbac('RoleBinding'), namespaced: true }, inside);
    expect(await ownershipAs('operator')).toEqual(nodeOwnership);
    const { rows, unreadable } = await ownershipAs('nobody');
    expect(rows).toEqual([]);
    expect(unreadable).toEqual([unread, 'nodefenceremediations.ha.k8s.io', 'machinehealthchecks.cluster.x-k8s.io']);
  });
});
