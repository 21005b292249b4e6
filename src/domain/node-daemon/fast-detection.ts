import { vouchedUntilMs } from './peers.ts';
import type { Peer } from './peers.ts';

/** Whether a node is taken for failed before Kubernetes says so (docs/fast-detection.md is printed from the table). Pure; times are milliseconds on our own clock. */

/** - `none`: nothing speaks against the node. - `suspected`: not enough does. - `held`: it may be we who do not hear. - `failed`: its fence begins. */
export type FastVerdict = 'none' | 'suspected' | 'held' | 'failed';

export interface FastFacts {
  nowMs: number;
  /** `heartbeat_timeout`; undefined: `fast_detection` is off for this node. */
  timeoutMs?: number | undefined;
  /** Heartbeats of the boot that the node attests and its Node shows; undefined: none came. */
  heard?: { lastMs: number; /** From when they came without a break, and this process led. */ fromMs: number } | undefined;
  /** The daemon said that it is being stopped, in its last heartbeat or in its attestation. */
  hasLeft: boolean;
  /** Nodes that should be heard now, and those of them that have just fallen silent. */
  expected: number;
  silent: number;
  peers: PeersView;
  /** Every device that feeds the machine has read off, twice in a row, since the silence began. */
  readsOff: boolean;
  /** Neither the kubelet's Lease nor its Node was renewed for `life_wait`, as received here. */
  isLeaseStale: boolean;
}

/** What the node's peers say of it. */
export interface PeersView {
  /** The node answers these. */
  reachedBy: readonly string[];
  /** More than half of the failure domains say that it does not answer, as many as must vouch for it. */
  isUnreached: boolean;
}

/** Heard for so long before it fell silent: a leader that has just begun, or a node that has just started, is nobody to judge by. */
export const HEARD_FOR_MS = 10_000;
/** So many may fall silent at once: more than one, and more than this share, and it is rather our own network. */
export const SILENT_SHARE_MAX = 0.1;

interface FastRow {
  id: string;
  when: string;
  verdict: FastVerdict;
  applies(facts: FastFacts): boolean;
}

/** The first row that applies decides. */
export const FAST_ROWS: readonly FastRow[] = [
  { id: 'off', when: '`fast_detection` is off', verdict: 'none', applies: ({ timeoutMs }) => timeoutMs === undefined },
  {
    id: 'never-heard',
    when: 'no heartbeat came of the boot that the node attests and its Node shows',
    verdict: 'none',
    applies: ({ heard }) => heard === undefined,
  },
  {
    id: 'left',
    when: 'the daemon said that it is being stopped',
    verdict: 'none',
    applies: ({ hasLeft }) => hasLeft,
  },
  {
    id: 'heard',
    when: 'the last heartbeat is younger than `heartbeat_timeout`',
    verdict: 'none',
    applies: ({ nowMs, heard, timeoutMs = 0 }) => heard !== undefined && nowMs < heard.lastMs + timeoutMs,
  },
  {
    id: 'heard-too-short',
    when: `this leader heard it for less than ${HEARD_FOR_MS / 1000} s without a break`,
    verdict: 'none',
    applies: ({ heard }) => heard !== undefined && heard.lastMs - heard.fromMs < HEARD_FOR_MS,
  },
  {
    id: 'many-silent',
    when: `more than one node, and more than ${100 * SILENT_SHARE_MAX} % of them, fell silent at once: it is rather the leader's own network`,
    verdict: 'held',
    applies: ({ expected, silent }) => silent > Math.max(1, SILENT_SHARE_MAX * expected),
  },
  {
    id: 'reached',
    when: 'a peer reaches the node',
    verdict: 'suspected',
    applies: ({ peers }) => peers.reachedBy.length > 0,
  },
  {
    id: 'peers-unsure',
    when: 'fewer failure domains say that it does not answer than must vouch for it',
    verdict: 'suspected',
    applies: ({ peers }) => !peers.isUnreached,
  },
  { id: 'reads-off', when: 'its devices read off, twice', verdict: 'failed', applies: ({ readsOff }) => readsOff },
  {
    id: 'lease-fresh',
    when: 'its kubelet was heard within `life_wait`',
    verdict: 'suspected',
    applies: ({ isLeaseStale }) => !isLeaseStale,
  },
  { id: 'lease-stale', when: 'its kubelet was not heard for `life_wait`', verdict: 'failed', applies: () => true },
];

export function judgeFast(facts: FastFacts): FastRow {
  const row = FAST_ROWS.find((candidate) => candidate.applies(facts));
  if (row === undefined) throw new Error('no row of fast detection applies');
  return row;
}

/** A peer that says nothing says neither. */
export function peersView(own: Peer, peers: readonly Peer[], answers: ReadonlyMap<string, 'reached' | 'unreached'>): PeersView {
  const votes = new Map([...answers].filter(([, answer]) => answer === 'unreached').map(([peer]) => [peer, 0]));
  return {
    reachedBy: [...answers].filter(([, answer]) => answer === 'reached').map(([peer]) => peer),
    isUnreached: vouchedUntilMs(own, peers, votes) !== undefined,
  };
}
