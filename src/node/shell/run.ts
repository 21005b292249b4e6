import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { DEVICES_MAX } from '../../domain/scsi-registration.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { BindAddress } from '../../http/bind-address.ts';
import { ApiClient } from '../../kube/client.ts';
import { HttpsTransport } from '../../kube/https-transport.ts';
import { loadServerConfig } from '../../kube/kubeconfig/kubeconfig.ts';
import type { ServerConfig } from '../../kube/kubeconfig/server-config.ts';
import type { Clock } from '../../ports/clock.ts';
import type { NodeCheck } from '../../ports/node-checks.ts';
import type { DaemonLog } from '../../ports/node-daemon.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { Children, roomFor } from '../checks/children.ts';
import { daemonChecks } from '../checks/daemon-checks.ts';
import type { VerifiedFileSystems } from '../checks/daemon-checks.ts';
import { LeaseDisk } from '../checks/lease-disk.ts';
import { StorageLease } from '../checks/storage-lease.ts';
import type { StorageLeaseOptions } from '../checks/storage-lease.ts';
import type { StorageTarget } from '../checks/storage-probe.ts';
import { NodeDaemon } from '../core/daemon.ts';
import type { NodeDaemonPorts } from '../core/daemon.ts';
import { ownAddressTowards, UdpSocket } from './datagram-socket.ts';
import { loadExchangeKeys } from './exchange-key-file.ts';
import { messageOf } from '../core/message-of.ts';
import { OrderRecordFile } from './order-record-store.ts';
import { KeepRecordFile } from './keep-record-store.ts';
import { machineIdentity } from './machine-identity.ts';
import { SysrqReset } from './machine-reset.ts';
import { OwnNodeConditions } from './node-conditions.ts';
import type { ServedStatus } from './metrics-page.ts';
import { PromiseFile } from './promise-store.ts';
import { PersistRegistrations } from './registrations.ts';
import type { RegistrationOptions } from './registrations.ts';
import { StatusSocket, STATUS_SOCKET } from './status-socket.ts';
import { SystemdOrders } from './systemd-orders.ts';
import { SystemdNotify } from './systemd-notify.ts';
import { UnfenceRecordFile } from './unfence-record-store.ts';
import { KernelWatchdog } from './watchdog-device.ts';
import { watchdogDevices } from './watchdog-facts.ts';
import { PodStopper } from './workload/workload-stopper.ts';

export interface NodeDaemonRun {
  node: string;
  namespace: string;
  kubeconfig?: string;
  listen: BindAddress;
  /** What others reach; absent: the address that the API server is reached from. */
  address?: string;
  stateDir: string;
  runDir: string;
  /** A device, or `none`; absent: the first that the kernel has, hardware before software. */
  watchdog?: string;
  /** Those that were written for this node. */
  times: WrittenTimes;
  /** Where Prometheus asks; absent: nobody does. */
  metricsAddress?: BindAddress;
  isArmedBesideCrashKernel: boolean;
  fencesItself: boolean;
  /** Shared storage that the node's workload writes to. */
  storage: readonly StorageTarget[];
  /** What it looks at of conditions that others post; absent: nothing. Paths are the node's own. */
  fileSystems?: Pick<VerifiedFileSystems, 'written' | 'byDesign'>;
  /** Absent: the loss of storage takes nothing down. */
  storageLostMs?: number;
  /** What it registers this node on again; absent: nothing. */
  unfence?: RegistrationOptions;
  /** Carries out orders of the controllers; absent: it refuses them. */
  softFence?: { kubeletUnit?: string; containerRuntimeUnit?: string };
  /** Absent: it renews no slot on shared storage. */
  storageLease?: Pick<StorageLeaseOptions, 'path' | 'cluster' | 'slot' | 'intervalMs'>;
  /** Absent: a slot that it cannot renew takes nothing down. */
  storageLeaseLostMs?: number;
  /** Posts what its checks find as conditions of its Node. */
  postsConditions: boolean;
  version: string;
  /** `/`, and a tree of files in tests. */
  root: string;
  /** Where its checks find the file system of the node; absent: they run on the node itself, or in a pod that is not shown it. */
  hostRoot?: string;
  environment: Readonly<Record<string, string | undefined>>;
  log: DaemonLog;
}

export interface RunningNodeDaemon {
  /** A clean stop. */
  close(): Promise<'disarmed' | 'armed'>;
}

const API_DEADLINE_MS = 5_000;

function serverOf({ log, environment, kubeconfig }: NodeDaemonRun, clock: Clock): Promise<ServerConfig> {
  const logger = { ...log, debug: () => undefined };
  return loadServerConfig({ environment, clock, logger, ...(kubeconfig === undefined ? {} : { path: kubeconfig }) });
}

/** Builds the daemon of this machine and runs it. Rejects where it cannot do its duty at all. */
export async function runNodeDaemon(run: NodeDaemonRun): Promise<RunningNodeDaemon> {
  const { log, root, environment, node, namespace, fencesItself } = run;
  const clock = new SystemClock();
  const identity = machineIdentity(root);
  const server = await serverOf(run, clock);
  const transport = new HttpsTransport({ server, clock, userAgent: `nodefence-node/${run.version}` });
  const { keys, problem } = loadExchangeKeys(join(run.runDir, 'exchange-key.json'));
  if (problem !== undefined) log.warn('the key of an earlier process is not used', { problem });
  const socket = await UdpSocket.open({ listen: run.listen, address: run.address ?? (await reachableHost(run.listen, server.url)) });
  const record = new KeepRecordFile(join(run.runDir, 'keep.json'), identity.bootID);
  const device = await watchdogOf(run, record);
  const { isArmedBesideCrashKernel } = run;
  const lease = storageLeaseOf(run, clock, identity);
  const daemon = new NodeDaemon(
    {
      clock,
      cluster: new ApiClient({ transport, deadlineMs: API_DEADLINE_MS }),
      socket,
      keys,
      ...(device === 'none' ? {} : { watchdog: new KernelWatchdog({ root, device, clock, log, isArmedBesideCrashKernel }) }),
      workload: new PodStopper({ root, clock, log }),
      machine: new SysrqReset({ root, logger: { ...log, debug: () => undefined } }),
      record,
      promises: new PromiseFile(join(run.stateDir, 'promises.json')),
      checks: [...checksOf(run, clock), ...(lease === undefined ? [] : [lease.slots.check])],
      ...(lease === undefined ? {} : { slots: lease.slots }),
      ...ordersOf(run, clock, identity.bootID),
      ...(run.postsConditions ? { conditions: new OwnNodeConditions(transport, node, API_DEADLINE_MS) } : {}),
      ...unfencing(run, clock, identity.bootID),
      log,
    },
    {
      ...identity,
      node,
      namespace,
      fencesItself,
      times: run.times,
      ...(run.storageLostMs === undefined ? {} : { storageLostMs: run.storageLostMs }),
      ...(run.storageLeaseLostMs === undefined ? {} : { storageLeaseLostMs: run.storageLeaseLostMs }),
    },
  );
  // Before anything is armed: two daemons on one node would feed for each other.
  const served = (): ServedStatus => ({ ...daemon.status(), datagrams: socket.counts });
  const status = await StatusSocket.listen(join(run.runDir, STATUS_SOCKET), served, (error) =>
    log.warn('status was not served', { error: messageOf(error) }),
  );
  await daemon.start();
  const metrics = run.metricsAddress === undefined ? undefined : await serveMetrics(run.metricsAddress, served, log);
  log.info('starting', { version: run.version, node, address: socket.address, boot: identity.bootID, server: server.url.host });
  const notify = new SystemdNotify({ environment, log });
  void notify.ready(`node ${node}`);
  const cancelPings = keepTelling(notify, daemon);
  return {
    close: async () => {
      void notify.stopping();
      const end = await daemon.close();
      await lease?.slots.release();
      lease?.disk.close();
      cancelPings();
      metrics?.close();
      await status.close();
      transport.close();
      return end;
    },
  };
}

/** The one that an earlier process of this boot left armed, whatever is wanted since: nobody else would feed it. */
async function watchdogOf({ watchdog, root, log }: NodeDaemonRun, record: KeepRecordFile): Promise<string> {
  const left = await record.read();
  const wanted = watchdog ?? (await watchdogDevices(root))[0] ?? '/dev/watchdog0';
  if (left?.isArmed !== true || left.device === undefined || left.device === wanted) return wanted;
  log.warn('the watchdog that an earlier daemon left armed is used until the next clean stop', {
    device: left.device,
    reason: `${wanted} is wanted`,
  });
  return left.device;
}

/** Not among the children of the checks: what hangs there must not keep the registrations waiting. */
function unfencing({ unfence, runDir }: NodeDaemonRun, clock: SystemClock, bootID: string): Pick<NodeDaemonPorts, 'unfence'> {
  if (unfence === undefined) return {};
  const children = new Children({ clock, stateFolder: join(runDir, 'unfence-children'), most: DEVICES_MAX });
  return {
    unfence: { registrations: new PersistRegistrations(children, unfence), record: new UnfenceRecordFile(join(runDir, 'unfence.json'), bootID) },
  };
}

/** Loaded only where it is wanted. An address that is taken keeps nobody from feeding the watchdog. */
async function serveMetrics(address: BindAddress, served: () => ServedStatus, log: DaemonLog): Promise<{ close(): void } | undefined> {
  const { MetricsServer } = await import('./metrics-server.ts');
  try {
    return await MetricsServer.listen(address, served, (error) => log.warn('metrics were not served', { error: messageOf(error) }));
  } catch (error) {
    log.error('no metrics are served', { error: messageOf(error) });
    return undefined;
  }
}

function ordersOf({ softFence, runDir }: NodeDaemonRun, clock: SystemClock, bootID: string): Pick<NodeDaemonPorts, 'orders'> {
  if (softFence === undefined) return {};
  const children = new Children({ clock, stateFolder: join(runDir, 'orders') });
  return { orders: { store: new OrderRecordFile(join(runDir, 'orders.json'), bootID), executor: new SystemdOrders({ children, ...softFence }) } };
}

function checksOf({ root, hostRoot, runDir, stateDir, storage, fileSystems, environment, log }: NodeDaemonRun, clock: SystemClock): NodeCheck[] {
  const seesFiles = hostRoot !== undefined || environment['KUBERNETES_SERVICE_HOST'] === undefined;
  if (!seesFiles && fileSystems !== undefined) log.error('file systems are not verified: this pod is not shown the files of its node (--host-root)');
  if (!seesFiles) log.info('kdump and the previous boot are not checked: this pod is not shown the files of its node (--host-root)');
  // Not the folder of `nodefence node check`: what hangs there must not be mistaken for what this process began.
  const runFolder = join(runDir, 'daemon-checks');
  const children = new Children({ clock, stateFolder: runFolder });
  const probes = new Children({ clock, stateFolder: join(runFolder, 'storage'), most: roomFor(storage.length) });
  const folders = { root: hostRoot ?? root, runFolder, stateFolder: join(stateDir, 'checks') };
  const verified = fileSystems && { ...fileSystems, ownFolder: stateDir };
  return daemonChecks({ ...folders, clock, children, probes, seesFiles, fileSystems: verified }, storage);
}

/** In a pod the device or file is where the pod is shown it. */
function storageLeaseOf(
  { storageLease, runDir, node }: NodeDaemonRun,
  clock: SystemClock,
  identity: { systemUUID: string; bootID: string },
): { slots: StorageLease; disk: LeaseDisk } | undefined {
  if (storageLease === undefined) return undefined;
  const disk = new LeaseDisk({ clock, path: storageLease.path, stateFolder: join(runDir, 'daemon-checks', 'lease') });
  const { bootID, systemUUID } = identity;
  return { disk, slots: new StorageLease(clock, disk, { ...storageLease, node, bootID, systemUUID }) };
}

/** systemd hears of progress only while every check gets on. */
function keepTelling(notify: SystemdNotify, daemon: NodeDaemon): () => void {
  const intervalMs = notify.pingIntervalMs;
  if (intervalMs === undefined) return () => undefined;
  const timer = setInterval(() => {
    if (daemon.progress.stuck().length === 0) void notify.progress();
  }, intervalMs);
  return () => clearInterval(timer);
}

/** The address that the API server is reached from; where that cannot be found out, the first of this machine. */
async function reachableHost(listen: BindAddress, server: URL): Promise<string> {
  if (listen.host !== '::' && listen.host !== '0.0.0.0') return listen.host;
  try {
    const { address } = await lookup(server.hostname.replace(/^\[(.*)\]$/, '$1'));
    return await ownAddressTowards(address, Number(server.port === '' ? 443 : server.port));
  } catch (error) {
    const own = Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0),
    );
    if (own[0] === undefined)
      throw new Error(`no address of this node is known that others reach (${messageOf(error)}): name it with --address`, { cause: error });
    return own[0].address;
  }
}
