import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PreservationMetrics } from '../../ports/metrics.ts';
import type { Logger } from '../../ports/recorder.ts';
import type { Action } from './actions.ts';
import type { Chain } from './chain.ts';
import { Troubles } from '../shared/troubles.ts';
import { Moved } from './write.ts';

export interface ExecutorDependencies {
  clock: Clock;
  log: Logger;
  metrics: PreservationMetrics;
  /** May a write begin now? Asked in the turn of each. */
  mayWrite: () => boolean;
  /** Does one action; rejects with `Moved` where the object is another than the decision was made for. */
  perform: (action: Action) => Promise<void>;
  /** The chain of this key has come to an end, whatever became of it. */
  ended: (key: string) => void;
}

/** Chains under way at the same time. */
const AT_ONCE_MAX = 16;

/** Does what was decided: several subjects side by side, the actions of one in their order, each only while what it was decided from still stands. */
export class Executor {
  readonly #dependencies: ExecutorDependencies;
  readonly #troubles: Troubles;
  readonly #underWay = new Map<string, Promise<void>>();
  #waiting: Chain[] = [];
  #isClosed = false;
  #rules = 0;

  constructor(dependencies: ExecutorDependencies) {
    this.#dependencies = dependencies;
    this.#troubles = new Troubles(dependencies.clock);
  }

  /** All that is to be done now; what was to be done before and has not begun is forgotten. */
  submit(chains: readonly Chain[]): void {
    const wanted = new Set(chains.map(({ key }) => key));
    this.#troubles.retain((key) => wanted.has(key) || this.#underWay.has(key));
    this.#waiting = chains.filter(({ key }) => this.#troubles.isDue(key) && !this.#underWay.has(key));
    this.#next();
  }

  /** Monotonic time at which something is to be tried again. */
  nextDueMs(): number | undefined {
    return this.#troubles.nextDueMs();
  }

  problems(): string[] {
    return this.#troubles.words();
  }

  /** What is under way was decided under rules that hold no more: it ends with the write that it is at. */
  abandon(): void {
    this.#rules += 1;
    this.submit([]);
  }

  /** Begins nothing more; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting = [];
    await Promise.allSettled(this.#underWay.values());
  }

  #next(): void {
    while (this.#underWay.size < AT_ONCE_MAX) {
      const chain = this.#waiting.shift();
      if (chain === undefined) return;
      const ended = this.#run(chain).finally(() => {
        this.#underWay.delete(chain.key);
        this.#dependencies.ended(chain.key);
        this.#next();
      });
      this.#underWay.set(chain.key, ended);
    }
  }

  async #run({ key, actions, premise }: Chain): Promise<void> {
    const { mayWrite, perform, metrics } = this.#dependencies;
    const rules = this.#rules;
    for (const action of actions) {
      if (this.#isClosed || this.#rules !== rules || !mayWrite()) return;
      try {
        if (!premise.stands()) throw new Moved(`${action.kind} was decided from what stands there no more`);
        await perform(action);
        premise.renew(action.target);
        metrics.acted(action.kind, 'done');
      } catch (error) {
        this.#failed(key, action, error);
        return;
      }
    }
    this.#troubles.clear(key);
  }

  #failed(key: string, action: Action, error: unknown): void {
    const { log, metrics } = this.#dependencies;
    if (isMoved(error)) {
      this.#troubles.add(key, undefined);
      metrics.acted(action.kind, 'conflict');
      log.debug('somebody else wrote first, so it is decided anew', { object: key, action: action.kind, error });
      return;
    }
    const message = `${action.kind} failed: ${error instanceof Error ? error.message : String(error)}`;
    const isNew = this.#troubles.add(key, message, error instanceof ApiStatusError ? error.retryAfterMs : undefined);
    metrics.acted(action.kind, 'failed');
    if (isNew) log.warn('preservation could not be carried on', { object: key, action: action.kind, error });
  }
}

/** Somebody else wrote, or it is gone: what was decided is decided anew. */
function isMoved(error: unknown): boolean {
  return error instanceof Moved || (error instanceof ApiStatusError && (error.status === 409 || error.status === 404));
}
