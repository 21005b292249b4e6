import { createHash } from 'node:crypto';

import type { AgentContext, HostEnvironment, Parameters, Target } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { addressCheckOf, type AddressCheck } from '../address/address-check.ts';
import { Call } from '../call.ts';
import { NO_HOST } from './credentials.ts';
import { typed } from './repeat.ts';

/** Connections and tokens of an account that nobody asks for are given up after this. */
const IDLE_CLOSE_MS = 120_000;
/** Calls that are under way when the agent is closed may end by themselves within this. */
const CLOSE_GRACE_MS = 1_000;

/** What an account is opened with. */
export interface Reach {
  clock: Clock;
  host: HostEnvironment;
  /** Of addresses that the configuration names, or that a name of it resolves to. */
  check: AddressCheck;
}

/** How accounts of one kind of cloud are opened. `S`: typed settings of one account; equal settings share one. */
export interface AccountSource<S extends object, A extends { close(): Promise<void> }> {
  /** A public cloud, under names of its own: no list of devices has its addresses. */
  isPublic?: true;
  /** Problems in words, without values. */
  settingsOf(parameters: Parameters): S | { problems: readonly string[] };
  /** Connects to nothing yet. */
  open(settings: S, reach: Reach): A;
}

interface Kept<A> {
  account: A;
  /** Under way. */
  calls: number;
  cancelIdle: () => void;
}

/** Accounts of a cloud, kept between calls for as long as somebody asks for them. */
export class Accounts<S extends object, A extends { close(): Promise<void> }> {
  readonly #source: AccountSource<S, A>;
  readonly #reach: Reach;
  readonly #accounts = new Map<string, Kept<A>>();
  readonly #calls = new Set<Call>();
  readonly #farewells = new Set<Promise<void>>();

  constructor(source: AccountSource<S, A>, { clock, host = NO_HOST, addresses }: Pick<AgentContext, 'clock' | 'host' | 'addresses'>) {
    this.#source = source;
    const check = addressCheckOf(addresses === undefined ? {} : { addresses }, source.isPublic === true ? 'cloud' : 'device');
    this.#reach = { clock, host, check };
  }

  /** One call of the agent, with the account of its target's settings. Rejects as the contract of agents says. */
  async call<T>(target: Target, asked: string, work: (account: A, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#reach.clock, target, asked);
    this.#calls.add(call);
    try {
      const settings = this.#source.settingsOf(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      return await this.#with(settings, (account) => work(account, call));
    } catch (error) {
      throw typed(call, error);
    } finally {
      this.#calls.delete(call);
      call.release();
    }
  }

  async close(): Promise<void> {
    const kept = [...this.#accounts.values()];
    this.#accounts.clear();
    for (const { cancelIdle } of kept) cancelIdle();
    const calls = [...this.#calls];
    const giveUp = (): void => {
      for (const call of calls) call.giveUp();
    };
    const cancelGrace = this.#reach.clock.after(CLOSE_GRACE_MS, giveUp);
    await Promise.all([...kept.map(({ account }) => account.close()), ...this.#farewells]);
    cancelGrace();
    giveUp();
  }

  async #with<T>(settings: S, work: (account: A) => Promise<T>): Promise<T> {
    // A hash, so that no password becomes a key.
    const key = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
    const kept = this.#accounts.get(key) ?? { account: this.#source.open(settings, this.#reach), calls: 0, cancelIdle: () => undefined };
    this.#accounts.set(key, kept);
    kept.cancelIdle();
    kept.calls += 1;
    try {
      return await work(kept.account);
    } finally {
      kept.calls -= 1;
      if (kept.calls === 0 && this.#accounts.get(key) === kept)
        kept.cancelIdle = this.#reach.clock.after(IDLE_CLOSE_MS, () => this.#retire(key, kept.account));
    }
  }

  #retire(key: string, account: A): void {
    this.#accounts.delete(key);
    const farewell = account.close().finally(() => this.#farewells.delete(farewell));
    this.#farewells.add(farewell);
  }
}
