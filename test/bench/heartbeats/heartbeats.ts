import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NodeDaemonController } from '../../../src/controllers/node-daemons/controller.ts';
import { toldTo } from '../../../src/controllers/node-daemons/choose-told.ts';
import { ATTESTATION, attestationName, PEERS } from '../../../src/domain/node-daemon/attestation.ts';
import type { PeerEntry } from '../../../src/domain/node-daemon/attestation.ts';
import { EMPTY_PLAN } from '../../../src/domain/plan.ts';
import type { Plan } from '../../../src/domain/plan.ts';
import { ObjectCache } from '../../../src/kube/lister.ts';
import { UdpSocket } from '../../../src/node/shell/datagram-socket.ts';
import { X25519_KEY_PAIRS } from '../../../src/node/shell/exchange-keys.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';
import { NO_METRICS } from '../../../src/ports/metrics.ts';
import type { ConfigMap, KubeObject, Lease, Node } from '../../../src/ports/objects.ts';
import type { NodeFenceReport } from '../../../src/ports/resources.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { rounded } from '../figures.ts';
import type { DaemonsSent, DaemonsTold } from './daemons.ts';

export interface HeartbeatFigures {
  daemons: number;
  seconds: number;
  /** Heartbeats that arrived, of those that were sent meanwhile. */
  received: number;
  sent: number;
  granted: number;
  /** CPU of the controller's process, system calls included, in percent of one core. */
  cpuPercent: number;
  cpuMicrosPerHeartbeat: number;
  rssMb: number;
}

const NAMESPACE = 'nodefence-system';
const WARM_UP_MS = 8_000;
const MEASURED_MS = 20_000;
const ZONES = 3;
const ZONE = 'topology.kubernetes.io/zone';
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const PLAN: Plan = { ...EMPTY_PLAN, fastDetectionMs: 3_000 };

/** The controllers' side of the node daemons as it runs, with real datagrams and keys; without an API server, for nothing is to be written. */
export async function measureHeartbeats(count: number): Promise<HeartbeatFigures> {
  const privateKey = X25519_KEY_PAIRS.generate();
  const socket = await UdpSocket.open({ listen: { host: '127.0.0.1', port: 0 } });
  const { publicKey } = X25519_KEY_PAIRS.load(privateKey);
  const child = fork(fileURLToPath(new URL('daemons.ts', import.meta.url)), [String(count), socket.address, publicKey]);
  let last: DaemonsSent = { sent: 0 };
  const told = await new Promise<DaemonsTold>((resolve, reject) => {
    child.on('error', reject);
    child.on('message', (message: DaemonsTold | DaemonsSent) => {
      if ('daemons' in message) resolve(message);
      else last = message;
    });
  });
  const counts = { received: 0, granted: 0 };
  const controller = controllerOf({ socket, privateKey, told, counts });
  controller.start();
  await sleep(WARM_UP_MS);
  const [beganMs, began, before, sentBefore] = [performance.now(), process.cpuUsage(), { ...counts }, last];
  await sleep(MEASURED_MS);
  const { user, system } = process.cpuUsage(began);
  const [ms, received, sent] = [performance.now() - beganMs, counts.received - before.received, last.sent - sentBefore.sent];
  const granted = counts.granted - before.granted;
  await controller.close();
  child.disconnect();
  return {
    ...{ daemons: count, seconds: rounded(ms / 1_000), received, sent, granted },
    cpuPercent: rounded((user + system) / 10 / ms),
    cpuMicrosPerHeartbeat: rounded((user + system) / received),
    rssMb: Math.round(process.memoryUsage.rss() / 1_048_576),
  };
}

export function heartbeatWords({ daemons, seconds, received, sent, granted, cpuPercent, cpuMicrosPerHeartbeat, rssMb }: HeartbeatFigures): string {
  return `heartbeats: ${daemons} daemons for ${seconds} s, ${received} of ${sent} heartbeats received and ${granted} granted: ${cpuPercent} % of a core, ${cpuMicrosPerHeartbeat} µs for each; ${rssMb} MB resident`;
}

interface Given {
  socket: UdpSocket;
  privateKey: string;
  told: DaemonsTold;
  counts: { received: number; granted: number };
}

function controllerOf({ socket, privateKey, told, counts }: Given): NodeDaemonController {
  const clock = new SystemClock();
  const leases = cacheOf(leasesOf(told));
  const nodes = cacheOf<Node>(
    told.daemons.map(({ node, bootID }, index) => ({
      metadata: { name: node, labels: { [ZONE]: zoneOf(index) } },
      spec: {},
      status: { nodeInfo: { bootID } },
    })),
  );
  // Not synced, as the ConfigMaps are not: nothing is to be written, as where everything stands there already.
  const reports = new ObjectCache<NodeFenceReport>({}, QUIET);
  const metrics = { ...NO_METRICS.nodeDaemons, received: () => void (counts.received += 1), answered: () => void (counts.granted += 1) };
  return new NodeDaemonController({
    ...{ clock, metrics, socket, keyPairs: X25519_KEY_PAIRS, cluster: clusterOf(privateKey, leases) },
    log: QUIET,
    leadership: { isLeading: true, epoch: 1, mayBegin: () => true },
    recorder: { event: quiet },
    listers: { nodes, reports, leases, configMaps: new ObjectCache<ConfigMap>({}, QUIET) },
    writtenTimes: () => ({}),
    fast: {
      planner: { planFor: () => PLAN, parametersFor: () => Promise.resolve({}) },
      kubeletLeases: leases,
      lifeAtMs: () => clock.monotonicMs(),
      recorder: { event: quiet },
      wake: quiet,
      prober: { probe: () => Promise.resolve(undefined) },
    },
    tellProblems: quiet,
    options: { namespace: NAMESPACE, replica: 'a', replicasLease: 'nodefence-candidates', topologyKeys: [ZONE] },
  });
}

function zoneOf(index: number): string {
  return `zone-${index % ZONES}`;
}

/** Each with as many peers as it would be told. */
function leasesOf({ address, daemons }: DaemonsTold): Lease[] {
  const entries = new Map<string, PeerEntry>();
  for (const [index, { node, publicKey }] of daemons.entries()) entries.set(node, { node, publicKey, address, domain: `${ZONE}=${zoneOf(index)}` });
  const told = toldTo(daemons[0]?.node ?? '', `${ZONE}=${zoneOf(0)}`, entries);
  return daemons.map(({ node, bootID, publicKey }) => {
    const attestation = { bootID, systemUUID: node, publicKey, address, peers: told.peers.map((peer) => peer.node) };
    const annotations = { [ATTESTATION]: JSON.stringify(attestation), [PEERS]: JSON.stringify(told) };
    return { metadata: { name: attestationName(node), namespace: NAMESPACE, annotations }, spec: {} };
  });
}

function cacheOf<T extends KubeObject>(objects: readonly T[]): ObjectCache<T> {
  const cache = new ObjectCache<T>({}, QUIET);
  cache.replaceAll(objects);
  cache.synced = true;
  cache.reopened(new SystemClock().monotonicMs());
  return cache;
}

function clusterOf(privateKey: string, leases: ObjectCache<Lease>): Cluster {
  const accepted = (): Promise<KubeObject> => Promise.resolve({ metadata: { name: 'written' } });
  return {
    get: () => Promise.resolve({ metadata: { name: 'key' }, data: { privateKey: btoa(privateKey) } }),
    list: () => Promise.resolve([...leases.all()]),
    ...{ create: accepted, mergePatch: accepted, replaceStatus: accepted },
  } as unknown as Cluster;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
