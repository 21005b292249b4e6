import { choosePeers } from '../../domain/node-daemon/peers.ts';
import type { PeerEntry, PeersTold } from '../../domain/node-daemon/attestation.ts';
import type { Node } from '../../ports/objects.ts';
import type { AttestedNode } from './attested-nodes.ts';

const LONGEST_DOMAIN = 253;

/** `topology.kubernetes.io/zone=a`: by the first of these labels that the Node has. */
export function failureDomain(node: Node | undefined, topologyKeys: readonly string[]): string | undefined {
  const labels = node?.metadata.labels ?? {};
  const key = topologyKeys.find((candidate) => Object.hasOwn(labels, candidate));
  return key === undefined ? undefined : `${key}=${labels[key] ?? ''}`.slice(-LONGEST_DOMAIN);
}

/** A node as others may be told of it; undefined: its daemon exchanges nothing. */
export function entryOf({ node, attestation }: AttestedNode, domain: string | undefined): PeerEntry | undefined {
  const { publicKey, address } = attestation;
  if (publicKey === undefined || address === undefined) return undefined;
  return { node, publicKey, address, ...(domain === undefined ? {} : { domain }) };
}

/** What this node is to be told: of as many failure domains as possible, in an order that does not change by itself. */
export function toldTo(node: string, domain: string | undefined, candidates: ReadonlyMap<string, PeerEntry>): PeersTold {
  const chosen = choosePeers(node, [...candidates.values()]).flatMap((peer) => candidates.get(peer.node) ?? []);
  return { peers: chosen.sort((a, b) => (a.node < b.node ? -1 : 1)), ...(domain === undefined ? {} : { domain }) };
}

/** Those that were heard lately. Where most are silent it is not they that are lost: then those stay that were candidates before. */
export function audible(
  all: ReadonlyMap<string, PeerEntry>,
  isSilent: (node: string) => boolean,
  before: ReadonlyMap<string, PeerEntry>,
): ReadonlyMap<string, PeerEntry> {
  const heard = new Map([...all].filter(([node]) => !isSilent(node)));
  if (2 * heard.size > all.size) return heard;
  return before.size === 0 ? all : new Map([...all].filter(([node]) => heard.has(node) || before.has(node)));
}
