import { canonicalIp, ipNumber, ipRange } from '../../domain/kdump/address.ts';
import type { IpRange } from '../../domain/kdump/address.ts';
import type { KdumpResult } from '../../domain/kdump/message.ts';
import { KDUMP_ADDRESSES } from '../../domain/kdump/record.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';

/** More addresses of one Node are not looked at. */
const ADDRESSES_MAX = 32;

/** `nodes`: those that share an ambiguous address. */
export interface Refusal {
  problem: Extract<KdumpResult, 'unknown-source' | 'ambiguous-source' | 'pod-network'>;
  nodes?: readonly string[];
}
export type Source = { node: string } | Refusal;

const UNKNOWN: Source = { problem: 'unknown-source' };
const POD_NETWORK: Source = { problem: 'pod-network' };

/** Whose an address is: that of a Node's status before that of annotations, which any node may write for itself. */
interface Claims {
  byStatus: string[];
  byAnnotation: string[];
}

/** Which node a message comes from, by the address of its sender alone: the protocol has nothing else. Built anew after a Node's addresses changed. */
export class MessageSources {
  readonly #nodes: Lister<Node>;
  #index: { byAddress: ReadonlyMap<string, Claims>; pods: readonly IpRange[] } | undefined;
  /** The last answer for an address: a flood comes from few. */
  #last: { from: string; source: Source } | undefined;

  constructor(nodes: Lister<Node>) {
    this.#nodes = nodes;
    nodes.onChange((before, after) => {
      if (before !== undefined && after !== undefined && addressWords(before) === addressWords(after)) return;
      this.#index = undefined;
      this.#last = undefined;
    });
  }

  of(from: string): Source {
    if (this.#last?.from !== from) this.#last = { from, source: this.#find(from) };
    return this.#last.source;
  }

  #find(from: string): Source {
    const number = ipNumber(from);
    if (number === undefined) return UNKNOWN;
    this.#index ??= indexOf(this.#nodes.all());
    const { byAddress, pods } = this.#index;
    // A pod may be given any address of its network: also one that a Node claims for itself.
    if (isWithin(pods, number)) return POD_NETWORK;
    const claims = byAddress.get(number.toString(16));
    if (claims === undefined) return UNKNOWN;
    const [node = '', ...others] = claims.byStatus.length > 0 ? claims.byStatus : claims.byAnnotation;
    return others.length === 0 ? { node } : { problem: 'ambiguous-source', nodes: [node, ...others] };
  }
}

function indexOf(nodes: Iterable<Node>): { byAddress: Map<string, Claims>; pods: IpRange[] } {
  const byAddress = new Map<string, Claims>();
  const pods: IpRange[] = [];
  for (const node of nodes) {
    const { own, claimed } = addressesOf(node);
    for (const [by, addresses] of [
      ['byStatus', own],
      ['byAnnotation', claimed],
    ] as const) {
      for (const key of new Set(addresses.flatMap((address) => canonicalIp(address) ?? []))) {
        const claims = byAddress.get(key) ?? { byStatus: [], byAnnotation: [] };
        claims[by].push(node.metadata.name);
        byAddress.set(key, claims);
      }
    }
    pods.push(...podRanges(node).flatMap((range) => ipRange(range) ?? []));
  }
  return { byAddress, pods: joined(pods) };
}

function addressesOf({ metadata, status }: Node): { own: string[]; claimed: string[] } {
  const own = (status.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP').map(({ address }) => address);
  const claimed = (metadata.annotations?.[KDUMP_ADDRESSES] ?? '').split(/[\s,]+/u).filter((address) => address !== '');
  return { own: own.slice(0, ADDRESSES_MAX), claimed: claimed.slice(0, ADDRESSES_MAX) };
}

function podRanges({ spec }: Node): readonly string[] {
  return spec.podCIDRs ?? (spec.podCIDR === undefined ? [] : [spec.podCIDR]);
}

function addressWords(node: Node): string {
  const { own, claimed } = addressesOf(node);
  return [...own, '/', ...claimed, '/', ...podRanges(node)].join(' ');
}

/** In their order and without overlap, so that one can be found by halves. */
function joined(ranges: readonly IpRange[]): IpRange[] {
  const sorted = ranges.toSorted((one, other) => (one.first < other.first ? -1 : one.first > other.first ? 1 : 0));
  const all: IpRange[] = [];
  for (const range of sorted) {
    const last = all.at(-1);
    if (last === undefined || range.first > last.last) all.push({ ...range });
    else if (range.last > last.last) last.last = range.last;
  }
  return all;
}

function isWithin(ranges: readonly IpRange[], number: bigint): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (number < range.first) high = middle - 1;
    else if (number > range.last) low = middle + 1;
    else return true;
  }
  return false;
}
