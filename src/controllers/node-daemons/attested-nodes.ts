import { attestationName, nodeAttestedBy, parseAttestation, parseGrantsEnded, parsePeers } from '../../domain/node-daemon/attestation.ts';
import type { Attestation, GrantsEnded, PeersTold } from '../../domain/node-daemon/attestation.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';

/** A node whose daemon has attested something, and what controllers have written beside it. */
export interface AttestedNode {
  node: string;
  lease: Lease;
  attestation: Attestation;
  ended: GrantsEnded | undefined;
  told: PeersTold | undefined;
}

/** Undefined: it is no attestation, or not a whole one. */
export function readAttested(lease: Lease): AttestedNode | undefined {
  const node = nodeAttestedBy(lease.metadata.name);
  const attestation = parseAttestation(lease);
  if (node === undefined || attestation === undefined) return undefined;
  return { node, lease, attestation, ended: parseGrantsEnded(lease), told: parsePeers(lease) };
}

/** The attestations of all nodes, each parsed once for every version of its Lease. */
export class AttestedNodes {
  readonly #leases: Lister<Lease>;
  readonly #namespace: string;
  /** Watched objects are frozen: a change replaces them. */
  readonly #read = new WeakMap<Lease, AttestedNode | 'none'>();

  constructor(leases: Lister<Lease>, namespace: string) {
    this.#leases = leases;
    this.#namespace = namespace;
  }

  get(node: string): AttestedNode | undefined {
    const lease = this.#leases.get(`${this.#namespace}/${attestationName(node)}`);
    return lease === undefined ? undefined : this.#of(lease);
  }

  *all(): Iterable<AttestedNode> {
    for (const lease of this.#leases.all()) {
      const attested = this.#of(lease);
      if (attested !== undefined) yield attested;
    }
  }

  #of(lease: Lease): AttestedNode | undefined {
    const known = this.#read.get(lease) ?? readAttested(lease) ?? 'none';
    this.#read.set(lease, known);
    return known === 'none' ? undefined : known;
  }
}
