import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { REMEDIATION_ACCESS } from '../../src/manifests/remediation-access.ts';
import { clusterMachines, OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import type { ClusterMachine } from '../../src/ports/cluster-api.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP } from '../../src/ports/metal3.ts';
import { PROPOSED_REMEDIATION } from '../../src/ports/remediation.ts';
import { NODES } from '../../src/ports/resources.ts';
import { grantsOf, refusalsIn, rightsOf, rightsUsed } from '../installation/rights.ts';
import { CLUSTERS, DEFINITIONS, MACHINES, NAMESPACE, openDefinition, REQUESTS, ShellWorld, TEMPLATES } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const METAL3_MACHINES: Resource = {
  ...{ group: INFRASTRUCTURE_GROUP, version: 'v1beta2', kind: 'Metal3Machine', plural: 'metal3machines' },
  namespaced: true,
};
const REMEDIATE = 'cluster.x-k8s.io/remediate-machine';
const OF_CLUSTER = { 'cluster.x-k8s.io/cluster-name': 'c' };
/** Of the controller; the others are of those who make requests, and of people. */
const GRANTS = grantsOf(REMEDIATION_ACCESS.filter(({ metadata }) => metadata.name === 'nodefence-remediation'));

let world: ShellWorld;
beforeEach(async () => {
  world = await ShellWorld.create();
  const { operator } = world.own;
  for (const resource of [OPENSHIFT_MACHINES, METAL3_MACHINES, BARE_METAL_HOSTS]) await operator.create(DEFINITIONS, openDefinition(resource));
  await sendShipped(world.own.transport, ['remediation-proposed-crd']);
});
afterEach(() => world.end());

/** A Machine on a host of metal3; with the mark by which a health check asks for remediation. */
async function machineOnHost(resource: Resource<ClusterMachine>, name: string): Promise<ClusterMachine> {
  const { operator } = world.own;
  const host = { 'metal3.io/BareMetalHost': `${NAMESPACE}/host-of-${name}` };
  await operator.create(BARE_METAL_HOSTS, { metadata: { name: `host-of-${name}`, namespace: NAMESPACE }, spec: {} });
  await operator.create(METAL3_MACHINES, { metadata: { name, namespace: NAMESPACE, annotations: host } });
  const infrastructureRef = { apiVersion: `${INFRASTRUCTURE_GROUP}/v1beta2`, apiGroup: INFRASTRUCTURE_GROUP, kind: 'Metal3Machine', name };
  const annotations = { [REMEDIATE]: '', ...(resource === OPENSHIFT_MACHINES && host) };
  await operator.create(resource, {
    metadata: { name, namespace: NAMESPACE, labels: OF_CLUSTER, annotations },
    spec: { clusterName: 'c', bootstrap: { dataSecretName: `bootstrap-${name}` }, infrastructureRef },
  });
  const status = { nodeRef: { name: `node-of-${name}` } };
  const marks = { ...OF_CLUSTER, 'cluster.x-k8s.io/cluster-namespace': NAMESPACE, 'cluster.x-k8s.io/machine': name };
  await world.addNode(`node-of-${name}`, world.own, marks);
  return operator.mergePatch(resource, name, { status }, { namespace: NAMESPACE, subresource: 'status' });
}

async function askFor(resource: Resource<ClusterMachine>, name: string, spec: object): Promise<void> {
  const { metadata } = await machineOnHost(resource, name);
  const ownerReferences = [{ apiVersion: `${resource.group}/${resource.version}`, kind: 'Machine', name, uid: metadata.uid ?? '' }];
  await world.own.operator.create(REQUESTS, { metadata: { name, namespace: NAMESPACE, labels: OF_CLUSTER, ownerReferences }, spec });
}

describe('the role of remediation', { timeout: 60_000 }, () => {
  it('grants nothing that is not used, for Machines of either group, either kind of request, and a Node that goes for good', async () => {
    const { operator, trace } = world.own;
    await operator.create(CLUSTERS, { metadata: { name: 'c', namespace: NAMESPACE }, spec: { paused: false } });
    world.start();
    for (const { requests, templates } of [{ requests: REQUESTS, templates: TEMPLATES }, PROPOSED_REMEDIATION]) {
      await operator.create(templates, { metadata: { name: 'gentle', namespace: NAMESPACE }, spec: { template: { spec: {} } } });
      await operator.create(requests, { metadata: { name: `plain-${requests.group.length}`, namespace: NAMESPACE }, spec: {} });
    }
    // Brought back: their mark is taken away.
    for (const [resource, name] of [
      [MACHINES, 'm1'],
      [OPENSHIFT_MACHINES, 'm2'],
    ] as const)
      await askFor(resource, name, {});
    // Never off: the host of the one is retired, its owner is asked to replace it.
    await askFor(clusterMachines('v1beta2'), 'm3', { strategy: 'escalate', retryLimit: 0, powerOffTimeoutSeconds: 30, onExhaustion: 'Retire' });
    // Off for good.
    await world.addNode('gone');
    await world.request({ name: 'gone', spec: { strategy: 'fence', nodeRemoval: 'DeleteNode' } });
    await world.pass(5 * SECOND_MS);
    const proven = { evidence: world.proof(), journal: [] };
    const ended = (outcome: 'recovered' | 'fenced-off') => ({ ...proven, state: 'final' as const, outcome, timeline: { finalAt: world.now() } });
    for (const node of ['node-of-m1', 'node-of-m2', 'gone']) await world.fenced(node, proven);
    await world.pass(6 * SECOND_MS);
    for (const node of ['node-of-m1', 'node-of-m2']) {
      await world.ready(node, 'True');
      await world.fenced(node, ended('recovered'));
    }
    await world.fenced('gone', ended('fenced-off'));
    await world.pass(40 * SECOND_MS);
    await world.letGo('node-of-m3');
    await world.pass(2 * MINUTE_MS);
    expect(await operator.get(NODES, 'gone')).toBeUndefined();
    const used = rightsUsed(trace, GRANTS);
    expect(rightsOf(GRANTS).filter((right) => !used.has(right))).toEqual([]);
    expect(refusalsIn(trace)).toEqual([]);
  });
});
