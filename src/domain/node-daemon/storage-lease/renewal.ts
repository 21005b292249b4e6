import type { Header, LeaseHeader, LeaseSlot, SlotContent } from './layout.ts';

/** Which slot a node writes, and whether it may. Pure: what a slot holds is never overwritten where it is another node's. */

export interface Owner {
  node: string;
  systemUUID: string;
  bootID: string;
  intervalMs: number;
}

export type Choice = { slot: number } | { refused: string };

/** By its name where it has one already, then from where its name falls on, the first that is empty. `contents`: all slots, in order. */
export function chooseSlot({ slots }: Pick<LeaseHeader, 'slots'>, contents: readonly SlotContent[], node: string): Choice {
  const own = contents.findIndex((content) => content.kind === 'slot' && content.slot.node === node);
  if (own !== -1) return { slot: own };
  const start = hashOf(node) % slots;
  for (let step = 0; step < slots; step += 1) {
    const slot = (start + step) % slots;
    if (contents[slot]?.kind === 'empty') return { slot };
  }
  return { refused: `none of its ${slots} slots is free: clear those of nodes that are gone (nodefence node storage-lease clear)` };
}

/** What this process knows of its slot. */
export interface Known {
  header: LeaseHeader;
  slot: number;
  /** Counters that may stand there: the one that was read or written last, and one whose write may not have arrived. Absent: it has not looked yet. */
  counters?: readonly number[];
}

export type Renewal =
  | { write: LeaseSlot }
  | { refused: string; /** Looked at again: what stands there now is what the next renewal expects. */ counters?: readonly number[] };

export function decideRenewal({ header, slot, counters }: Known, read: Header, content: SlotContent, owner: Owner): Renewal {
  const area = headerProblem(read, header.cluster);
  if (area !== undefined) return { refused: area };
  if (!('header' in read) || read.header.id !== header.id) return { refused: 'the lease was laid out anew: restart the daemon' };
  const write = { slot, state: 'held' as const, ...owner };
  switch (content.kind) {
    case 'empty':
      return { write: { ...write, counter: 1 + Math.max(0, ...(counters ?? [])) } };
    case 'broken':
      return { refused: `slot ${slot} is damaged: ${CLEAR} --slot ${slot}` };
    case 'slot':
      return ofSlot(content.slot, counters, write, owner);
  }
}

const CLEAR = 'look whose it is, then nodefence node storage-lease clear';

function ofSlot(
  found: LeaseSlot,
  counters: readonly number[] | undefined,
  write: Omit<LeaseSlot, 'counter'>,
  { node, systemUUID, bootID }: Owner,
): Renewal {
  const { slot } = found;
  if (found.node !== node) return { refused: `slot ${slot} is of node ${found.node}: give this node another one (--storage-lease-slot)` };
  if (found.systemUUID !== systemUUID)
    return { refused: `slot ${slot} is of this name on another machine (system UUID ${found.systemUUID}): ${CLEAR} --slot ${slot}` };
  if (counters !== undefined && found.bootID === bootID && found.state === 'held' && !counters.includes(found.counter))
    return { refused: `somebody else renews slot ${slot}: does a second daemon run on this node?`, counters: [found.counter] };
  return { write: { ...write, counter: found.counter + 1 } };
}

/** Why nothing is written there; undefined: it is a lease of this cluster. */
export function headerProblem(read: Header, cluster: string): string | undefined {
  if ('problem' in read) {
    const words = { empty: 'nothing is laid out there', foreign: 'something else stands there', broken: 'its header is damaged' };
    return `${words[read.problem]} (nodefence node storage-lease init)`;
  }
  return read.header.cluster === cluster ? undefined : `it is the lease of cluster ${read.header.cluster}, not of ${cluster}`;
}

/** Both written and read back. */
export function isSameSlot(written: LeaseSlot, read: SlotContent): boolean {
  return (
    read.kind === 'slot' &&
    read.slot.node === written.node &&
    read.slot.systemUUID === written.systemUUID &&
    read.slot.bootID === written.bootID &&
    read.slot.counter === written.counter &&
    read.slot.state === written.state
  );
}

/**
 * A node writes one renewal after the other, each when the one before it was read back. So a counter that has grown by one may have been on its way for long; one
 * that has grown by two was begun by a node that lived after the first look.
 */
export const LIVES_AFTER = 2;

export function hasLivedSince(base: number, counter: number): boolean {
  return counter - base >= LIVES_AFTER;
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash ^ (hash >>> 16)) >>> 0;
}
