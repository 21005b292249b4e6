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
/** When every node was looked at once. Where nobody led before, no fence begins so early (policy `startup-grace`). */
const SETTLE_AFTER_MS = 10_000;

/** Marking begins bit by bit where nobody asked for a collection. */
const FULL = constants.NODE_PERFORMANCE_GC_INCREMENTAL;

type Collection = PerformanceEntry & { detail: NodeGCPerformanceDetail };
/** The second gives pages back. */
type Flavor = 'regular' | 'last-resort';

/**
 * Of a process that has begun: all objects of a cluster were read and cut down, code ran that never runs again. What of that is garbage goes at once, before as much is made beside it;
 * pages are given back when the first work is done. From then on there is room only while much happens.
 */
export function keepHeapSmall(clock: Clock): void {
  growBy(SMALL_PERCENT);
  collect('regular');
  // Marking bit by bit ends when there is nothing else to do: the first look at every node made half of the heap beside it until then.
  setFlagsFromString('--no-incremental-marking');
  clock.after(SETTLE_AFTER_MS, () => {
    setFlagsFromString('--incremental-marking');
    const room = new HeapRoom(clock, { settle: settleHeap, widen: () => growBy(WIDE_PERCENT) });
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries() as Collection[]) if (detail.kind === FULL) room.collected();
    }).observe({ entryTypes: ['gc'] });
  });
}

/** It takes 60 ms with 5,000 nodes, in which nothing else happens. What was compiled stays, since it is needed at once. */
export function settleHeap(): void {
  growBy(SMALL_PERCENT);
  setFlagsFromString('--no-flush-bytecode');
  collect('last-resort');
  setFlagsFromString('--flush-bytecode');
}

function collect(flavor: Flavor): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: 'major'; execution: 'sync'; flavor: Flavor }) => void;
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor });
}

function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
