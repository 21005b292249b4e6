import { canonicalIp, ipNumber, ipRange } from '../../domain/kdump/address.ts';
import type { IpRange } from '../../domain/kdump/address.ts';
import type { KdumpResult } from '../../domain/kdump/message.ts';
import { KDUMP_ADDRESSES } from '../../domain/kdump/record.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';

/** More addresses of one Node are not looked at. */
const ADDRESSES_MAX = 32;

export type Source = { node: string } | { problem: Extract<KdumpResult, 'unknown-source' | 'ambiguous-source' | 'pod-network'> };

const UNKNOWN: Source = { problem: 'unknown-source' };
const AMBIGUOUS: Source = { problem: 'ambiguous-source' };
const POD_NETWORK: Source = { problem: 'pod-network' };

/** Which node a message comes from, by the address of its sender alone: the protocol has nothing else. Built anew after a Node's addresses changed. */
export class MessageSources {
  readonly #nodes: Lister<Node>;
  #index: { byAddress: ReadonlyMap<string, string | undefined>; pods: readonly IpRange[] } | undefined;
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
    const key = number.toString(16);
    if (!byAddress.has(key)) return UNKNOWN;
    const node = byAddress.get(key);
    return node === undefined ? AMBIGUOUS : { node };
  }
}

function indexOf(nodes: Iterable<Node>): { byAddress: Map<string, string | undefined>; pods: IpRange[] } {
  const byAddress = new Map<string, string | undefined>();
  const pods: IpRange[] = [];
  for (const node of nodes) {
    for (const key of new Set(addressesOf(node).flatMap((address) => canonicalIp(address) ?? []))) {
      byAddress.set(key, byAddress.has(key) ? undefined : node.metadata.name);
    }
    pods.push(...podRanges(node).flatMap((range) => ipRange(range) ?? []));
  }
  return { byAddress, pods: joined(pods) };
}

function addressesOf({ metadata, status }: Node): string[] {
  const own = (status.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP').map(({ address }) => address);
  const others = (metadata.annotations?.[KDUMP_ADDRESSES] ?? '').split(/[\s,]+/u).filter((address) => address !== '');
  return [...own, ...others].slice(0, ADDRESSES_MAX);
}

function podRanges({ spec }: Node): readonly string[] {
  return spec.podCIDRs ?? (spec.podCIDR === undefined ? [] : [spec.podCIDR]);
}

function addressWords(node: Node): string {
  return [...addressesOf(node), '/', ...podRanges(node)].join(' ');
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
