import type { Clock } from '../../../src/ports/clock.ts';
import type { AddressCheck } from '../address/address-check.ts';
import { Call, type CallTarget } from '../call.ts';
import type { Trust } from '../web/trusted-socket.ts';
import { WebClient } from '../web/web-client.ts';
import { typed } from './repeat.ts';
import { TokenKeeper, type Token } from './tokens.ts';

const LOGOUT_MS = 3_000;

/** How sessions of one kind of server are opened and ended. */
export interface SessionProtocol<S extends Token> {
  /** For the call that ends one: `vsphere`. */
  device: string;
  /** Its requests leave over these; closed with it. */
  clients: KeptClient;
  /** A login is heard out for so long after its call ended: a session that nobody knows of could not be ended. */
  loginGraceMs: number;
  /** Nobody who closes waits longer for logins that are under way. */
  closeWaitMs: number;
  open(call: Call<CallTarget>): Promise<S>;
  /** May reject: the server ends a session that nobody uses by itself, and nothing more can be done about it. */
  logOut(call: Call<CallTarget>, session: S): Promise<unknown>;
  /** What an error of `open` is in the words of the device. */
  explained?(call: Call<CallTarget>, error: unknown): unknown;
}

/** One session of one account, opened when it is needed, kept, and ended by `close`. */
export class KeptSession<S extends Token> {
  readonly #protocol: SessionProtocol<S>;
  readonly #clock: Clock;
  readonly #keeper: TokenKeeper<S>;
  /** Logins that are under way. */
  readonly #opening = new Map<Call<CallTarget>, Promise<S>>();
  #kept: S | undefined;

  constructor(protocol: SessionProtocol<S>, clock: Clock) {
    this.#protocol = protocol;
    this.#clock = clock;
    this.#keeper = new TokenKeeper(clock);
  }

  /** The kept one, or a new one. */
  get(call: Call): Promise<S> {
    return call.within(this.#keeper.get(() => this.#heardOut(call)));
  }

  /** The server does not know it any more. */
  drop(session: S): void {
    this.#keeper.drop(session);
    if (this.#kept === session) this.#kept = undefined;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await this.#closeSession();
    this.#protocol.clients.close();
  }

  async #closeSession(): Promise<void> {
    const giveUp = (): void => {
      for (const call of this.#opening.keys()) call.giveUp();
    };
    const cancel = this.#clock.after(this.#protocol.closeWaitMs, giveUp);
    await Promise.allSettled(this.#opening.values());
    cancel();
    const session = this.#kept;
    if (session === undefined) return;
    this.drop(session);
    await this.#ended(session);
  }

  async #heardOut({ target, asked, remainingMs }: Call): Promise<S> {
    const alone = {
      device: target.device,
      plug: target.plug,
      signal: new AbortController().signal,
      deadlineMs: Math.max(0, remainingMs) + this.#protocol.loginGraceMs,
    };
    const call = new Call<CallTarget>(this.#clock, alone, asked);
    const opening = this.#protocol.open(call).finally(() => call.release());
    this.#opening.set(call, opening);
    try {
      this.#kept = await opening;
      return this.#kept;
    } catch (error) {
      throw typed(call, this.#protocol.explained?.(call, error) ?? error);
    } finally {
      this.#opening.delete(call);
    }
  }

  async #ended(session: S): Promise<void> {
    const target = { device: this.#protocol.device, plug: '', signal: new AbortController().signal, deadlineMs: LOGOUT_MS };
    const call = new Call<CallTarget>(this.#clock, target, 'log out');
    await this.#protocol.logOut(call, session).catch(() => undefined);
    call.release();
  }
}

interface Reachable {
  clock: Clock;
  check: AddressCheck;
}

/** One client for as long as place and trust stay the same: credentials from elsewhere may bring others. */
export class KeptClient {
  readonly #reach: Reachable;
  readonly #socketsMax: number;
  #kept: { key: string; client: WebClient } | undefined;

  /** `socketsMax`: requests at once to one server. */
  constructor(reach: Reachable, socketsMax: number) {
    this.#reach = reach;
    this.#socketsMax = socketsMax;
  }

  for(place: object, trust: Trust): WebClient {
    const key = JSON.stringify([place, trust]);
    if (this.#kept?.key === key) return this.#kept.client;
    this.close();
    const client = new WebClient(trust, this.#reach, this.#socketsMax);
    this.#kept = { key, client };
    return client;
  }

  close(): void {
    this.#kept?.client.close();
    this.#kept = undefined;
  }
}
