import { afterEach, describe, expect, it } from 'vitest';
import { REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { MACHINE_REMEDIATION_ACCESS, MACHINE_REMEDIATION_GUARD } from '../../src/manifests/machine-remediation-access.ts';
import { CLUSTER_API_GROUP, machineHealthChecks, OPENSHIFT_GROUP, OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import { grantsOf, refusalsIn, rightsOf, rightsUsed } from '../installation/rights.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const PLACE = { namespace: HOSTS_NAMESPACE };
const OWNED = [{ apiVersion: 'apps/v1', kind: 'MachineSet', name: 's', uid: 'u', controller: true }];
const OPENSHIFT_CHECKS = machineHealthChecks(OPENSHIFT_GROUP, OPENSHIFT_MACHINES.version);
const KINDS = [OPENSHIFT_MACHINES, OPENSHIFT_CHECKS, machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2')];
/** Of the controller; the other role is for those who ask. */
const OWN = MACHINE_REMEDIATION_ACCESS.filter(({ metadata }) => metadata.name === 'nodefence-machine-remediation');
const GRANTS = grantsOf(OWN);
let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

/** The host of n2 is that of a Machine of OpenShift. */
async function openShift(): Promise<void> {
  await world.operator.remove(HOST_MACHINES, hostMachineName('n2'), PLACE);
  const annotations = { 'metal3.io/BareMetalHost': `${HOSTS_NAMESPACE}/${hostName('n2')}` };
  await world.operator.create(OPENSHIFT_MACHINES, { metadata: { name: 'os-n2', ...PLACE, annotations, ownerReferences: OWNED }, spec: {} });
  await world.operator.mergePatch(OPENSHIFT_MACHINES, 'os-n2', { status: { nodeRef: { name: 'n2' } } }, { ...PLACE, subresource: 'status' });
  const consumerRef = { kind: 'Machine', name: 'os-n2', ...PLACE };
  await world.operator.mergePatch(BARE_METAL_HOSTS, hostName('n2'), { spec: { consumerRef } }, PLACE);
}

describe('the role of machine remediation', { timeout: 60_000 }, () => {
  it('grants nothing that is not used, for Machines of Cluster API and of OpenShift, from the request to the deletion of one that does not come back', async () => {
    world = await ShellWorld.create({ kinds: KINDS });
    await openShift();
    await world.operator.mergePatch(HOST_MACHINES, hostMachineName('n1'), { metadata: { ownerReferences: OWNED } }, PLACE);
    await world.operator.create(OPENSHIFT_CHECKS, { metadata: { name: 'check', ...PLACE }, spec: { selector: {}, nodeStartupTimeout: '5m' } });
    const { warnings } = world.start();
    await world.pass(30 * SECOND_MS);
    for (const node of ['n1', 'n2']) world.hardware(node).isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    await world.annotate(OPENSHIFT_MACHINES, 'os-n2', { [REQUEST]: '' });
    await world.pass(8 * MINUTE_MS);
    expect(await world.operator.get(OPENSHIFT_MACHINES, 'os-n2', HOSTS_NAMESPACE)).toBeUndefined();
    expect(await world.machine('n1')).toBeDefined();
    await world.pass(15 * MINUTE_MS);
    expect(await world.machine('n1')).toBeUndefined();
    expect([world.hardware('n1').offs, world.hardware('n2').offs]).toEqual([1, 1]);
    expect(warnings).toEqual([]);
    const used = rightsUsed(world.trace, GRANTS);
    const seldom = rightsOf(GRANTS).filter((right) => !used.has(right));
    // Asked for by the guards alone.
    expect(seldom).toEqual([
      'cluster: remediate machines.cluster.x-k8s.io',
      'cluster: remediate machines.machine.openshift.io',
      'cluster: restore nodes',
    ]);
    expect(refusalsIn(world.trace)).toEqual([]);
  });

  it('is enough to see that a health check gives a node all the time that it likes, also where that is said late', async () => {
    world = await ShellWorld.create({ kinds: KINDS });
    await openShift();
    world.start();
    await world.pass(30 * SECOND_MS);
    world.hardware('n2').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.annotate(OPENSHIFT_MACHINES, 'os-n2', { [REQUEST]: '' });
    await world.pass(8 * MINUTE_MS);
    await world.operator.create(OPENSHIFT_CHECKS, { metadata: { name: 'check', ...PLACE }, spec: { selector: {}, nodeStartupTimeout: '0' } });
    await world.pass(60 * MINUTE_MS);
    expect(await world.operator.get(OPENSHIFT_MACHINES, 'os-n2', HOSTS_NAMESPACE)).toBeDefined();
  });

  it('is not what those get who ask: they may write a Machine, and are bound by an administrator', () => {
    const requester = MACHINE_REMEDIATION_ACCESS.filter(({ metadata }) => metadata.name === 'nodefence-machine-remediation-requester');
    expect(requester.map(({ kind }) => kind)).toEqual(['ClusterRole']);
    expect(rightsOf(grantsOf(requester))).toEqual(
      ['get', 'patch', 'remediate'].flatMap((verb) => [
        `cluster: ${verb} machines.cluster.x-k8s.io`,
        `cluster: ${verb} machines.machine.openshift.io`,
      ]),
    );
  });

  it('has a guard beside it, which lets nobody write or remove the request who has not its verb', () => {
    const [policy, bound] = MACHINE_REMEDIATION_GUARD;
    const text = JSON.stringify(policy);
    expect(text).toContain(`'${REQUEST}' in object.metadata.annotations`);
    expect(text).toContain(".check('remediate').allowed()");
    expect(text).toContain('variables.isAsked == variables.wasAsked || variables.mayAsk');
    expect(bound?.spec).toEqual({ policyName: policy?.metadata.name, validationActions: ['Deny'] });
  });
});
