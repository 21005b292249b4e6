import { afterEach, describe, expect, it } from 'vitest';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { clusterMachines, machineHealthChecks, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { NODE_FENCE_REMEDIATION } from '../../src/ports/remediation.ts';
import { LEASES, NODES } from '../../src/ports/resources.ts';
import { definitionOf } from './definitions.ts';
import { ago, checkObject, machineObject, nodeConditionsOf, NAMESPACE } from './objects.ts';
import { startProgram } from './program.ts';
import type { Program, ProgramParts } from './program.ts';
import { CHECKS, MACHINES } from './shell-world.ts';

const SLOW = 60_000;
/** Their kinds are found within a minute, and the five minutes of the checks begin when their machines are first heard. */
const FOUND_MS = 370_000;
const REQUESTS: Resource<UntypedObject> = NODE_FENCE_REMEDIATION.requests;
const TEMPLATES: Resource<UntypedObject> = NODE_FENCE_REMEDIATION.templates;
const OPENSHIFT_CHECKS = machineHealthChecks(OPENSHIFT_GROUP, OPENSHIFT_MACHINES.version);
const CLUSTER_API = { folders: ['machine-health-check-crd', 'remediation'], definitions: [definitionOf(clusterMachines('v1beta2'))] };
const OPENSHIFT = [definitionOf(OPENSHIFT_CHECKS), definitionOf(OPENSHIFT_MACHINES)];

const programs: Program[] = [];
afterEach(async () => {
  for (const program of programs.splice(0)) await program.close();
});

async function compose(parts: Partial<ProgramParts> = {}): Promise<Program> {
  const program = await startProgram({ ...CLUSTER_API, ...parts });
  if (program === undefined) throw new Error('they are off');
  programs.push(program);
  return program;
}

async function fail(operator: Cluster): Promise<void> {
  const place = { namespace: NAMESPACE };
  await operator.create(NODES, { metadata: { name: 'node-of-m1' }, spec: {}, status: {} });
  await operator.mergePatch(NODES, 'node-of-m1', { status: { conditions: nodeConditionsOf('Unknown', 400) } }, { subresource: 'status' });
  const { status, ...machine } = machineObject('m1');
  const { uid: _uid, resourceVersion: _version, ...metadata } = machine.metadata;
  await operator.create(MACHINES, { ...machine, metadata });
  await operator.mergePatch(MACHINES, 'm1', { status }, { ...place, subresource: 'status' });
  await operator.create(TEMPLATES, { metadata: { name: 'cycle', namespace: NAMESPACE }, spec: { template: { spec: {} } } });
  const templateRef = { apiVersion: `${TEMPLATES.group}/${TEMPLATES.version}`, kind: TEMPLATES.kind, name: 'cycle' };
  const checks = { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] };
  const check = checkObject('check', { checks, remediation: { templateRef } });
  const { uid: _checkUID, resourceVersion: _checkVersion, ...of } = check.metadata;
  await operator.create(CHECKS, { ...check, metadata: of });
}

describe('health checks in the program', { timeout: SLOW }, () => {
  it('ask for a remediation of ours under the rights that are shipped, and take it back', async () => {
    const scene = await compose();
    await fail(scene.operator);
    await scene.pass(FOUND_MS);
    const request = await scene.operator.get(REQUESTS, 'm1', NAMESPACE);
    expect(request?.metadata.ownerReferences).toMatchObject([{ kind: 'Machine', name: 'm1' }]);
    expect((await scene.operator.get(CHECKS, 'check', NAMESPACE))?.status).toMatchObject({ expectedMachines: 1, currentHealthy: 0 });
    await scene.operator.mergePatch(NODES, 'node-of-m1', { status: { conditions: nodeConditionsOf('True', 1) } }, { subresource: 'status' });
    await scene.pass(20_000);
    expect(await scene.operator.get(REQUESTS, 'm1', NAMESPACE)).toBeUndefined();
    expect(scene.warnings).toEqual([]);
  });

  it('end with the next look when another controller takes them over', async () => {
    const scene = await compose();
    await scene.pass(2_000);
    expect(scene.healthChecks.reflectors.map(({ name }) => name)).toEqual(['machinehealthchecks.cluster.x-k8s.io', 'machines.cluster.x-k8s.io']);
    const spec = { holderIdentity: 'capi-1', renewTime: new Date(scene.clock.wallMs()).toISOString().replace('Z', '000Z'), leaseDurationSeconds: 15 };
    await scene.operator.create<Lease>(LEASES, { metadata: { name: 'controller-leader-election-capi', namespace: 'default' }, spec });
    await scene.pass(15_000);
    expect(scene.healthChecks.reflectors).toEqual([]);
    await fail(scene.operator);
    await scene.pass(60_000);
    expect(await scene.operator.get(REQUESTS, 'm1', NAMESPACE)).toBeUndefined();
  });

  it('are off where the rights to know who else is there are missing', async () => {
    const scene = await compose({ withRights: false });
    await fail(scene.operator);
    await scene.pass(130_000);
    expect(scene.healthChecks.reflectors).toEqual([]);
    expect(await scene.operator.get(REQUESTS, 'm1', NAMESPACE)).toBeUndefined();
  });

  it('are not there at all where they are switched off', async () => {
    expect(await startProgram({ ...CLUSTER_API, choice: 'off' })).toBeUndefined();
  });
});

describe('health checks of OpenShift in the program', { timeout: SLOW }, () => {
  const EXTERNAL = 'host.metal3.io/external-remediation';

  async function openshiftMachine({ operator }: Program, name: string): Promise<void> {
    await operator.create(NODES, { metadata: { name: `node-of-${name}` }, spec: {}, status: {} });
    await operator.mergePatch(NODES, `node-of-${name}`, { status: { conditions: nodeConditionsOf('Unknown', 600) } }, { subresource: 'status' });
    const { labels, ownerReferences = [] } = machineObject(name).metadata;
    await operator.create(OPENSHIFT_MACHINES, { metadata: { name, namespace: NAMESPACE, labels: labels ?? {}, ownerReferences }, spec: {} });
    const status = { nodeRef: { name: `node-of-${name}` }, phase: 'Running', lastUpdated: ago(7_200) };
    await operator.mergePatch(OPENSHIFT_MACHINES, name, { status }, { namespace: NAMESPACE, subresource: 'status' });
  }

  async function openshiftCheck({ operator }: Program, annotations: Record<string, string>): Promise<void> {
    const unhealthyConditions = [{ type: 'Ready', status: 'Unknown', timeout: '300s' }];
    const spec = { selector: { matchLabels: { role: 'worker' } }, unhealthyConditions };
    await operator.create(OPENSHIFT_CHECKS, { metadata: { name: 'mhc', namespace: NAMESPACE, annotations }, spec });
  }

  it('ask whoever power-cycles hosts by the annotation of the Machine, and write how many are healthy, under the rights that are shipped', async () => {
    const scene = await compose({ folders: [], definitions: OPENSHIFT, choice: 'own' });
    await openshiftMachine(scene, 'm1');
    await openshiftCheck(scene, { 'machine.openshift.io/remediation-strategy': 'external-baremetal' });
    await scene.pass(FOUND_MS);
    const machine = await scene.operator.get(OPENSHIFT_MACHINES, 'm1', NAMESPACE);
    expect(machine?.metadata.annotations).toMatchObject({ [EXTERNAL]: '' });
    expect(scene.events.filter((event) => event === 'Machine m1 Normal ExternalAnnotationAdded')).toHaveLength(1);
    expect((await scene.operator.get(OPENSHIFT_CHECKS, 'mhc', NAMESPACE))?.status).toMatchObject({ expectedMachines: 1, currentHealthy: 0 });
    const writes = scene.trace.filter(({ verb, resource }) => verb === 'patch' && resource.startsWith('machines.')).length;
    await scene.pass(120_000);
    expect(scene.trace.filter(({ verb, resource }) => verb === 'patch' && resource.startsWith('machines.'))).toHaveLength(writes);
    expect(scene.warnings).toEqual([]);
  });

  it('delete the Machine of a controller, once, and no other', async () => {
    const scene = await compose({ folders: [], definitions: OPENSHIFT, choice: 'own' });
    await openshiftMachine(scene, 'm1');
    await openshiftMachine(scene, 'm2');
    await scene.operator.mergePatch(NODES, 'node-of-m2', { status: { conditions: nodeConditionsOf('True', 600) } }, { subresource: 'status' });
    await openshiftCheck(scene, {});
    await scene.pass(FOUND_MS);
    const deleted = scene.trace.filter(({ verb, resource, status }) => verb === 'delete' && resource.startsWith('machines.') && status === 200);
    expect(deleted.map(({ name }) => name)).toEqual(['m1']);
    expect(scene.events).toContain('Machine m1 Normal MachineDeleted');
    expect(scene.warnings).toEqual([]);
  });

  it('are nobody’s of ours where machine-api-operator is at work, whatever was chosen', async () => {
    const scene = await compose({ folders: [], definitions: OPENSHIFT, choice: 'own' });
    const spec = { holderIdentity: 'mao-1', renewTime: new Date(scene.clock.wallMs()).toISOString().replace('Z', '000Z'), leaseDurationSeconds: 120 };
    await scene.operator.create<Lease>(LEASES, { metadata: { name: 'cluster-api-provider-healthcheck-leader', namespace: 'default' }, spec });
    await openshiftMachine(scene, 'm1');
    await openshiftCheck(scene, {});
    await scene.pass(130_000);
    expect(scene.healthChecks.reflectors).toEqual([]);
    expect(await scene.operator.get(OPENSHIFT_MACHINES, 'm1', NAMESPACE)).toBeDefined();
  });
});
