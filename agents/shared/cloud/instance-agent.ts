import { createHash } from 'node:crypto';

import type {
  AgentContext,
  HostEnvironment,
  Outcome,
  Parameters,
  PlugEntry,
  PowerAgent,
  PowerState,
  Reading,
  Target,
} from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { Call } from '../call.ts';
import { NO_HOST } from './credentials.ts';
import { identityOf, type CloudAccount, type InstanceView } from './instance.ts';
import { typed } from './repeat.ts';

/** Connections and tokens of an account that nobody asks for are given up after this. */
const IDLE_CLOSE_MS = 120_000;
/** Calls that are under way when the agent is closed may end by themselves within this. */
const CLOSE_GRACE_MS = 1_000;

/** What an account is opened with. */
export interface Reach {
  clock: Clock;
  host: HostEnvironment;
}

/** One kind of cloud. `S`: typed settings of one account; equal settings share one account. */
export interface Cloud<S extends object> {
  /** Problems in words, without values. */
  settingsOf(parameters: Parameters): S | { problems: readonly string[] };
  /** Connects to nothing yet. */
  open(settings: S, reach: Reach): CloudAccount;
}

interface Kept {
  account: CloudAccount;
  /** Under way. */
  calls: number;
  cancelIdle: () => void;
}

/** Instances of a cloud as plugs: read with their identity, told to stop or to start once, and nothing believed but what is read. */
export class InstanceAgent<S extends object> implements PowerAgent {
  readonly kind = 'power';
  readonly #cloud: Cloud<S>;
  readonly #reach: Reach;
  readonly #accounts = new Map<string, Kept>();
  readonly #calls = new Set<Call>();
  readonly #farewells = new Set<Promise<void>>();

  constructor(cloud: Cloud<S>, { clock, host = NO_HOST }: Pick<AgentContext, 'clock' | 'host'>) {
    this.#cloud = cloud;
    this.#reach = { clock, host };
  }

  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#call(target, 'state of the instance', async (account, call) => readingOf(call, await account.read(call)));
  }

  /** The identity is read first, over the same account. Sent at most once. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#call(target, state === 'off' ? 'stop the instance' : 'start the instance', async (account, call) => {
      const view = await account.read(call);
      identityOf(call, view);
      return account.set(call, view, state);
    });
  }

  async list(target: Target): Promise<readonly PlugEntry[]> {
    return this.#call(target, 'list the instances', (account, call) => account.list(call));
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

  async #call<T>(target: Target, asked: string, work: (account: CloudAccount, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#reach.clock, target, asked);
    this.#calls.add(call);
    try {
      const settings = this.#cloud.settingsOf(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      return await this.#with(settings, (account) => work(account, call));
    } catch (error) {
      throw typed(call, error);
    } finally {
      this.#calls.delete(call);
      call.release();
    }
  }

  async #with<T>(settings: S, work: (account: CloudAccount) => Promise<T>): Promise<T> {
    // A hash, so that no password becomes a key.
    const key = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
    const kept = this.#accounts.get(key) ?? { account: this.#cloud.open(settings, this.#reach), calls: 0, cancelIdle: () => undefined };
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

  #retire(key: string, account: CloudAccount): void {
    this.#accounts.delete(key);
    const farewell = account.close().finally(() => this.#farewells.delete(farewell));
    this.#farewells.add(farewell);
  }
}

function readingOf(call: Call, view: InstanceView): Reading<PowerState> {
  const { state, detail, wouldRefuse, deviceTime, credentialExpiresAt } = view;
  return {
    state,
    detail,
    identity: identityOf(call, view),
    ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    ...(deviceTime === undefined ? {} : { deviceTime }),
    ...(credentialExpiresAt === undefined ? {} : { credentialExpiresAt }),
  };
}
