import { AgentError } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { membersOf } from './collection.ts';
import { ExchangeError } from './exchange-error.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Session } from './session.ts';
import { linkPath, objectAt, textAt } from './words.ts';

const ACCOUNTS_MAX = 32;

/** The account that we log in with, as the device's AccountService shows it. */
export class Account {
  readonly #session: Session;
  readonly #settings: RedfishSettings;

  constructor(session: Session, settings: RedfishSettings) {
    this.#session = session;
    this.#settings = settings;
  }

  /** When our password ends (ManagerAccount.PasswordExpiration, RFC 3339). Undefined where it does not end, or the device does not say; never fails a read. */
  async expiresAt(call: Call): Promise<string | undefined> {
    try {
      const root = await this.#session.root(call);
      const service = linkPath(objectAt(root.body, 'AccountService'));
      if (service === undefined) return undefined;
      const accounts = linkPath(objectAt((await this.#session.get(call, service)).body, 'Accounts'));
      if (accounts === undefined) return undefined;
      for (const { path, resource } of await membersOf(this.#session, call, accounts, ACCOUNTS_MAX)) {
        const account = resource ?? (await this.#session.get(call, path)).body;
        if (textAt(account, 'UserName') !== this.#settings.username) continue;
        const endsAtMs = Date.parse(textAt(account, 'PasswordExpiration') ?? '');
        return Number.isNaN(endsAtMs) ? undefined : new Date(endsAtMs).toISOString();
      }
    } catch (error) {
      if (!(error instanceof ExchangeError) && !(error instanceof AgentError)) throw error;
    }
    return undefined;
  }
}
