import { PreservationController } from '../../src/controllers/preservation/controller.ts';
import { preservedCondition, timeText } from '../../src/controllers/preservation/condition.ts';
import { PRESERVE, SCALE_DOWN_DISABLED, SCALE_DOWN_MARKER } from '../../src/controllers/preservation/names.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import { pruneFor } from '../../src/kube/prune.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../src/ports/machines.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../src/ports/machines.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease, Node, Pod } from '../../src/ports/objects.ts';
import { NODE_FENCES, NODES, PODS } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { median } from './median.ts';

export interface PreservationFigures {
  machines: number;
  pools: number;
  preserved: number;
  /** From the lists, as they come over the wire, to every decision: milliseconds of CPU after a full restart. */
  restartMs: number;
  /** One Machine changes: until its decision is there; median. */
  eventMs: number;
  /** One heartbeat of a Node; median. */
  heartbeatMs: number;
}

const NOW_MS = Date.UTC(2027, 0, 1);
const POOL_LABEL = 'worker.gardener.cloud/pool';
const ROUNDS = 15;
const EXPIRY_MS = NOW_MS + 48 * 3_600_000;
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

const meta = (name: string, more: object = {}) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: timeText(NOW_MS - 3_600_000),
  ...more,
});
const owner = (kind: string, name: string) => [{ apiVersion: 'machine.sapcloud.io/v1alpha1', kind, name, uid: `uid-${name}`, controller: true }];

/** Lists as a server gives them; each twentieth machine is preserved by now, and all of that is written already. */
function listsOf(count: number, pools: number) {
  const isKept = (index: number): boolean => index % 20 === 0;
  const preserved = { type: 'Preserved', ...preservedCondition('Running', 'now', 'pending', timeText(EXPIRY_MS)) };
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: timeText(NOW_MS - 3_000_000) };
  return {
    nodes: Array.from({ length: count }, (_unused, index) => ({
      metadata: meta(`node-${index}`, {
        labels: { 'kubernetes.io/hostname': `node-${index}` },
        annotations: isKept(index) ? { [PRESERVE]: 'now', [SCALE_DOWN_DISABLED]: 'true', [SCALE_DOWN_MARKER]: 'true' } : {},
      }),
      spec: {},
      status: { conditions: isKept(index) ? [ready, preserved] : [ready], nodeInfo: { bootID: `boot-${index}` } },
    })),
    machines: Array.from({ length: count }, (_unused, index) => ({
      metadata: meta(`machine-${index}`, {
        namespace: 'shoot',
        labels: { node: `node-${index}` },
        annotations: isKept(index) ? { 'node.machine.sapcloud.io/last-applied-node-preserve-value': 'now' } : {},
        ownerReferences: owner('MachineSet', `set-${index % pools}`),
      }),
      spec: { providerID: `cloud:///${index}` },
      status: {
        currentStatus: {
          phase: 'Running',
          lastUpdateTime: timeText(NOW_MS - 3_600_000),
          ...(isKept(index) && { preserveExpiryTime: timeText(EXPIRY_MS) }),
        },
      },
    })),
    sets: Array.from({ length: pools }, (_unused, index) => ({
      metadata: meta(`set-${index}`, { namespace: 'shoot', ownerReferences: owner('MachineDeployment', `deployment-${index}`) }),
      spec: { replicas: count / pools },
    })),
    deployments: Array.from({ length: pools }, (_unused, index) => ({
      metadata: meta(`deployment-${index}`, { namespace: 'shoot', labels: { [POOL_LABEL]: `pool-${index}` } }),
      spec: { replicas: count / pools },
    })),
  };
}

/** A restart over settled machines, then single events, in one process without an API server; nothing is to be written. */
export async function measurePreservation(count = 5_000, pools = 100): Promise<PreservationFigures> {
  const wire = JSON.stringify(listsOf(count, pools));
  const clock = new ManualClock({ wallMs: NOW_MS });
  const cacheOf = <T extends KubeObject>(indexers = {}): ObjectCache<T> => new ObjectCache<T>(indexers, QUIET);
  const caches = {
    nodes: cacheOf<Node>(),
    fences: cacheOf<NodeFence>(),
    leases: cacheOf<Lease>(),
    pods: cacheOf<Pod>({ node: () => [] }),
    machines: cacheOf<Machine>(),
    machineSets: cacheOf<MachineSet>(),
    machineDeployments: cacheOf<MachineDeployment>(),
  };
  const { nodes, fences, leases, pods, machines, machineSets, machineDeployments } = caches;
  const settings = { autoPreserveMax: 1, preserveTimeoutMs: 72 * 3_600_000 };
  const configured = { pools: new Map(Array.from({ length: pools }, (_unused, index) => [`pool-${index}`, settings])), problems: [] };
  const site = { cluster: refusing(), recorder: { event: quiet } };
  const controller = new PreservationController({
    clock,
    nodes: { ...site, listers: { nodes, fences, leases, pods } },
    machines: { ...site, listers: { machines, machineSets, machineDeployments } },
    pools: () => configured,
    leadership: { isLeading: true, mayBegin: () => true },
    proofReader: { readAnew: () => Promise.reject(new Error('no fence in this measurement')) },
    tellProblems: quiet,
    log: QUIET,
    metrics: NO_METRICS.preservation,
    options: { mode: 'own', hasExpiryField: true, spelling: 'auto-preserve', requestsWhenFailed: false, enforce: true },
  });
  const fill = <T extends KubeObject>(cache: ObjectCache<T>, resource: Resource<T>, items: readonly unknown[]): void => {
    const prune = pruneFor(resource);
    cache.replaceAll((items as T[]).map((item) => prune(item)));
    cache.reopened(clock.monotonicMs());
    cache.synced = true;
  };
  const restart = async (): Promise<void> => {
    const lists = JSON.parse(wire) as ReturnType<typeof listsOf>;
    controller.start();
    fill(nodes, NODES, lists.nodes);
    fill(fences, NODE_FENCES, []);
    fill(pods, PODS, []);
    fill(machineDeployments, MACHINE_DEPLOYMENTS, lists.deployments);
    fill(machineSets, MACHINE_SETS, lists.sets);
    fill(machines, MACHINES, lists.machines);
    await clock.advance(1_000);
  };
  const restartMs = await cpuMsOf(restart);
  const preserved = controller.views().filter(({ isPreserved }) => isPreserved).length;
  const wrong = [...controller.problems(), ...(preserved === count / 20 ? [] : [`${preserved} are preserved`])];
  if (wrong.length > 0) throw new Error(`the machines are not settled: ${wrong.slice(0, 3).join('; ')}`);
  const events: number[] = [];
  const heartbeats: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const machine = machines.get(`shoot/machine-${round}`);
    const node = nodes.get(`node-${round}`);
    if (machine === undefined || node === undefined) throw new Error('too few machines to measure');
    const version = { resourceVersion: String(round + 1) };
    const beat = { ...node, metadata: { ...node.metadata, ...version } };
    heartbeats.push(await cpuMsOf(async () => (nodes.put(beat), clock.advance(200))));
    const turned = { ...machine, metadata: { ...machine.metadata, ...version, annotations: { [PRESERVE]: 'when-failed' } } };
    events.push(await cpuMsOf(async () => (machines.put(turned), clock.advance(200))));
  }
  await controller.close();
  return { machines: count, pools, preserved, restartMs, eventMs: median(events), heartbeatMs: median(heartbeats) };
}

async function cpuMsOf(work: () => Promise<void>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return Math.round((user + system) / 10) / 100;
}

/** Settled machines need no write: one is a defect of the measurement. */
function refusing(): Cluster {
  const refuse = (): Promise<never> => Promise.reject(new Error('nothing is to be written'));
  const none = (): Promise<never> => Promise.resolve([] as never);
  return { get: refuse, list: none, create: refuse, replace: refuse, replaceStatus: refuse, mergePatch: refuse, remove: refuse, evict: refuse };
}
