import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { failureWords, isConflict, wasRefused } from './conflict.ts';
import type { WriteRateLimiter } from './write-rate-limiter.ts';
import { FailureBackoff } from './failure-backoff.ts';

/** What is to be done about one object, in its order: where one action fails, those after it wait for the next decision. */
export interface ActionChain {
  /** No two chains of one key run at a time. */
  key: string;
  actions: readonly { kind: string }[];
}

export interface ExecutorParts<C extends ActionChain> {
  clock: Clock;
  log: Logger;
  /** Name of the controller, for the log: `preservation`. */
  controller: string;
  /** May a write begin now? Asked in the turn of each. */
  mayWrite: () => boolean;
  /** Asked once before the actions of a chain; rejects where none of them may be done now. */
  prepare?: (chain: C) => Promise<void>;
  /** Does one action; rejects with `Conflict` where things stand otherwise than it was decided for. */
  perform: (action: C['actions'][number], chain: C) => Promise<void>;
  /** What became of one action. */
  acted?: (kind: string, result: 'done' | 'conflict' | 'failed') => void;
  /** What gives the rights that the API server refuses, for people. */
  mend?: string | undefined;
  /** The API server says no to an action: told once for as long as it does. */
  refused?: (action: C['actions'][number], message: string) => void;
  /** The chain of this key has come to an end, whatever became of it. */
  ended: (key: string) => void;
  /** How often one object may be written to; absent: as often as it is decided. */
  rateLimiter?: WriteRateLimiter;
}

/** Chains under way at the same time. */
const AT_ONCE_MAX = 16;

/** Does what was decided: several objects side by side, the actions about one in their order, each chain once. */
export class Executor<C extends ActionChain> {
  readonly #parts: ExecutorParts<C>;
  readonly #backoff: FailureBackoff;
  readonly #underWay = new Map<string, Promise<void>>();
  /** Chains that are done, for as long as they are submitted. */
  #done = new Set<C>();
  #waiting: C[] = [];
  #heldUntilMs: number | undefined;
  #isClosed = false;
  #rules = 0;

  constructor(parts: ExecutorParts<C>) {
    this.#parts = parts;
    this.#backoff = new FailureBackoff(parts.clock);
  }

  /** All that is to be done now; what was to be done before and has not begun is forgotten. */
  submit(chains: readonly C[]): void {
    const wanted = new Set(chains.map(({ key }) => key));
    this.#backoff.retain((key) => wanted.has(key) || this.#underWay.has(key));
    this.#done = new Set(chains.filter((chain) => this.#done.has(chain)));
    this.#heldUntilMs = undefined;
    this.#waiting = chains.filter((chain) => this.#mayBegin(chain));
    this.#next();
  }

  /** Monotonic time at which something is to be tried again. */
  nextDueMs(): number | undefined {
    const due = [this.#backoff.nextDueMs(), this.#heldUntilMs].filter((atMs) => atMs !== undefined);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  problems(): string[] {
    return this.#backoff.messages();
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

  #mayBegin(chain: C): boolean {
    const { clock, rateLimiter } = this.#parts;
    if (this.#done.has(chain) || this.#underWay.has(chain.key) || !this.#backoff.isDue(chain.key)) return false;
    const freeAtMs = rateLimiter?.freeAtMs(chain.key) ?? -Infinity;
    if (freeAtMs <= clock.monotonicMs()) return true;
    this.#heldUntilMs = Math.min(this.#heldUntilMs ?? Infinity, freeAtMs);
    return false;
  }

  #next(): void {
    while (this.#underWay.size < AT_ONCE_MAX) {
      const chain = this.#waiting.shift();
      if (chain === undefined) return;
      const ended = this.#run(chain).finally(() => {
        this.#underWay.delete(chain.key);
        this.#parts.ended(chain.key);
        this.#next();
      });
      this.#underWay.set(chain.key, ended);
    }
  }

  async #run(chain: C): Promise<void> {
    const { mayWrite, prepare, perform, acted, rateLimiter } = this.#parts;
    const rules = this.#rules;
    const mayGoOn = (): boolean => !this.#isClosed && this.#rules === rules && mayWrite();
    if (!mayGoOn()) return;
    rateLimiter?.take(chain.key);
    let at: C['actions'][number] | undefined;
    try {
      await prepare?.(chain);
      for (const action of chain.actions) {
        if (!mayGoOn()) return;
        at = action;
        await perform(action, chain);
        acted?.(at.kind, 'done');
      }
      this.#done.add(chain);
      this.#backoff.clear(chain.key);
    } catch (error) {
      this.#failed(chain.key, at, error);
    }
  }

  /** `action`: the one that it failed at; undefined: before the first. */
  #failed(key: string, at: C['actions'][number] | undefined, error: unknown): void {
    const { log, acted, controller, mend, refused } = this.#parts;
    const action = at?.kind;
    const fields = { controller, object: key, ...(action !== undefined && { action }), error };
    const isConflicting = isConflict(error);
    if (action !== undefined) acted?.(action, isConflicting ? 'conflict' : 'failed');
    if (isConflicting) {
      this.#backoff.add(key, undefined);
      log.debug('write conflict; decided again', fields);
      return;
    }
    const words = failureWords(error, mend);
    const message = action === undefined ? words : `${action} failed: ${words}`;
    const isNew = this.#backoff.add(key, message, error instanceof ApiStatusError ? error.retryAfterMs : undefined);
    if (!isNew) return;
    log.warn('actions failed and will be retried', fields);
    if (at !== undefined && wasRefused(error)) refused?.(at, message);
  }
}
