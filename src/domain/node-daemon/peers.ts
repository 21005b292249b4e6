/** A node that may vouch for another one. */
export interface Peer {
  node: string;
  /** Its failure domain, such as its rack. Undefined: it has no such label, and is a domain of its own. */
  domain?: string;
}

/** By whom, and by which failure domains, a node counts vouches. `domain`: its own. */
export interface CountedPeers {
  domain?: string;
  peers: readonly Peer[];
}

/** A node asks at most so many peers, so that 5,000 nodes exchange no more for each node than five do. */
export const PEERS_MAX = 12;
const PEERS_OF_A_DOMAIN_MAX = 3;

/**
 * Those that a node asks to vouch for it: of as many failure domains as possible, and several of each, so that one dead peer silences no domain. The choice
 * changes only where peers come or go: by rendezvous hashing, RFC 2991 section 3 calls it highest random weight.
 */
export function choosePeers(node: string, all: readonly Peer[]): Peer[] {
  const domains = new Map<string, Weighed[]>();
  for (const peer of all) {
    if (peer.node === node) continue;
    const key = domainOf(peer);
    const weighed = { peer, weight: weightOf(node, peer.node) };
    const known = domains.get(key);
    if (known === undefined) domains.set(key, [weighed]);
    else known.push(weighed);
  }
  const chosen: Peer[] = [];
  const sorted = [...domains].map(([key, peers]) => ({ key, weight: weightOf(node, key), peers: peers.sort(heavierFirst) }));
  sorted.sort((a, b) => b.weight - a.weight || compare(a.key, b.key));
  for (let round = 0; round < PEERS_OF_A_DOMAIN_MAX; round += 1) {
    for (const { peers } of sorted) {
      const weighed = peers[round];
      if (weighed !== undefined && chosen.length < PEERS_MAX) chosen.push(weighed.peer);
    }
  }
  return chosen;
}

/**
 * Until when the vouches that have come are enough, on the clock that `untilMs` is measured on; undefined: they are not. Peers of one failure domain count as
 * one, and more than half of the domains must vouch, the node's own among them: the nodes behind one dead switch hear each other, and are cut off all the
 * same. Where all are of one domain more than half of the peers must vouch. A node never vouches for itself.
 */
export function vouchedUntilMs(own: Peer, peers: readonly Peer[], untilMs: ReadonlyMap<string, number>): number | undefined {
  const domains = new Map<string, number>([[domainOf(own), Number.NEGATIVE_INFINITY]]);
  for (const peer of peers) {
    const key = domainOf(peer);
    domains.set(key, Math.max(domains.get(key) ?? Number.NEGATIVE_INFINITY, untilMs.get(peer.node) ?? Number.NEGATIVE_INFINITY));
  }
  const votes = domains.size > 1 ? [...domains.values()] : peers.map(({ node }) => untilMs.get(node) ?? Number.NEGATIVE_INFINITY);
  const needed = Math.floor(votes.length / 2) + 1;
  const last = votes.sort((a, b) => b - a)[needed - 1];
  return last === undefined || last === Number.NEGATIVE_INFINITY ? undefined : last;
}

/** The same by each of several ways to count: which of them others know is not known yet. None: nobody counts. */
export function vouchedByAllUntilMs(node: string, ways: readonly CountedPeers[], untilMs: ReadonlyMap<string, number>): number | undefined {
  const ends = ways.map(({ domain, peers }) => vouchedUntilMs({ node, ...(domain === undefined ? {} : { domain }) }, peers, untilMs));
  const known = ends.filter((end) => end !== undefined);
  return known.length === 0 || known.length < ends.length ? undefined : Math.min(...known);
}

interface Weighed {
  peer: Peer;
  weight: number;
}

function heavierFirst(a: Weighed, b: Weighed): number {
  return b.weight - a.weight || compare(a.peer.node, b.peer.node);
}

/** A node without the label shares nothing with others. */
function domainOf({ node, domain }: Peer): string {
  return domain === undefined ? `node ${node}` : `domain ${domain}`;
}

/** FNV-1a over both names: evenly spread, the same on every machine; nothing secret depends on it. */
function weightOf(node: string, other: string): number {
  let hash = 0x811c9dc5;
  for (const letter of `${node}/${other}`) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  // FNV alone leaves its last letters in the low bits, and the names of nodes differ in their last letters.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
