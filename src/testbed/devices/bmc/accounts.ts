import type { Clock } from '../../../ports/clock.ts';
import type { Random } from '../../../ports/random.ts';
import { SESSIONS_PATH } from './tree.ts';

interface OpenSession {
  id: string;
  usedAtMs: number;
}

/** Users and sessions of one BMC. */
export class Accounts {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #random: Random;
  readonly #passwords: Map<string, string>;
  readonly #sessions = new Map<string, OpenSession>();
  #created = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, random: Random, users: Readonly<Record<string, string>>) {
    this.#clock = clock;
    this.#random = random;
    this.#passwords = new Map(Object.entries(users));
  }

  get openSessions(): number {
    return this.#sessions.size;
  }

  /** How many sessions were ever opened. */
  get createdSessions(): number {
    return this.#created;
  }

  knows(user: unknown, password: unknown): boolean {
    return typeof user === 'string' && typeof password === 'string' && this.#passwords.get(user) === password;
  }

  /** Another password from now on; whoever came in with the old one is thrown out. */
  changePassword(user: string, password: string): void {
    this.#passwords.set(user, password);
    this.endAll();
  }

  open(): { token: string; id: string; path: string } {
    this.#created += 1;
    const id = String(this.#created);
    const token = this.#random.uuid().replaceAll('-', '');
    this.#sessions.set(token, { id, usedAtMs: this.#clock.monotonicMs() });
    return { token, id, path: `${SESSIONS_PATH}/${id}` };
  }

  /** Ends the session with this id; false when there is none. */
  end(id: string): boolean {
    for (const [token, session] of this.#sessions) if (session.id === id) return this.#sessions.delete(token);
    return false;
  }

  endAll(): void {
    this.#sessions.clear();
  }

  /** Name of the session or connection that a request belongs to; undefined when it may not come in. */
  admit(headers: Readonly<Record<string, string>>, connection: string, timeoutMs: number | undefined): string | undefined {
    const token = headers['x-auth-token'];
    if (token !== undefined) return this.#admitToken(token, timeoutMs);
    const basic = /^Basic (.+)$/i.exec(headers['authorization'] ?? '')?.[1];
    if (basic === undefined) return undefined;
    const [user, ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
    return this.knows(user, rest.join(':')) ? `connection ${connection}` : undefined;
  }

  #admitToken(token: string, timeoutMs: number | undefined): string | undefined {
    const session = this.#sessions.get(token);
    if (session === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (timeoutMs !== undefined && nowMs - session.usedAtMs > timeoutMs) {
      this.#sessions.delete(token);
      return undefined;
    }
    session.usedAtMs = nowMs;
    return `session ${session.id}`;
  }
}
