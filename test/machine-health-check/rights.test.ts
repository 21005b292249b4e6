import { afterEach, describe, expect, it } from 'vitest';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { HEALTH_CHECK_ACCESS } from '../../src/manifests/health-check-access.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { apiClusters, clusterMachines, machineHealthChecks, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { metal3Remediations } from '../../src/ports/metal3.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../../src/ports/remediation.ts';
import { NODES, SECRETS } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { grantsOf, refusalsIn, rightsOf, rightsUsed } from '../installation/rights.ts';
import { definitionOf } from './definitions.ts';
import { ago, checkObject, clusterObject, machineObject, nodeConditionsOf, NAMESPACE } from './objects.ts';
import { startProgram } from './program.ts';
import type { Program } from './program.ts';
import { CHECKS, CLUSTERS, MACHINES } from './shell-world.ts';

const OPENSHIFT_CHECKS = machineHealthChecks(OPENSHIFT_GROUP, OPENSHIFT_MACHINES.version);
const METAL3 = metal3Remediations('v1beta2');
const KINDS = [NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION, METAL3];
const METAL3_KINDS: readonly Resource[] = [METAL3.requests, METAL3.templates];
const SERVED = ['machine-health-check-crd', 'remediation', 'remediation-proposed-crd', 'workload-clusters'];
const OTHERS = [clusterMachines('v1beta2'), apiClusters('v1beta2'), OPENSHIFT_CHECKS, OPENSHIFT_MACHINES, ...METAL3_KINDS];
const DEFINED = OTHERS.map((kind) => definitionOf(kind));
/** Of the controller, with what a person binds for kubeconfigs. */
const GRANTS = grantsOf(HEALTH_CHECK_ACCESS);

/** Rights that this course need not make use of, and why they are granted all the same. */
const SELDOM_USED: Readonly<Record<string, string>> = {
  'cluster: get machines.cluster.x-k8s.io':
    'read again before a request is created that a refusal has held up: nothing is written to the Machine before it then',
  'cluster: get machines.machine.openshift.io': 'the same, where a check of OpenShift has a template',
};

let program: Program | undefined;
afterEach(async () => program?.close());

async function put(resource: Resource<UntypedObject>, object: UntypedObject): Promise<void> {
  const { operator } = program as Program;
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  await operator.create(resource, { ...object, metadata });
  if (object.status === undefined) return;
  await operator.mergePatch(resource, metadata.name, { status: object.status }, { namespace: NAMESPACE, subresource: 'status' });
}

async function failedNode(name: string): Promise<void> {
  const { operator } = program as Program;
  await operator.create(NODES, { metadata: { name: `node-of-${name}` }, spec: { providerID: `test:///${name}` }, status: {} });
  await operator.mergePatch(NODES, `node-of-${name}`, { status: { conditions: nodeConditionsOf('Unknown', 600) } }, { subresource: 'status' });
}

function labelled(name: string, labels: Record<string, string>): UntypedObject {
  const machine = machineObject(name, { labels });
  return { ...machine, spec: { ...(machine.spec as object), providerID: `test:///${name}` } };
}

/** A check of Cluster API for machines with this label, and a failed machine under it. */
async function failUnder(name: string, remediation: object): Promise<void> {
  await failedNode(name);
  await put(MACHINES, labelled(name, { under: name }));
  const checks = { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] };
  await put(CHECKS, checkObject(`check-${name}`, { selector: { matchLabels: { under: name } }, checks, ...remediation }));
}

describe('the role of health checks', { timeout: 120_000 }, () => {
  it('grants nothing that is not used, in either group, for every kind of request that is ours or metal3’s', async () => {
    const server = new ApiServer({
      clock: new ManualClock(),
      random: testRandom(),
      users: [{ name: 'admin', groups: ['system:masters'] }],
      authorization: 'rbac',
    });
    program = await startProgram({ folders: SERVED, definitions: DEFINED, choice: 'own', elsewhere: inProcessTransport(server, 'admin') });
    if (program === undefined) throw new Error('they are off');
    const { operator } = program;
    await put(CLUSTERS, clusterObject());
    // Its owner.
    await failUnder('owned', {});
    // A request of each kind.
    for (const [index, { templates }] of KINDS.entries()) {
      const template = { metadata: { name: 'cycle', namespace: NAMESPACE }, spec: { template: { spec: {} } } };
      await put(templates, template);
      const templateRef = { apiVersion: `${templates.group}/${templates.version}`, kind: templates.kind, name: 'cycle' };
      await failUnder(`by-${index}`, { remediation: { templateRef } });
    }
    // OpenShift: annotated, and deleted.
    for (const name of ['annotated', 'deleted']) {
      await failedNode(name);
      const { ownerReferences = [] } = machineObject(name).metadata;
      const status = { nodeRef: { name: `node-of-${name}` }, phase: 'Running', lastUpdated: ago(7_200) };
      await put(OPENSHIFT_MACHINES, { metadata: { name, namespace: NAMESPACE, labels: { under: name }, ownerReferences }, spec: {}, status });
      const unhealthyConditions = [{ type: 'Ready', status: 'Unknown', timeout: '300s' }];
      const annotations: Record<string, string> = name === 'annotated' ? { 'machine.openshift.io/remediation-strategy': 'external-baremetal' } : {};
      const spec = { selector: { matchLabels: { under: name } }, unhealthyConditions };
      await put(OPENSHIFT_CHECKS, { metadata: { name, namespace: NAMESPACE, annotations }, spec });
    }
    // The timeouts begin when the machines are first heard.
    await program.pass(430_000);
    // Healthy again: what was asked for is taken back.
    for (const index of KINDS.keys()) {
      const place = { subresource: 'status' } as const;
      await operator.mergePatch(NODES, `node-of-by-${index}`, { status: { conditions: nodeConditionsOf('True', 1) } }, place);
    }
    await program.pass(60_000);
    // And there is a way to a workload cluster.
    const data = { value: Buffer.from('a kubeconfig').toString('base64') };
    await operator.create(SECRETS, { metadata: { name: 'c1-kubeconfig', namespace: NAMESPACE }, data });
    await program.pass(60_000);
    const used = rightsUsed(program.trace, GRANTS);
    expect(rightsOf(GRANTS).filter((right) => !used.has(right))).toEqual(Object.keys(SELDOM_USED));
    expect(refusalsIn(program.trace)).toEqual([]);
  });
});
