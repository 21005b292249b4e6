import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { NodeGCPerformanceDetail, PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../ports/clock.ts';
import { HeapRoom } from './heap-room.ts';

/** So much may the heap grow beyond what lives before it is collected: V8 lets it double and more, and it stays so for hours. */
const SMALL_PERCENT = 25;
/** While much happens. V8 would let it grow to four times what lives. */
const WIDE_PERCENT = 100;

/** Marking begins bit by bit where nobody asked for a collection. */
const FULL = constants.NODE_PERFORMANCE_GC_INCREMENTAL;

type Collection = PerformanceEntry & { detail: NodeGCPerformanceDetail };
type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Gives back what the start has taken, and keeps the heap small from then on, except while much happens: all objects of a cluster were read and cut down, code ran that never runs again.
 * While the start lasts the heap may grow as V8 likes: that is faster.
 */
export function keepHeapSmall(clock: Clock): void {
  const room = new HeapRoom(clock, { settle: settleHeap, widen: () => growBy(WIDE_PERCENT) });
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as Collection[]) if (detail.kind === FULL) room.collected();
  }).observe({ entryTypes: ['gc'] });
}

/** It takes 60 ms with 5,000 nodes, in which nothing else happens. What was compiled stays, since it is needed at once. */
export function settleHeap(): void {
  growBy(SMALL_PERCENT);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString('--no-flush-bytecode');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--flush-bytecode');
}

function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
