import { performance } from 'node:perf_hooks';
import type { Load } from '../ports/load.ts';

/** Of the event loop of this thread. */
export class LoopLoad implements Load {
  #last = performance.eventLoopUtilization();

  busyShare(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#last);
    this.#last = now;
    return utilization;
  }
}
