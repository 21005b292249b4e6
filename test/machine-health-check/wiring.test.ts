import { afterEach, describe, expect, it } from 'vitest';
import { definitionsOfOthers } from '../shipped.ts';
import { Detector } from '../../src/manager/detection/detector.ts';
import { Owners } from '../../src/manager/detection/ownership.ts';
import { healthCheckDrivers } from '../../src/cli/health-checks/drivers.ts';
import { findFamilies } from '../../src/manager/health-checks/found-families.ts';
import { healthCheckClaim } from '../../src/manager/health-checks/mode.ts';
import type { ServedFamily } from '../../src/manager/health-checks/mode.ts';
import { WatchedKinds } from '../../src/manager/health-checks/watched-kinds.ts';
import { WatchedWorkloads } from '../../src/manager/health-checks/watched-workloads.ts';
import { WorkloadPool } from '../../src/manager/workload-pool.ts';
import { kindKey } from '../../src/controllers/machine-health-check/snapshot.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { ApiStatusError, TransportError } from '../../src/ports/api-transport.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { apiClusters, clusterMachines } from '../../src/ports/cluster-api.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { Lease, Secret } from '../../src/ports/objects.ts';
import { LEASES, NODES, SECRETS } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { definitionOf, DEFINITIONS, REQUESTS } from './definitions.ts';
import { NOW_MS } from './objects.ts';

const SLOW = 60_000;
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const BOTH = {
  properties: {
    deprecated: {
      type: 'object',
      properties: {
        v1beta1: {
          type: 'object',
          properties: { conditions: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
        },
      },
    },
  },
};
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

interface Site {
  clock: ManualClock;
  transport: ApiTransport;
  operator: Cluster;
}

async function siteOf(clock = new ManualClock({ wallMs: NOW_MS })): Promise<Site> {
  const users = [{ name: 'admin', groups: ['system:masters'] }];
  const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac' });
  const transport = inProcessTransport(server, 'admin');
  const operator = new ApiClient({ transport });
  for (const name of ['default', 'capi-system']) {
    await operator.create(NAMESPACES, { metadata: { name } }).catch((error: unknown) => {
      if (!(error instanceof ApiStatusError)) throw error;
    });
  }
  return { clock, transport, operator };
}

async function pass({ clock }: Site, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) await clock.advance(Math.min(500, left));
}

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** What is ours, each time that it changes. */
function detect({ clock, transport }: Site, choice: 'auto' | 'own' = 'auto'): ServedFamily[][] {
  const told: ServedFamily[][] = [];
  const owners = new Owners<ServedFamily>({ clock, log: QUIET, claim: healthCheckClaim(choice), message: 'health checks' });
  const detector = new Detector({
    clock,
    log: QUIET,
    question: 'who owns health checks',
    read: () => findFamilies(transport, clock.wallMs()),
    judge: (found) => {
      const { own, restMs } = owners.judge(found);
      if (JSON.stringify(told.at(-1) ?? []) !== JSON.stringify(own)) told.push(own);
      return restMs;
    },
  });
  detector.start();
  ends.push(() => detector.close());
  return told;
}

describe('health checks', { timeout: SLOW }, () => {
  it('are taken up when the definitions come, and given up when Cluster API renews its Lease', async () => {
    const site = await siteOf();
    const told = detect(site);
    await pass(site, 130_000);
    expect(told).toEqual([]);
    await sendShipped(site.transport, ['machine-health-check-crd']);
    await site.operator.create(DEFINITIONS, definitionOf(clusterMachines('v1beta2'), { status: BOTH }));
    await pass(site, 70_000);
    const machines = { group: 'cluster.x-k8s.io', version: 'v1beta2', hasClusters: false, hasBothLists: true };
    expect(told).toEqual([[machines]]);
    await site.operator.create(DEFINITIONS, definitionOf(apiClusters('v1beta2')));
    await pass(site, 15_000);
    expect(told.at(-1)).toEqual([{ ...machines, hasClusters: true }]);
    const spec = { holderIdentity: 'capi-1', renewTime: new Date(site.clock.wallMs()).toISOString().replace('Z', '000Z'), leaseDurationSeconds: 15 };
    await site.operator.create<Lease>(LEASES, { metadata: { name: 'controller-leader-election-capi', namespace: 'capi-system' }, spec });
    await pass(site, 15_000);
    expect(told.at(-1)).toEqual([]);
    const before = told.length;
    await pass(site, 500_000);
    expect(told).toHaveLength(before);
    await pass(site, 300_000);
    expect(told.at(-1)).toEqual([{ ...machines, hasClusters: true }]);
  });

  it('are read in the shape of the proposal where that is what is installed', async () => {
    const site = await siteOf();
    await sendShipped(site.transport, ['machine-health-check-proposed-crd']);
    await site.operator.create(DEFINITIONS, definitionOf(clusterMachines('v1alpha3')));
    const told = detect(site);
    await pass(site, 1_000);
    expect(told).toEqual([[{ group: 'cluster.x-k8s.io', version: 'v1alpha3', hasClusters: false, hasBothLists: false }]]);
  });

  it('are told of where no Machine can be read in a version of theirs, and not a word where there are none', async () => {
    const site = await siteOf();
    const leader = { isAlive: true };
    expect(await healthCheckDrivers(site, leader)).toEqual([]);
    await sendShipped(site.transport, ['machine-health-check-crd']);
    const told = 'MachineHealthChecks of cluster.x-k8s.io are not driven by nodefence: cluster.x-k8s.io serves MachineHealthChecks in v1beta2 and';
    expect(await healthCheckDrivers(site, leader)).toEqual([expect.stringContaining(`${told} no Machines: install definitions of both`)]);
    await site.operator.create(DEFINITIONS, definitionOf(clusterMachines('v1beta1')));
    expect(await healthCheckDrivers(site, leader)).toEqual([expect.stringContaining(`${told} Machines in v1beta1: install`)]);
  });

  it('are nobody’s of ours where the definition is another’s, unless a person says so', async () => {
    const site = await siteOf();
    for (const definition of definitionsOfOthers('machine-health-check-crd')) await site.operator.create(DEFINITIONS, definition);
    await site.operator.create(DEFINITIONS, definitionOf(clusterMachines('v1beta2')));
    const told = detect(site);
    const own = detect(site, 'own');
    await pass(site, 61_000);
    expect(told).toEqual([]);
    expect(own).toHaveLength(1);
  });
});

describe('a kind that a check names', { timeout: SLOW }, () => {
  it('is found when it comes to be served, watched while it is wanted, and let go', async () => {
    const site = await siteOf();
    const base = { ...site, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
    const kinds = new WatchedKinds(base);
    ends.push(() => kinds.want(new Set()));
    const key = kindKey('remediation.example.io/v1', 'PowerCycle');
    let changes = 0;
    kinds.onChange(() => void (changes += 1));
    expect(kinds.of(key)).toBe('unknown');
    kinds.want(new Set([key]));
    await pass(site, 1_000);
    expect(kinds.of(key)).toBe('absent');
    await site.operator.create(DEFINITIONS, definitionOf(REQUESTS));
    await site.operator.create(REQUESTS, { metadata: { name: 'm1', namespace: 'default' } });
    await pass(site, 31_000);
    const found = kinds.of(key);
    expect(typeof found === 'string' ? found : [...found.lister.all()].map(({ metadata }) => metadata.name)).toEqual(['m1']);
    expect(changes).toBe(2);
    await site.operator.remove(DEFINITIONS, 'powercycles.remediation.example.io');
    await pass(site, 31_000);
    expect(kinds.of(key)).toBe('absent');
    kinds.want(new Set());
    expect(kinds.of(key)).toBe('unknown');
  });
});

describe('a kind that the API server does not tell of', () => {
  it('is looked for later and later, half a minute apart at most', async () => {
    const clock = new ManualClock({ monotonicMs: 0 });
    const asked: number[] = [];
    const request = async (): Promise<never> => {
      asked.push(clock.monotonicMs() / 1_000);
      return Promise.reject(new TransportError('unreachable', 'no route'));
    };
    const transport = { request } as unknown as ApiTransport;
    const kinds = new WatchedKinds({ clock, transport, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch });
    kinds.want(new Set([kindKey('remediation.example.io/v1', 'PowerCycle')]));
    await clock.advance(95_000);
    kinds.want(new Set());
    expect(asked).toEqual([0, 5, 15, 35, 65, 95]);
  });
});

describe('a workload cluster', { timeout: SLOW }, () => {
  it('is reached by its Secret, anew when that changes, and no longer when it goes', async () => {
    const site = await siteOf();
    const workload = await siteOf(site.clock);
    await workload.operator.create(NODES, { metadata: { name: 'there' }, spec: {}, status: {} });
    const reached: string[] = [];
    let closed = 0;
    const base = { ...site, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
    const pool = new WorkloadPool(site.operator, (kubeconfig) => {
      reached.push(kubeconfig);
      if (kubeconfig === 'broken') return Promise.reject(new Error('kubeconfig (Secret): is not YAML'));
      return Promise.resolve({ transport: workload.transport, close: () => void (closed += 1) });
    });
    const workloads = new WatchedWorkloads(base, pool);
    ends.push(() => workloads.want(new Set()));
    workloads.want(new Set(['default/c1']));
    await pass(site, 1_000);
    expect(workloads.of('default/c1')).toBe('no-kubeconfig');

    const secretOf = (text: string): Secret => ({
      metadata: { name: 'c1-kubeconfig', namespace: 'default' },
      data: { value: Buffer.from(text).toString('base64') },
    });
    await site.operator.create(SECRETS, secretOf('first'));
    await pass(site, 31_000);
    const found = workloads.of('default/c1');
    expect(typeof found === 'string' ? found : [...found.lister.all()].map(({ metadata }) => metadata.name)).toEqual(['there']);
    expect([reached, closed]).toEqual([['first'], 0]);
    await pass(site, 61_000);
    expect(workloads.of('default/c1')).toBe(found);

    await site.operator.mergePatch(SECRETS, 'c1-kubeconfig', { data: secretOf('broken').data }, { namespace: 'default' });
    await pass(site, 31_000);
    expect(workloads.of('default/c1')).toBe('unreachable');
    expect(closed).toBe(1);
    expect(workloads.problems()).toEqual(['the Nodes of Cluster default/c1 can not be read: kubeconfig (Secret): is not YAML']);

    await site.operator.mergePatch(SECRETS, 'c1-kubeconfig', { data: secretOf('second').data }, { namespace: 'default' });
    await pass(site, 31_000);
    expect(typeof workloads.of('default/c1')).toBe('object');
    await site.operator.remove(SECRETS, 'c1-kubeconfig', { namespace: 'default' });
    await pass(site, 31_000);
    expect(workloads.of('default/c1')).toBe('no-kubeconfig');
    expect(closed).toBe(2);
  });

  it('whose Secret may not be read is not reached, and the right is named', async () => {
    const site = await siteOf();
    const base = { ...site, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
    const refusing = { get: () => Promise.reject(new ApiStatusError(403, 'Forbidden', 'no')) };
    const workloads = new WatchedWorkloads(base, new WorkloadPool(refusing));
    ends.push(() => workloads.want(new Set()));
    let told = 0;
    workloads.onChange(() => (told += 1));
    workloads.want(new Set(['default/c1']));
    await pass(site, 1_000);
    expect(workloads.of('default/c1')).toBe('unreachable');
    expect(workloads.whyNot('default/c1')).toContain('bind ClusterRole nodefence-workload-clusters in namespace default');
    // It was unreachable before it was asked for: why it is is news all the same.
    expect(told).toBe(1);
    expect(workloads.problems()[0]).toContain('bind ClusterRole nodefence-workload-clusters in namespace default');
  });
});
