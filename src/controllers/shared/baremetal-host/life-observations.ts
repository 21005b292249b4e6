import type { Clock } from '../../../ports/clock.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { Lease, Node } from '../../../ports/objects.ts';

interface Observation {
  renewTime: string | undefined;
  /** Since when the Lease has stood so. */
  sinceMs: number;
  /** When it was renewed, or the kubelet wrote its status; undefined: never since this process looks. */
  lastLifeMs: number | undefined;
}

/** So many Nodes that are gone are remembered at most. */
const GONE_MAX = 1_000;

export interface LifeSources {
  clock: Pick<Clock, 'monotonicMs'>;
  /** Of namespace kube-node-lease. */
  leases: Lister<Lease>;
  nodes: Lister<Node>;
}

/** Signs of life of Nodes as they were received, by the clock of this process: a renewed Lease, a heartbeat of one that is Ready (P2). */
export class LifeObservations {
  readonly #sources: LifeSources;
  readonly #observations = new Map<string, Observation>();
  readonly #leave: (() => void)[] = [];

  constructor(sources: LifeSources) {
    this.#sources = sources;
  }

  /** Listens from now on. What stands already is an observation and no sign. */
  start(): void {
    const { leases, nodes } = this.#sources;
    for (const lease of leases.all()) this.#see(lease, false);
    this.#leave.push(
      leases.onChange((before, after) => {
        if (after !== undefined) this.#see(after, before !== undefined || leases.synced);
        else this.#forgetGone();
      }),
      nodes.onChange((before, after) => {
        const beat = after === undefined ? undefined : heartbeatOf(after);
        if (before !== undefined && after !== undefined && beat !== undefined && beat !== heartbeatOf(before)) this.#hear(after.metadata.name);
      }),
    );
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }

  /** As a consistent read shows it: a renewal that the watch has not brought yet is received now. */
  seeLease(lease: Lease): void {
    this.#see(lease, this.#observations.has(lease.metadata.name));
  }

  /** When the last sign of life of this Node was received; undefined: none since this process looks. */
  lastLifeMs(node: string): number | undefined {
    return this.#observations.get(node)?.lastLifeMs;
  }

  /** How many Nodes are remembered. */
  get size(): number {
    return this.#observations.size;
  }

  /** For how long nothing was heard of this Node although it could have been. */
  silentForMs(node: string): number {
    const { clock, leases } = this.#sources;
    const observation = this.#observations.get(node);
    if (observation === undefined) return 0;
    return clock.monotonicMs() - Math.max(observation.sinceMs, observation.lastLifeMs ?? 0, leases.freshSinceMs ?? 0);
  }

  #see({ metadata: { name }, spec: { renewTime } }: Lease, isSign: boolean): void {
    const known = this.#observations.get(name);
    if (known !== undefined && known.renewTime === renewTime) return;
    const nowMs = this.#sources.clock.monotonicMs();
    this.#observations.set(name, { renewTime, sinceMs: nowMs, lastLifeMs: isSign ? nowMs : known?.lastLifeMs });
  }

  /** A Node that is deleted for a while keeps its observation; where nodes come and go, those that are gone for good do not pile up. */
  #forgetGone(): void {
    const { leases, nodes } = this.#sources;
    if (this.#observations.size <= GONE_MAX) return;
    const there = new Set([...nodes.all(), ...leases.all()].map(({ metadata }) => metadata.name));
    if (this.#observations.size <= there.size + GONE_MAX) return;
    for (const name of this.#observations.keys()) if (!there.has(name)) this.#observations.delete(name);
  }

  #hear(node: string): void {
    const nowMs = this.#sources.clock.monotonicMs();
    this.#observations.set(node, { renewTime: undefined, sinceMs: nowMs, ...this.#observations.get(node), lastLifeMs: nowMs });
  }
}

/** Others write the condition too, when they have not heard of the kubelet: then it is not True. */
function heartbeatOf({ metadata, status }: Node): string | undefined {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? `${metadata.uid ?? ''} ${ready.lastHeartbeatTime ?? ''}` : undefined;
}
