import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { TraceEvent } from '../../laws/trace.ts';

/** Takes what happened, for the judge. `at` is the clock's `wallMs`; a process may put a finer one in its place. */
export type Trace = (event: TraceEvent) => void;

/** What every part of the simulated world is given. */
export interface WorldDependencies {
  transport: ApiTransport;
  clock: Clock;
  random: Random;
  trace: Trace;
}
