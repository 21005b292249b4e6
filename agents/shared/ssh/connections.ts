import { createHash } from 'node:crypto';

import { AgentError } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../address/address-check.ts';
import type { Call, CallTarget } from '../call.ts';
import { logIn } from './client.ts';
import { SshConnection } from './connection.ts';
import { SshFailure } from './failure.ts';
import type { SshSettings } from './parameters.ts';

/** Long enough for the reads of one switching; a session that stays holds one of the few that a switch has. */
const IDLE_CLOSE_MS = 10_000;
const CONNECTIONS_MAX = 200;

interface Kept {
  connection: SshConnection | undefined;
  last: Promise<unknown>;
  users: number;
  cancelIdle: () => void;
}

/**
 * The connections of one agent: one for each host and account, kept for 10 s after its last use, calls on it one at a time. A connection on
 * which anything failed is let go.
 */
export class SshConnections {
  readonly #clock: Clock;
  readonly #check: AddressCheck;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#check = check;
  }

  /** Runs `work` on a logged-in connection. Whatever goes wrong is an `AgentError`; nothing is repeated. */
  async run<T>(call: Call<CallTarget>, settings: SshSettings, work: (connection: SshConnection) => Promise<T>): Promise<T> {
    const key = keyOf(settings);
    const kept = this.#kept.get(key) ?? { connection: undefined, last: Promise.resolve(), users: 0, cancelIdle: () => undefined };
    if (!this.#kept.has(key) && this.#kept.size >= CONNECTIONS_MAX)
      throw call.error('Unreachable', `${CONNECTIONS_MAX} connections of SSH are open, the most that one agent may have`);
    this.#kept.set(key, kept);
    kept.users += 1;
    kept.cancelIdle();
    const before = kept.last;
    const own = this.#after(before, call, kept, settings, work);
    // Those behind wait for whoever is still before us, too.
    kept.last = Promise.allSettled([before, own]);
    try {
      return await own;
    } finally {
      kept.users -= 1;
      if (kept.users === 0 && this.#kept.get(key) === kept) this.#rest(key, kept);
      // It was logged in, or was used, while all were closed.
      else if (kept.users === 0) await kept.connection?.close();
    }
  }

  /** Ends every connection. Never rejects; the next call opens a new one. */
  async close(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(
      all.map(async (kept) => {
        kept.cancelIdle();
        await kept.connection?.close();
        kept.connection = undefined;
      }),
    );
  }

  async #after<T>(
    before: Promise<unknown>,
    call: Call<CallTarget>,
    kept: Kept,
    settings: SshSettings,
    work: (connection: SshConnection) => Promise<T>,
  ): Promise<T> {
    // Whoever is still before us keeps its connection, also when we cannot wait any longer.
    await call.within(before);
    try {
      if (call.ended !== undefined) throw call.endedError();
      if (kept.connection?.isLost === true) kept.connection = undefined;
      kept.connection ??= new SshConnection(settings, await logIn(settings, call, this.#clock, this.#check), this.#clock);
      return await work(kept.connection);
    } catch (error) {
      // What a device says late must never be taken for the answer to something else.
      kept.connection?.abandon();
      kept.connection = undefined;
      if (error instanceof SshFailure) throw error.typed(call);
      if (error instanceof AgentError || call.ended === undefined) throw error;
      throw call.endedError();
    }
  }

  #rest(key: string, kept: Kept): void {
    if (kept.connection === undefined) {
      this.#kept.delete(key);
      return;
    }
    kept.cancelIdle = this.#clock.after(IDLE_CLOSE_MS, () => {
      this.#kept.delete(key);
      void kept.connection?.close();
    });
  }
}

/** A hash, so that no password becomes a key. */
function keyOf(settings: SshSettings): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}
