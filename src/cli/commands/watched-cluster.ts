import { CANDIDATES_LEASE } from '../../controllers/fence/handover/candidates.ts';
import { KDUMP_LEASE } from '../../domain/kdump/record.ts';
import { sentenceOf } from '../../controllers/self-check/questions.ts';
import type { Reflector } from '../../kube/reflector.ts';
import { voucher } from '../../ports/authorship.ts';
import type { Voucher } from '../../ports/authorship.ts';
import type { Lister } from '../../ports/cluster.ts';
import { NO_METRICS } from '../../ports/metrics.ts';
import type { KubeObject, Lease, Node } from '../../ports/objects.ts';
import { LEASES, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_REPORTS, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../ports/resources.ts';
import type { NodeFence, NodeFenceAcknowledgement, NodeFenceReport, NodeFenceStop } from '../../ports/resources.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../ports/machines.ts';
import { activeFaults } from '../self-check/installation-faults.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import type { NodeOwnership } from '../node-ownership/node-ownership.ts';
import { listNodeOwnership } from '../node-ownership/listed-ownership.ts';
import type { PreservationListers } from '../preservation/listed-machines.ts';
import type { MachineReach } from '../preservation/machine-flags.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { watching } from '../../manager/watching.ts';
import { listed, QUIET } from './listed-cluster.ts';
import { readLease } from './read-lease.ts';
import type { LeaseReading } from './read-lease.ts';

/** What `status` shows, read once or kept fresh. */
export interface FleetListers {
  nodes: Lister<Node>;
  fences: Lister<NodeFence>;
  stops: Lister<NodeFenceStop>;
  reports: Lister<NodeFenceReport>;
  acknowledgements: Lister<NodeFenceAcknowledgement>;
  /** Of the controllers; at most one. */
  leaders: Lister<Lease>;
  /** What the replicas say of themselves; absent: not looked at. */
  replicas?: Lister<Lease>;
  /** Of the replicas: what they hear of crash kernels; absent: not looked at. */
  dumps?: Lister<Lease>;
  /** Why the three above are not known, in words; absent: they were read. */
  unreadLeases?: string;
  /** What is wrong with the installation itself, as it was looked at last, in words. */
  installation?: readonly string[];
  /** Absent: not looked at. */
  preservation?: PreservationListers;
  /** Whose authors the API server vouches for, as it was looked at last; absent: nobody's. */
  vouches?: Voucher;
  /** As it was listed last; absent: not looked at. */
  nodeOwnership?: NodeOwnership;
}

/** What is watched: all nodes or one, and preservation as it was listed. */
export interface Watched {
  node: string | undefined;
  kept: PreservationListers;
  machines: MachineReach;
  nodeOwnership: NodeOwnership;
  unreadLeases: string | undefined;
}

const SYNC_DEADLINE_MS = 20_000;
/** So often it is listed anew who has nodes, and no more than this part of the time is spent on it: there may be thousands of Machines. */
const OWNERSHIP_MS = 5_000;
const OWNERSHIP_SHARE = 1 / 20;

/** Everything once. Rejects when something of it may not be read. */
export async function listFleet(access: ClusterAccess): Promise<FleetListers> {
  const { cluster } = access;
  const [nodes, fences, stops, reports, acknowledgements, leader, replicas, dumps, installation, vouches] = await Promise.all([
    cluster.list(NODES),
    cluster.list(NODE_FENCES),
    cluster.list(NODE_FENCE_STOPS),
    cluster.list(NODE_FENCE_REPORTS),
    cluster.list(NODE_FENCE_ACKNOWLEDGEMENTS),
    readLease(access, LEADER_LEASE),
    readLease(access, CANDIDATES_LEASE),
    readLease(access, KDUMP_LEASE),
    activeFaults(access),
    voucher(cluster),
  ]);
  return {
    nodes: listed(nodes),
    fences: listed(fences),
    stops: listed(stops),
    reports: listed(reports),
    acknowledgements: listed(acknowledgements),
    leaders: listed(found(leader)),
    replicas: listed(found(replicas)),
    dumps: listed(found(dumps)),
    ...(leader.unread !== undefined && { unreadLeases: leader.unread }),
    installation: installation.length === 0 ? [] : [sentenceOf(installation)],
    vouches,
  };
}

function found({ lease }: LeaseReading): Lease[] {
  return lease === undefined ? [] : [lease];
}

/** The same, kept equal to the cluster by watches until it is closed. */
export class WatchedFleet {
  readonly listers: FleetListers;
  readonly #reflectors: readonly Reflector<KubeObject>[];
  readonly #access: ClusterAccess;
  readonly #listeners: (() => void)[] = [];
  #cancel: () => void = () => undefined;
  #ownershipError: string | undefined;
  #isClosed = false;

  /** What was listed: of preservation the Machines are watched where they are seen, the rest is listed again and again. */
  constructor(
    access: ClusterAccess,
    { kept, machines, nodeOwnership, unreadLeases }: Pick<Watched, 'kept' | 'machines' | 'nodeOwnership' | 'unreadLeases'>,
  ) {
    this.#access = access;
    const { transport, clock, random, namespace } = access;
    const base = { transport, clock, random, logger: QUIET, metrics: NO_METRICS.watch };
    const { watch, reflectors } = watching(base);
    this.#reflectors = reflectors;
    const lease = (name: string): Lister<Lease> =>
      unreadLeases === undefined ? watch(LEASES, { namespace, fieldSelector: `metadata.name=${name}` }) : listed<Lease>([]);
    this.listers = {
      nodes: watch(NODES),
      fences: watch(NODE_FENCES),
      stops: watch(NODE_FENCE_STOPS),
      reports: watch(NODE_FENCE_REPORTS),
      acknowledgements: watch(NODE_FENCE_ACKNOWLEDGEMENTS),
      leaders: lease(LEADER_LEASE),
      replicas: lease(CANDIDATES_LEASE),
      dumps: lease(KDUMP_LEASE),
      ...(unreadLeases !== undefined && { unreadLeases }),
      preservation: kept,
      nodeOwnership,
    };
    if (!kept.mode.readsMachines) return;
    const there = { transport: machines.transport, ...(machines.namespace !== undefined && { namespace: machines.namespace }) };
    this.listers.preservation = {
      ...kept,
      machines: watch(MACHINES, there),
      machineSets: watch(MACHINE_SETS, there),
      machineDeployments: watch(MACHINE_DEPLOYMENTS, there),
    };
  }

  async start(): Promise<void> {
    for (const reflector of this.#reflectors) reflector.start();
    const [vouches] = await Promise.all([
      voucher(this.#access.cluster),
      ...this.#reflectors.map((reflector) => reflector.untilSynced(SYNC_DEADLINE_MS)),
    ]);
    this.listers.vouches = vouches;
    this.#lookLater(OWNERSHIP_MS);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
    for (const { lister } of this.#reflectors) lister.onChange(listener);
  }

  /** Why what is shown may be old; undefined while all watches are live. */
  get trouble(): string | undefined {
    return this.#reflectors.find((reflector) => reflector.lastError !== undefined)?.lastError?.message ?? this.#ownershipError;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    for (const reflector of this.#reflectors) reflector.close();
  }

  #lookLater(afterMs: number): void {
    if (!this.#isClosed) this.#cancel = this.#access.clock.after(afterMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { clock } = this.#access;
    const beganMs = clock.monotonicMs();
    try {
      this.listers.nodeOwnership = await listNodeOwnership(this.#access);
      this.listers.vouches = await voucher(this.#access.cluster);
      const faults = await activeFaults(this.#access);
      this.listers.installation = faults.length === 0 ? [] : [sentenceOf(faults)];
      this.#ownershipError = undefined;
    } catch (error) {
      this.#ownershipError = error instanceof Error ? error.message : String(error);
    }
    if (!this.#isClosed) for (const listener of this.#listeners) listener();
    this.#lookLater(Math.max(OWNERSHIP_MS, (clock.monotonicMs() - beganMs) / OWNERSHIP_SHARE));
  }
}
