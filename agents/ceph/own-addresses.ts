import { BlockList, isIP } from 'node:net';

import type { Node } from '../../src/ports/objects.ts';
import type { AddressRange } from './address-range.ts';

/** So many addresses of a Node are named in a message. */
const NAMED_MAX = 8;

/**
 * Why the addresses to be shut out may be another's, or not all from which the node writes; undefined: each is one that its Node shows, and no internal one of those
 * is left out. An address that nobody uses is not on the list either: that it was seen open proves nothing of whose it is.
 */
export function doubtOf(ranges: readonly AddressRange[], name: string, node: Node | undefined): string | undefined {
  const shown = (node?.status.addresses ?? []).filter(({ address }) => isIP(address) !== 0);
  const names = shown.map(({ address }) => address);
  const strange = ranges.find((range) => !names.some((address) => isWithin(range, address)));
  if (strange !== undefined) {
    const told = names.length === 0 ? 'no address' : names.slice(0, NAMED_MAX).join(', ');
    return `nothing shows that ${strange.cidr} is of node ${name}, which shows ${told}: mend cidrs`;
  }
  const left = shown.find(({ type, address }) => type === 'InternalIP' && !ranges.some((range) => isWithin(range, address)));
  if (left === undefined) return undefined;
  return `node ${name} has the address ${left.address} as well, and may write from there: name it in cidrs too`;
}

function isWithin({ address, prefix, family }: AddressRange, other: string): boolean {
  if (isIP(other) !== family) return false;
  const list = new BlockList();
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(address, prefix, kind);
  return list.check(other, kind);
}
