import pRetry, { AbortError } from 'p-retry';

import { AgentError, type Outcome } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Call, CallTarget } from '../call.ts';
import type { WebAnswer } from '../web/web-client.ts';
import { WebFailure } from '../web/web-client.ts';

/** First waits of a back-off that doubles, with jitter; so many clients of one account were told off at the same instant. */
const FIRST_WAIT_MS = 200;
const WAIT_MAX_MS = 5_000;
/** Within one call; its deadline mostly ends it before. */
const ATTEMPTS_MAX = 8;

/** The cloud took nothing up: asked too often, or not able to answer now. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
  readonly waitMs: number | undefined;

  /** `waitMs`: as the cloud asked for. */
  constructor(words: string, waitMs?: number) {
    super(words);
    this.waitMs = waitMs;
  }
}

/** What `Retry-After` says, from now on; undefined without it. */
export function waitOf({ headers }: WebAnswer, clock: Pick<Clock, 'wallMs'>): number | undefined {
  const header = (headers['retry-after'] ?? '').trim();
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1_000;
  const atMs = /\bGMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - clock.wallMs());
}

/**
 * Asks again, within the call's deadline, where the cloud was too busy or had closed a kept connection. Only for what changes nothing, or carries a key by
 * which the cloud does it once.
 */
export function repeated<T>(call: Call<CallTarget>, attempt: () => Promise<T>): Promise<T> {
  return again(call, attempt, (error) => error instanceof Throttled || (error instanceof WebFailure && error.isStale));
}

/** Sends a set: again only where the cloud refused it for its rate, so that it has certainly not begun. `unclear` where it left and no answer came. */
export async function sentOnce(call: Call<CallTarget>, send: () => Promise<Outcome>): Promise<Outcome> {
  const attempt = async (): Promise<Outcome> => {
    try {
      return await send();
    } catch (error) {
      if (error instanceof WebFailure && error.isSent && error.kind !== 'ended') return { result: 'unclear', detail: error.message };
      throw error;
    }
  };
  return again(call, attempt, (error) => error instanceof Throttled);
}

async function again<T>(call: Call<CallTarget>, attempt: () => Promise<T>, mayRepeat: (error: unknown) => boolean): Promise<T> {
  let last: unknown;
  const once = async (): Promise<T> => {
    try {
      return await attempt();
    } catch (error) {
      last = error;
      throw mayRepeat(error) ? error : new AbortError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  try {
    return await pRetry(once, {
      retries: ATTEMPTS_MAX - 1,
      minTimeout: FIRST_WAIT_MS,
      maxTimeout: WAIT_MAX_MS,
      randomize: true,
      signal: call.signal,
      onFailedAttempt: async ({ error }) => {
        if (error instanceof Throttled && error.waitMs !== undefined) await call.pause(error.waitMs);
      },
    });
  } catch (error) {
    throw typed(call, last ?? error);
  }
}

/** As the contract of agents names it. */
export function typed(call: Call<CallTarget>, error: unknown): unknown {
  if (error instanceof AgentError) return error;
  if (error instanceof WebFailure) return error.typed(call);
  if (error instanceof Throttled) return call.error('Unreachable', error.message);
  return call.ended === undefined ? error : call.endedError();
}
