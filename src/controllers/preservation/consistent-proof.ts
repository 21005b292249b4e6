import { fenceName } from '../../domain/node-fence.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Lease, ManagedFields } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import type { ProofRead, ProofReader } from '../../ports/proof-reads.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { ObjectRef } from './actions.ts';
import { fenceProof, provenFor } from './fence-proof.ts';
import { nodeFacts, timeMs } from './node-facts.ts';

export interface ProofSources {
  clock: Pick<Clock, 'monotonicMs'>;
  cluster: Pick<Cluster, 'get'>;
  log: Logger;
  reader: ProofReader;
  /** Leases: of namespace kube-node-lease. */
  listers: { fences: Lister<NodeFence>; leases: Lister<Lease> };
}

/** The Lease of a node as it stood when the proof was there. */
interface Observation {
  proof: string;
  renewal: string | undefined;
  /** Monotonic time of the first look at it. */
  sinceMs: number;
  /** `watched`: as the watch had it when it brought the proof; what it brings later may be older than what stood already. `read`: by a consistent read, after the proof. */
  by: 'watched' | 'read';
  /** It has not been renewed since before the proof. */
  isOfBefore: boolean;
}

const WANTED = { isIsolated: 'can not write', isOff: 'is off' } as const;
/** A kubelet renews its Lease every 10 s; one that stood still for so long is nobody's. Kubernetes' own lease duration of a node. */
const SILENCE_MS = 40_000;
/** So many nodes are remembered. Who is forgotten is waited for anew. */
const OBSERVATIONS_MAX = 1_000;
const RENEWED = 'its lease was renewed after the proof: it has to be fenced again';
const SILENCE = `it is not known yet that its lease was not renewed since the proof: it must not be for ${SILENCE_MS / 1_000} s, in which a kubelet that lives renews it`;

/**
 * Whether what can not be taken back may rest on the proof of a fence, also where the fence is over and nobody voids it there (P1, P2). A renewal is a change of
 * the Lease, by our own clock: that of the kubelet may be wrong by any time.
 */
export class ConsistentProofs {
  readonly #sources: ProofSources;
  /** By the name of the node. */
  readonly #observations = new Map<string, Observation>();
  #unsubscribe: () => void = () => undefined;

  constructor(sources: ProofSources) {
    this.#sources = sources;
  }

  /** Listens from now on: a proof that comes later finds the Lease as it was before it. */
  start(): void {
    const { clock, listers } = this.#sources;
    const { fences, leases } = listers;
    this.#unsubscribe = fences.onChange((before, after) => {
      const proof = after && proofIn(after);
      if (after === undefined || proof === undefined || !fences.synced || (before !== undefined && proofIn(before) === proof)) return;
      const lease = leases.get(`${NODE_LEASE_NAMESPACE}/${after.spec.node}`);
      if (lease === undefined) return;
      this.#see(after.spec.node, { proof, renewal: renewalOf(lease), sinceMs: clock.monotonicMs(), by: 'watched', isOfBefore: false });
      void this.#catchUp(after.spec.node, proof);
    });
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Why nothing may rest on the proof that this node `isOff` or `isIsolated`, in words; undefined: it stands. Node, Lease and NodeFence are read consistently. */
  async unprovenBecause(node: Pick<ObjectRef, 'name' | 'uid'>, wanted: keyof typeof WANTED): Promise<string | undefined> {
    const { cluster } = this.#sources;
    const fence = await cluster.get(NODE_FENCES, fenceName(node.name));
    const [standing, lease] = await Promise.all([cluster.get(NODES, node.name), cluster.get(LEASES, node.name, NODE_LEASE_NAMESPACE)]);
    if (standing?.metadata.uid !== node.uid) return 'its Node was deleted, or replaced under the same name';
    const { ready, bootID } = nodeFacts(standing);
    if (ready === 'True') return 'the node is Ready';
    const proof = fence && proofIn(fence);
    if (fence === undefined || proof === undefined || !provenFor(fenceProof(fence), bootID)[wanted]) {
      return `no fence has proven that the node ${WANTED[wanted]}`;
    }
    return isStampedAfter(lease, fence) ? RENEWED : this.#renewedSince(node.name, proof, lease);
  }

  /**
   * As `unprovenBecause`, with the device read anew: a proof says nothing of what a person has switched on since, and a fence that is over reads it no more.
   * Node, Lease and NodeFence are read after the device (P2).
   */
  async readAnew(node: Pick<ObjectRef, 'name' | 'uid'>, wanted: keyof typeof WANTED): Promise<ProofRead> {
    const { cluster, reader } = this.#sources;
    const before = await this.unprovenBecause(node, wanted);
    if (before !== undefined) return { doubt: before };
    const fence = await cluster.get(NODE_FENCES, fenceName(node.name));
    const read = fence === undefined ? { doubt: 'its NodeFence is gone' } : await reader.readAnew(fence);
    if ('doubt' in read) return read;
    const since = await this.unprovenBecause(node, wanted);
    return since === undefined ? read : { doubt: since };
  }

  #renewedSince(node: string, proof: string, lease: Lease | undefined): string | undefined {
    const nowMs = this.#sources.clock.monotonicMs();
    const renewal = renewalOf(lease);
    const known = this.#observations.get(node);
    const isKnown = known?.proof === proof;
    if (isKnown && known.by === 'read' && renewal !== undefined && renewal !== known.renewal) return RENEWED;
    if (!isKnown || known.by === 'watched') {
      const isOfBefore = renewal === undefined || (isKnown && renewal === known.renewal && this.#wasToldAtOnce(known));
      this.#see(node, { proof, renewal, sinceMs: nowMs, by: 'read', isOfBefore });
      return isOfBefore ? undefined : SILENCE;
    }
    // While the API server was away nobody could renew anything.
    const sinceMs = Math.max(known.sinceMs, this.#sources.listers.leases.freshSinceMs ?? known.sinceMs);
    return known.isOfBefore || nowMs - sinceMs >= SILENCE_MS ? undefined : SILENCE;
  }

  /** What is renewed from now on is renewed after the proof. Where it can not be read, it is when it is asked for. */
  async #catchUp(node: string, proof: string): Promise<void> {
    const { cluster, log } = this.#sources;
    try {
      const lease = await cluster.get(LEASES, node, NODE_LEASE_NAMESPACE);
      if (this.#observations.get(node)?.proof === proof) this.#renewedSince(node, proof, lease);
    } catch (error) {
      log.debug('the lease of a node that is proven off could not be read', { node, error });
    }
  }

  /** A watch that has been opened anew may bring a proof long after it was there, and a renewal after that one before it. */
  #wasToldAtOnce({ sinceMs }: Observation): boolean {
    return sinceMs - (this.#sources.listers.fences.freshSinceMs ?? -Infinity) > SILENCE_MS;
  }

  #see(node: string, observation: Observation): void {
    this.#observations.delete(node);
    this.#observations.set(node, observation);
    const oldest = this.#observations.keys().next().value;
    if (this.#observations.size > OBSERVATIONS_MAX && oldest !== undefined) this.#observations.delete(oldest);
  }
}

/** Which proof it is; undefined: there is none. */
function proofIn(fence: NodeFence): string | undefined {
  const { provenAs } = fenceProof(fence);
  return provenAs === undefined ? undefined : `${fence.metadata.uid ?? ''} ${provenAs}`;
}

/** A Lease that is gone is nobody's renewal. */
function renewalOf(lease: Lease | undefined): string | undefined {
  return lease?.spec.renewTime === undefined ? undefined : `${lease.metadata.uid ?? ''} ${lease.spec.renewTime}`;
}

/** Where the API server tells when it received them: both by its own clock. It is all that a process knows that has not been there. */
function isStampedAfter(lease: Lease | undefined, { metadata }: NodeFence): boolean {
  const fencedMs = latestMs((metadata.managedFields ?? []).filter(({ subresource }) => subresource === 'status'));
  const renewedMs = latestMs(lease?.metadata.managedFields ?? []);
  return fencedMs !== undefined && renewedMs !== undefined && renewedMs > fencedMs;
}

function latestMs(fields: readonly ManagedFields[]): number | undefined {
  const times = fields.flatMap(({ time }) => timeMs(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
