import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { WorldApi } from './api.ts';
import { WORLD_NODES } from './kinds.ts';
import { Loop } from './loop.ts';

/** What its log monitors know: a permanent rule, and what it says when it matches. */
const RULES: Readonly<Record<string, { well: readonly [string, string]; ill: readonly [string, string] }>> = {
  KernelDeadlock: {
    well: ['KernelHasNoDeadlock', 'kernel has no deadlock'],
    ill: ['DockerHung', 'task docker:7 blocked for more than 300 seconds.'],
  },
  ReadonlyFilesystem: {
    well: ['FilesystemIsNotReadOnly', 'Filesystem is not read-only'],
    ill: ['FilesystemIsReadOnly', 'Remounting filesystem read-only'],
  },
};

export interface DetectorOptions {
  node: string;
  /** Conditions that it declares. */
  conditions: readonly string[];
  /** Its conditions are posted anew so often. node-problem-detector: 5 min. */
  heartbeatMs: number;
}

interface Posted {
  status: 'True' | 'False';
  since: string;
}

/**
 * node-problem-detector on one node, as far as its log monitors go: at its start it posts that all is well, with new transition times; what it finds it
 * posts as True and never takes back; a heartbeat renews what it has posted.
 */
export class ProblemDetector {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #options: DetectorOptions;
  readonly #loop: Loop;
  readonly #posted = new Map<string, Posted>();

  constructor(api: WorldApi, clock: Clock, random: Random, options: DetectorOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#options = options;
    this.#loop = new Loop(clock, random, () => this.#post());
  }

  /** Also when it is started anew. */
  start(): void {
    const since = timestamp(this.#clock);
    for (const type of this.#options.conditions) this.#posted.set(type, { status: 'False', since });
    this.#loop.poke();
  }

  /** A line of a log matches the rule of this condition. */
  find(type: string): void {
    if (this.#posted.get(type)?.status === 'True') return;
    this.#posted.set(type, { status: 'True', since: timestamp(this.#clock) });
    this.#loop.poke();
  }

  /** Its process is gone: what it has posted stays as it is. */
  stop(): void {
    this.#loop.stop();
  }

  async #post(): Promise<number> {
    const lastHeartbeatTime = timestamp(this.#clock);
    const conditions = [...this.#posted].map(([type, { status, since }]) => {
      const rule = RULES[type];
      if (rule === undefined) throw new Error(`no rule for ${type}`);
      const [reason, message] = status === 'True' ? rule.ill : rule.well;
      return { type, status, reason, message, lastHeartbeatTime, lastTransitionTime: since };
    });
    await this.#api.patch(WORLD_NODES, { name: this.#options.node, subresource: 'status' }, 'strategic', { status: { conditions } });
    return this.#options.heartbeatMs;
  }
}
