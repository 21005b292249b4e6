import type { PeerEntry, PeersTold } from '../../domain/node-daemon/attestation.ts';
import { sameContent } from '../../domain/canonical.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { AttestedNode, AttestedNodes } from './attested-nodes.ts';
import type { Chains } from './actions.ts';
import { audible, entryOf, failureDomain, toldTo } from './choose-told.ts';

export interface PeersAssignmentParts {
  nodes: AttestedNodes;
  clusterNodes: Pick<Lister<Node>, 'get'>;
  isEnded: (node: string, bootID: string) => boolean;
  /** Nothing was heard of it for so long that its vouch, and its promise, cannot be counted on. */
  isSilent: (node: string) => boolean;
  chains: Pick<Chains, 'want'>;
  topologyKeys: readonly string[];
}

/** To choose among 5,000 takes half a millisecond: nothing else waits longer for it than for this many. */
const CHOSEN_AT_ONCE = 100;

/** Who vouches for whom: chosen anew only where those that there are have changed. */
export class PeersAssignment {
  readonly #parts: PeersAssignmentParts;
  #candidates: ReadonlyMap<string, PeerEntry> = new Map();
  readonly #due = new Set<string>();
  readonly #told = new Map<string, PeersTold>();

  constructor(parts: PeersAssignmentParts) {
    this.#parts = parts;
  }

  /** Everything is chosen anew: leadership has come. */
  restart(): void {
    this.#candidates = new Map();
    this.#told.clear();
    this.#due.clear();
  }

  /** Some of what is due. */
  reconcile(): void {
    this.#survey();
    for (const node of [...this.#due].slice(0, CHOSEN_AT_ONCE)) {
      this.#due.delete(node);
      this.#choose(node);
    }
    for (const { node } of this.#parts.nodes.all()) this.#want(node);
  }

  #survey(): void {
    const { nodes, clusterNodes, isSilent, topologyKeys } = this.#parts;
    const all = new Map<string, PeerEntry>();
    for (const attested of nodes.all()) {
      const node = clusterNodes.get(attested.node);
      // The Lease of a node that is gone stays for long: nobody answers there, and enough of them would pass for a cluster that is silent.
      const entry = node && entryOf(attested, failureDomain(node, topologyKeys));
      if (entry !== undefined) all.set(attested.node, entry);
    }
    const candidates = audible(all, isSilent, this.#candidates);
    const isSameSet =
      candidates.size === this.#candidates.size && [...candidates].every(([node, { domain }]) => known(this.#candidates, node, domain));
    const changed = new Set([...candidates].filter(([node, entry]) => !sameContent(entry, this.#candidates.get(node))).map(([node]) => node));
    this.#candidates = candidates;
    for (const { node } of nodes.all()) {
      const isTouched =
        !isSameSet || !this.#told.has(node) || (changed.size > 0 && this.#told.get(node)?.peers.some((peer) => changed.has(peer.node)));
      if (isTouched === true || changed.has(node)) this.#due.add(node);
    }
    for (const node of [...this.#told.keys()]) if (nodes.get(node) === undefined) this.#told.delete(node);
  }

  #choose(node: string): void {
    const { clusterNodes, topologyKeys } = this.#parts;
    this.#told.set(node, toldTo(node, failureDomain(clusterNodes.get(node), topologyKeys), this.#candidates));
  }

  #want(node: string): void {
    const { nodes, isEnded, chains } = this.#parts;
    const attested = nodes.get(node);
    const told = this.#told.get(node);
    const isWanted = attested !== undefined && told !== undefined && mayBeTold(attested, isEnded) && !sameContent(told, attested.told);
    chains.want(`peers of ${node}`, isWanted ? { kind: 'assign-peers', node, told } : undefined);
  }
}

/** Whose grants are ended has the peers that were asked to promise, and no write of ours is to look like a sign of life. */
function mayBeTold({ node, attestation, ended }: AttestedNode, isEnded: PeersAssignmentParts['isEnded']): boolean {
  return attestation.publicKey !== undefined && ended?.bootID !== attestation.bootID && !isEnded(node, attestation.bootID);
}

function known(candidates: ReadonlyMap<string, PeerEntry>, node: string, domain: string | undefined): boolean {
  const entry = candidates.get(node);
  return entry !== undefined && entry.domain === domain;
}
