import { afterEach, describe, expect, it } from 'vitest';
import { composeHealthChecks } from '../../src/cli/health-checks/compose-health-checks.ts';
import type { WatchedHealthChecks } from '../../src/cli/health-checks/watched-health-checks.ts';
import type { ControllerOptions, ControllerPorts } from '../../src/cli/composition.ts';
import { WorkloadPool } from '../../src/cli/workload-pool.ts';
import { ApiServer } from '../../src/drill/apiserver/server.ts';
import { testRandom } from '../../src/drill/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/drill/apiserver/transport.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE as OWN_NAMESPACE } from '../../src/manifests/access.ts';
import { HEALTH_CHECK_ACCESS } from '../../src/manifests/health-check-access.ts';
import { HEALTH_CHECK_DEFINITION } from '../../src/manifests/health-check-definitions.ts';
import { REMEDIATION_DEFINITIONS } from '../../src/manifests/remediation-definitions.ts';
import type { Cluster, Lister, Resource } from '../../src/ports/cluster.ts';
import { clusterMachines } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease } from '../../src/ports/objects.ts';
import { NODE_FENCE_REMEDIATION } from '../../src/ports/remediation.ts';
import { LEASES, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { definitionOf, DEFINITIONS } from './definitions.ts';
import { checkObject, machineObject, nodeConditionsOf, NAMESPACE, NOW_MS } from './objects.ts';
import { CHECKS, MACHINES } from './shell-world.ts';

const SLOW = 60_000;
const ACCOUNT = `system:serviceaccount:${OWN_NAMESPACE}:${CONTROLLER_ACCOUNT}`;
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const REQUESTS: Resource<UntypedObject> = NODE_FENCE_REMEDIATION.requests;
const TEMPLATES: Resource<UntypedObject> = NODE_FENCE_REMEDIATION.templates;

interface Scene {
  clock: ManualClock;
  operator: Cluster;
  healthChecks: WatchedHealthChecks;
  warnings: string[];
}

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function rights(kind: string): Resource {
  return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
}

/** As the program composes it, under the account and the rights that are shipped. */
async function compose(choice: 'auto' | 'off' = 'auto', { withRights = true } = {}): Promise<Scene | undefined> {
  const clock = new ManualClock({ wallMs: NOW_MS });
  const users = [
    { name: 'admin', groups: ['system:masters'] },
    { name: ACCOUNT, groups: ['system:serviceaccounts', 'system:authenticated'] },
  ];
  const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac' });
  const admin = inProcessTransport(server, 'admin');
  const operator = new ApiClient({ transport: admin });
  await install({ transport: admin, cluster: operator });
  const definitions = [HEALTH_CHECK_DEFINITION, definitionOf(clusterMachines('v1beta2')), ...REMEDIATION_DEFINITIONS];
  for (const definition of definitions) await operator.create(DEFINITIONS, definition);
  if (withRights) for (const object of HEALTH_CHECK_ACCESS) await operator.create<KubeObject>(rights(object.kind), object);

  const transport = inProcessTransport(server, ACCOUNT);
  const base = { transport, clock, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
  const watch = <T extends KubeObject>(resource: Resource<T>): Lister<T> => {
    const reflector = new Reflector<T>({ ...base, resource });
    reflector.start();
    ends.push(() => {
      reflector.close();
    });
    return reflector.lister;
  };
  const warnings: string[] = [];
  const logger = { ...QUIET, warn: (message: string, fields?: object) => void warnings.push(`${message} ${JSON.stringify(fields)}`) };
  const ports = { transport, clock, random: testRandom(), logger, metrics: NO_METRICS, recorder: { event: quiet } } as unknown as ControllerPorts;
  const cluster = new ApiClient({ transport });
  const healthChecks = composeHealthChecks(ports, { mode: 'enforce', healthChecks: choice } as ControllerOptions, {
    cluster,
    workloads: new WorkloadPool(cluster),
    listers: { nodes: watch(NODES), fences: watch(NODE_FENCES) },
    leadership: { isLeading: true, mayBegin: () => true },
  });
  if (healthChecks === undefined) return undefined;
  ends.push(async () => {
    const closing = healthChecks.close();
    await clock.advance(1);
    await closing;
  });
  healthChecks.start();
  return { clock, operator, healthChecks, warnings };
}

async function pass({ clock }: Scene, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) await clock.advance(Math.min(500, left));
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
    if (scene === undefined) throw new Error('they are off');
    await fail(scene.operator);
    await pass(scene, 70_000);
    const request = await scene.operator.get(REQUESTS, 'm1', NAMESPACE);
    expect(request?.metadata.ownerReferences).toMatchObject([{ kind: 'Machine', name: 'm1' }]);
    expect(scene.healthChecks.views()).toMatchObject([{ name: 'check', failed: 1, inFlight: 1 }]);
    await scene.operator.mergePatch(NODES, 'node-of-m1', { status: { conditions: nodeConditionsOf('True', 1) } }, { subresource: 'status' });
    await pass(scene, 20_000);
    expect(await scene.operator.get(REQUESTS, 'm1', NAMESPACE)).toBeUndefined();
    expect(scene.warnings).toEqual([]);
  });

  it('end with the next look when another controller takes them over', async () => {
    const scene = await compose();
    if (scene === undefined) throw new Error('they are off');
    await pass(scene, 2_000);
    expect(scene.healthChecks.reflectors.map(({ name }) => name)).toEqual(['machinehealthchecks.cluster.x-k8s.io', 'machines.cluster.x-k8s.io']);
    const spec = { holderIdentity: 'capi-1', renewTime: new Date(scene.clock.wallMs()).toISOString().replace('Z', '000Z'), leaseDurationSeconds: 15 };
    await scene.operator.create<Lease>(LEASES, { metadata: { name: 'controller-leader-election-capi', namespace: 'default' }, spec });
    await pass(scene, 15_000);
    expect(scene.healthChecks.reflectors).toEqual([]);
    await fail(scene.operator);
    await pass(scene, 60_000);
    expect(await scene.operator.get(REQUESTS, 'm1', NAMESPACE)).toBeUndefined();
  });

  it('are off where the rights to know who else is there are missing', async () => {
    const scene = await compose('auto', { withRights: false });
    if (scene === undefined) throw new Error('they are off');
    await fail(scene.operator);
    await pass(scene, 130_000);
    expect(scene.healthChecks.reflectors).toEqual([]);
    expect(await scene.operator.get(REQUESTS, 'm1', NAMESPACE)).toBeUndefined();
  });

  it('are not there at all where they are switched off', async () => {
    expect(await compose('off')).toBeUndefined();
  });
});
