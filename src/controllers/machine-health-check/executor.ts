import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { Troubles } from '../shared/troubles.ts';
import type { Chain } from './chain.ts';
import { Pace } from './pace.ts';
import { Moved } from './write.ts';

export interface ExecutorDependencies {
  clock: Clock;
  log: Logger;
  /** May a write begin now? Asked in the turn of each. */
  mayWrite: () => boolean;
  /** Was all of it done? Rejects with `Moved` where things stand otherwise than the actions were decided for. */
  perform: (chain: Chain, mayGoOn: () => boolean) => Promise<boolean>;
  /** A chain has come to an end, whatever became of it. */
  ended: () => void;
}

/** Chains under way at the same time. */
const AT_ONCE_MAX = 16;

/** Does what was decided: several objects side by side, the actions about one in their order, each chain once. */
export class Executor {
  readonly #dependencies: ExecutorDependencies;
  readonly #troubles: Troubles;
  readonly #pace: Pace;
  readonly #underWay = new Map<string, Promise<void>>();
  /** Chains that are done, for as long as they are submitted. */
  #done = new Set<Chain>();
  #waiting: Chain[] = [];
  #heldUntilMs: number | undefined;
  #isClosed = false;

  constructor(dependencies: ExecutorDependencies) {
    this.#dependencies = dependencies;
    this.#troubles = new Troubles(dependencies.clock);
    this.#pace = new Pace(dependencies.clock);
  }

  /** All that is to be done now; what was to be done before and has not begun is forgotten. */
  submit(chains: readonly Chain[]): void {
    const wanted = new Set(chains.map(({ key }) => key));
    this.#troubles.retain((key) => wanted.has(key) || this.#underWay.has(key));
    this.#done = new Set(chains.filter((chain) => this.#done.has(chain)));
    const nowMs = this.#dependencies.clock.monotonicMs();
    this.#heldUntilMs = undefined;
    this.#waiting = chains.filter((chain) => {
      if (this.#done.has(chain) || this.#underWay.has(chain.key) || !this.#troubles.isDue(chain.key)) return false;
      const freeAtMs = this.#pace.freeAtMs(chain.key);
      if (freeAtMs > nowMs) this.#heldUntilMs = Math.min(this.#heldUntilMs ?? Infinity, freeAtMs);
      return freeAtMs <= nowMs;
    });
    this.#next();
  }

  /** Monotonic time at which something is to be tried again. */
  nextDueMs(): number | undefined {
    const due = [this.#troubles.nextDueMs(), this.#heldUntilMs].filter((atMs) => atMs !== undefined);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  problems(): string[] {
    return this.#troubles.words();
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
        this.#dependencies.ended();
        this.#next();
      });
      this.#underWay.set(chain.key, ended);
    }
  }

  async #run(chain: Chain): Promise<void> {
    const { mayWrite, perform } = this.#dependencies;
    const mayGoOn = (): boolean => !this.#isClosed && mayWrite();
    if (!mayGoOn()) return;
    this.#pace.take(chain.key);
    try {
      if (!(await perform(chain, mayGoOn))) return;
      this.#done.add(chain);
      this.#troubles.clear(chain.key);
    } catch (error) {
      this.#failed(chain.key, error);
    }
  }

  #failed(key: string, error: unknown): void {
    const { log } = this.#dependencies;
    if (isMoved(error)) {
      this.#troubles.add(key, undefined);
      log.debug('somebody else wrote first, so it is decided anew', { object: key, error });
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    const isNew = this.#troubles.add(key, message, error instanceof ApiStatusError ? error.retryAfterMs : undefined);
    if (isNew) log.warn('a health check could not be carried on', { object: key, error });
  }
}

/** Somebody else wrote, or it is gone: what was decided is decided anew. */
function isMoved(error: unknown): boolean {
  return error instanceof Moved || (error instanceof ApiStatusError && (error.status === 409 || error.status === 404));
}
