import { AgentError } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { membersOf } from './collection.ts';
import { ExchangeError } from './exchange-error.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Recollection } from './recollection.ts';
import type { Session } from './session.ts';
import { linkPath, objectAt, textAt } from './words.ts';

const ACCOUNTS_MAX = 32;

/** The account that we log in with, as the device's AccountService shows it. */
export class Account {
  readonly #session: Session;
  readonly #settings: RedfishSettings;
  readonly #recollection: Pick<Recollection, 'account' | 'accountEnds'>;

  constructor(session: Session, settings: RedfishSettings, recollection: Pick<Recollection, 'account' | 'accountEnds'>) {
    this.#session = session;
    this.#settings = settings;
    this.#recollection = recollection;
  }

  /**
   * When our password ends (ManagerAccount.PasswordExpiration, RFC 3339). Undefined where it does not end, or the device does not say; never fails a read.
   * Found once an hour: that takes as many requests as all else that a probe reads.
   */
  async expiresAt(call: Call): Promise<string | undefined> {
    const known = this.#recollection.account;
    if (known !== undefined) return known.endsAt;
    try {
      const found = await this.#found(call);
      if (found !== undefined) this.#recollection.accountEnds(found.endsAt);
      return found?.endsAt;
    } catch (error) {
      if (!(error instanceof ExchangeError) && !(error instanceof AgentError)) throw error;
    }
    return undefined;
  }

  /** Undefined where the device did not say today. */
  async #found(call: Call): Promise<{ endsAt: string | undefined } | undefined> {
    const root = await this.#session.root(call);
    const service = linkPath(objectAt(root.body, 'AccountService'));
    if (service === undefined) return root.status === 200 ? { endsAt: undefined } : undefined;
    const accounts = linkPath(objectAt((await this.#session.get(call, service)).body, 'Accounts'));
    if (accounts === undefined) return undefined;
    for (const { path, resource } of await membersOf(this.#session, call, accounts, ACCOUNTS_MAX)) {
      const account = resource ?? (await this.#session.get(call, path)).body;
      if (textAt(account, 'UserName') !== this.#settings.username) continue;
      const endsAtMs = Date.parse(textAt(account, 'PasswordExpiration') ?? '');
      return { endsAt: Number.isNaN(endsAtMs) ? undefined : new Date(endsAtMs).toISOString() };
    }
    return undefined;
  }
}
