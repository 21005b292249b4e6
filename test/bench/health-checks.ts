import { decide } from '../../src/controllers/machine-health-check/decide.ts';
import { readCluster } from '../../src/controllers/machine-health-check/read/cluster.ts';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import { readMachine } from '../../src/controllers/machine-health-check/read/machine.ts';
import { Roster } from '../../src/controllers/machine-health-check/roster.ts';
import type { NodeFacts, Snapshot } from '../../src/controllers/machine-health-check/snapshot.ts';
import { costedSpreadOf, rounded, spreadCells, tableOf } from './figures.ts';
import type { CostedSpread } from './figures.ts';
import { measureHealthCheckShell } from './health-check-shell.ts';
import type { HealthCheckShellFigures } from './health-check-shell.ts';

export interface HealthCheckFigures {
  machines: number;
  checks: number;
  /** Machines that fail at one instant. */
  failed: number;
  /** Everything decided once, from nothing: CPU of the whole, the median of a few rounds. */
  fullMs: number;
  /** One Node changes, one check is decided anew. */
  event: CostedSpread;
  /** The same while `failed` machines wait for their writes. */
  eventInStorm: CostedSpread;
  /** The same where one check has all machines, well and in a storm. */
  eventOfOneCheck: CostedSpread;
  eventOfOneCheckInStorm: CostedSpread;
  /** The same by the controller as it runs. */
  shell: HealthCheckShellFigures;
}

const NOW_MS = Date.UTC(2027, 0, 1);
const ROUNDS = 7;
const WARM_UP = 3;
const EVENTS = 1_000;
const BOTH = { hasBothLists: true };

function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1_000).toISOString();
}

function nodeOf(index: number, isWell: boolean): NodeFacts {
  const ready = { type: 'Ready', status: isWell ? 'True' : 'Unknown', reason: 'NodeStatusUnknown', sinceMs: NOW_MS - 400_000 };
  const others = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: 'False', reason: 'Fine', sinceMs: 0 }));
  return { cluster: '', name: `node-${index}`, conditions: [...others, ready] };
}

function condition(type: string, reason: string): object {
  return { type, status: 'True', reason, message: '', lastTransitionTime: ago(7_200) };
}

function machineOf(index: number, pools: number): Snapshot['machines'][number] {
  const name = `machine-${index}`;
  const conditions = ['Available', 'BootstrapConfigReady', 'InfrastructureReady', 'NodeHealthy', 'NodeReady', 'Ready'].map((type) =>
    condition(type, 'Fine'),
  );
  // As a check has left it; otherwise each of them would wait for a write.
  const well = { type: 'HealthCheckSucceeded', status: 'True', lastTransitionTime: ago(7_000) };
  const metadata = { name, namespace: 'machines', uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: ago(7_200) };
  const object = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { ...metadata, labels: { role: 'worker', pool: `pool-${index % pools}` } },
    spec: { clusterName: 'c' },
    status: {
      nodeRef: { name: `node-${index}` },
      conditions: [...conditions, condition(well.type, well.type)],
      deprecated: { v1beta1: { conditions: [...conditions, well] } },
    },
  };
  return readMachine(object, BOTH);
}

function checkOf(index: number): Snapshot['checks'][number] {
  const unhealthyNodeConditions = ['Unknown', 'False'].map((status) => ({ type: 'Ready', status, timeoutSeconds: 300 }));
  const object = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineHealthCheck',
    metadata: { name: `check-${index}`, namespace: 'machines', uid: `uid-check-${index}`, creationTimestamp: ago(86_400) },
    spec: { clusterName: 'c', selector: { matchLabels: { role: 'worker', pool: `pool-${index}` } }, checks: { unhealthyNodeConditions } },
  };
  return readHealthCheck(object, BOTH);
}

function pictureOf(machines: number, checks: number, failed: number): Snapshot {
  const gates = ['ControlPlaneInitialized', 'InfrastructureReady'].map((type) => ({ type, status: 'True', lastTransitionTime: ago(86_400) }));
  const metadata = { name: 'c', namespace: 'machines', uid: 'uid-c' };
  const indexes = Array.from({ length: machines }, (_none, index) => index);
  return {
    nowMs: NOW_MS,
    hasClusters: true,
    checks: Array.from({ length: checks }, (_none, index) => checkOf(index)),
    machines: indexes.map((index) => machineOf(index, checks)),
    nodes: indexes.map((index) => nodeOf(index, index >= failed)),
    clusters: [readCluster({ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, status: { conditions: gates } }, '')],
    requests: [],
    templates: [],
  };
}

function cpuMsOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** Nodes that are well go down and come up again, one after the other; the time of each change with its decision. */
function eventsOf(picture: Snapshot, failed: number): Promise<CostedSpread> {
  const roster = new Roster(picture);
  for (const cluster of picture.clusters) roster.putCluster(cluster);
  for (const node of picture.nodes) roster.putNode(node);
  for (const machine of picture.machines) roster.putMachine(machine);
  for (const check of picture.checks) roster.putCheck(check);
  for (const key of roster.checks()) roster.decide(key, NOW_MS);
  const others = picture.machines.length - failed;
  return costedSpreadOf(EVENTS, (event) => {
    const index = failed + (Math.floor(event / 2) % others);
    for (const key of roster.putNode(nodeOf(index, event % 2 === 1))) roster.decide(key, NOW_MS);
  });
}

/** Evaluation of MachineHealthChecks in one process: no API server, no write. */
export async function measureHealthChecks(machines = 5_000, checks = 50, failed = 1_000): Promise<HealthCheckFigures> {
  const picture = pictureOf(machines, checks, failed);
  const runs = Array.from({ length: ROUNDS + WARM_UP }, () => cpuMsOf(() => void decide(picture))).slice(WARM_UP);
  return {
    machines,
    checks,
    failed,
    fullMs: rounded(runs.toSorted((left, right) => left - right)[Math.floor(ROUNDS / 2)] ?? Number.NaN),
    event: await eventsOf(pictureOf(machines, checks, 0), 0),
    eventInStorm: await eventsOf(picture, failed),
    eventOfOneCheck: await eventsOf(pictureOf(machines, 1, 0), 0),
    eventOfOneCheckInStorm: await eventsOf(pictureOf(machines, 1, failed), failed),
    shell: await measureHealthCheckShell({ machines, checks, failed }),
  };
}

export function healthCheckWords({ machines, checks, failed, fullMs, shell, ...events }: HealthCheckFigures): string {
  const cells = (name: string, spread: CostedSpread): string[] => [...spreadCells(name, spread, 2), spread.cpuMean.toFixed(2)];
  const rows = [
    cells(`one of ${checks} checks, all well`, events.event),
    cells(`one of ${checks} checks, ${failed} failed`, events.eventInStorm),
    cells('the only check, all well', events.eventOfOneCheck),
    cells(`the only check, ${failed} failed`, events.eventOfOneCheckInStorm),
    cells(`the controller, ${checks} checks, all well`, shell.event),
    cells(`the controller, ${checks} checks, ${failed} failed`, shell.eventInStorm),
  ];
  return [
    `health checks: ${machines} machines under ${checks} checks, ${failed} of them failed: CPU for everything from nothing ${fullMs} ms (decided), ${shell.fullMs} ms (by the controller, objects read); for one changed Node`,
    tableOf([['milliseconds', 'n', 'p50', 'p99', 'max', 'CPU'], ...rows]),
  ].join('\n');
}
