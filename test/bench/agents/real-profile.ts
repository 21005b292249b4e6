import { Dispatcher } from '../../../src/dispatch/dispatcher.ts';
import { entryOf, jobOf } from '../../../src/dispatch/testing/job.ts';
import { DEFAULT_TIMING } from '../../../src/domain/plan.ts';
import type { PlanMethod } from '../../../src/domain/plan.ts';
import type { Job } from '../../../src/ports/jobs.ts';
import { standardRegistry } from '../../../agents/registry.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import type { Target } from '../../../src/ports/agents.ts';
import { NO_CLUSTER } from './client.ts';

/** Switches one plug as a fence does: read with identity, set once, at least three agreeing reads over `offStableMs`. */
export class RealProfile {
  readonly #clock = new SystemClock();
  readonly #dispatcher = new Dispatcher(standardRegistry(), { cluster: NO_CLUSTER, clock: this.#clock });
  readonly #agent: string;
  readonly #offStableMs: number;

  constructor(agent: string, offStableMs = DEFAULT_TIMING.offStableMs) {
    this.#agent = agent;
    this.#offStableMs = offStableMs;
  }

  /** Rejects when it did not come to the wanted state. */
  async switchTo(target: Target, state: 'on' | 'off'): Promise<void> {
    const report = await this.#dispatcher.run(this.#job(target, state));
    if (report.result !== 'succeeded') throw new Error(`${report.result}: ${report.message}`);
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }

  #job(target: Target, state: 'on' | 'off'): Job {
    const method: PlanMethod = {
      name: 'bench',
      agent: this.#agent,
      kind: 'power',
      action: state,
      device: target.device,
      plug: target.plug,
      parameters: target.parameters,
      deviceMaxLatencyMs: 30_000,
    };
    return jobOf(method, state, {
      entry: entryOf(method, state, { deadlineMs: DEFAULT_TIMING.powerTimeoutMs }),
      timing: { ...DEFAULT_TIMING, offStableMs: this.#offStableMs },
      identity: target.identity,
      identityRequired: false,
      signal: target.signal,
      intentAtMs: this.#clock.monotonicMs(),
      parametersOf: () => Promise.resolve(target.parameters),
    });
  }
}
