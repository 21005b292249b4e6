import type {
  AgentContext,
  DeviceState,
  FabricAgent,
  Outcome,
  PlugEntry,
  PortState,
  PowerAgent,
  PowerState,
  Reading,
  Removal,
  Target,
} from '../../../src/ports/agents.ts';
import type { Call } from '../call.ts';
import { Accounts, type AccountSource } from './accounts.ts';
import { identityOf, type CloudAccount, type InstanceView, type PathAccount } from './instance.ts';

export type { Reach } from './accounts.ts';

/** One kind of cloud. `S`: typed settings of one account; equal settings share one account. */
export type Cloud<S extends object> = AccountSource<S, CloudAccount>;

/** Instances of a cloud as plugs: read with their identity, told to stop or to start once, and nothing believed but what is read. */
export class InstanceAgent<S extends object> implements PowerAgent {
  readonly kind = 'power';
  readonly #accounts: Accounts<S, CloudAccount>;

  constructor(cloud: Cloud<S>, context: Pick<AgentContext, 'clock' | 'host' | 'addresses'>) {
    this.#accounts = new Accounts(cloud, context);
  }

  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#accounts.call(target, 'state of the instance', async (account, call) => readingOf(call, await account.read(call)));
  }

  /** The identity is read first, over the same account. Sent at most once. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#accounts.call(target, state === 'off' ? 'stop the instance' : 'start the instance', async (account, call) => {
      const view = await (account.identify?.(call) ?? account.read(call));
      identityOf(call, view);
      if (state === 'on' && view.cannotStart !== undefined) throw call.error('Refused', view.cannotStart);
      return account.set(call, view, state);
    });
  }

  /** Only what reads off and is proven to be the node's, by the very view that is deleted. */
  async remove(target: Target): Promise<Outcome> {
    return this.#accounts.call(target, 'delete the instance', async (account, call) => {
      if (account.remove === undefined) throw call.error('Misconfigured', 'instances of this cloud are not deleted here');
      const view = await account.read(call);
      if (identityOf(call, view) !== 'verified') throw call.error('Refused', `nothing was sent: it is not proven to be the node's (${view.detail})`);
      if (view.state !== 'off') throw call.error('Refused', `nothing was sent: it is not off (${view.detail})`);
      return account.remove(call, view);
    });
  }

  async removal(target: Target): Promise<Removal> {
    return this.#accounts.call(target, 'what is left of the instance', async (account, call) => {
      if (account.removal === undefined) throw call.error('Misconfigured', 'instances of this cloud are not deleted here');
      return account.removal(call);
    });
  }

  async list(target: Target): Promise<readonly PlugEntry[]> {
    return this.#accounts.call(target, 'list the instances', (account, call) => account.list(call));
  }

  async close(): Promise<void> {
    await this.#accounts.close();
  }
}

/** Ways from an instance to its storage or network, that its cloud opens and closes. `V`: what is seen of them. */
export class InstancePathAgent<S extends object, V extends InstanceView<PortState>> implements FabricAgent {
  readonly kind = 'fabric';
  /** An instance without any of these ways reads closed: that alone proves nothing. */
  readonly mustBeSeenOpen = true;
  readonly #what: string;
  readonly #accounts: Accounts<S, PathAccount<V>>;

  /** `what`: the ways, for messages. */
  constructor(what: string, cloud: AccountSource<S, PathAccount<V>>, context: Pick<AgentContext, 'clock' | 'host' | 'addresses'>) {
    this.#what = what;
    this.#accounts = new Accounts(cloud, context);
  }

  async read(target: Target): Promise<Reading<PortState>> {
    return this.#accounts.call(target, this.#what, async (account, call) => readingOf(call, await account.read(call)));
  }

  async set(target: Target, state: 'open' | 'closed'): Promise<Outcome> {
    return this.#accounts.call(target, `set ${state}: ${this.#what}`, async (account, call) => {
      const view = await account.read(call);
      identityOf(call, view);
      return account.set(call, view, state);
    });
  }

  async close(): Promise<void> {
    await this.#accounts.close();
  }
}

function readingOf<T extends DeviceState>(call: Call, view: InstanceView<T>): Reading<T> {
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
