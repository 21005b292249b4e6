import type { Clock } from '../../../../ports/clock.ts';
import type { Random } from '../../../../ports/random.ts';
import type { SessionKeys } from './keys.ts';
import { SequenceWindow } from './sequence-window.ts';
import type { CipherSuite } from './suites.ts';

/** Privilege levels (table 22-... of Set Session Privilege Level). */
export const PRIVILEGE = { callback: 1, user: 2, operator: 3, administrator: 4 } as const;

export interface Session {
  /** Ours; the console puts it into what it sends. */
  readonly systemID: number;
  readonly consoleID: number;
  readonly suite: CipherSuite;
  systemNonce: Buffer;
  /** As the trace names it. */
  readonly name: string;
  readonly window: SequenceWindow;
  /** Requested at Open Session; bounded by the user's own once that is known. */
  privilegeMax: number;
  privilege: number;
  keys: SessionKeys | undefined;
  /** What RAKP 3 must carry; known after RAKP 1. */
  expectedCode: Buffer | undefined;
  username: string;
  isActive: boolean;
  usedAtMs: number;
  sent: number;
}

const PENDING_MAX = 16;

/** The sessions of one BMC: a bounded number, each ended when unused for long. */
export class Sessions {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #random: Random;
  readonly #activeMax: number;
  readonly #sessions = new Map<number, Session>();
  #created = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, random: Random, activeMax: number) {
    this.#clock = clock;
    this.#random = random;
    this.#activeMax = activeMax;
  }

  get active(): readonly Session[] {
    return [...this.#sessions.values()].filter((session) => session.isActive);
  }

  /** `undefined`: no slot is free. The oldest unfinished handshake makes place for a new one. */
  open(consoleID: number, suite: CipherSuite, privilegeMax: number): Session | undefined {
    if (this.active.length >= this.#activeMax) return undefined;
    const pending = [...this.#sessions.values()].filter((session) => !session.isActive);
    if (pending.length >= PENDING_MAX && pending[0] !== undefined) this.end(pending[0]);
    this.#created += 1;
    const session: Session = {
      systemID: this.#freeID(),
      consoleID,
      suite,
      systemNonce: randomBytesOf(this.#random, 16),
      name: `session ${this.#created}`,
      window: new SequenceWindow(),
      privilegeMax,
      privilege: PRIVILEGE.user,
      keys: undefined,
      expectedCode: undefined,
      username: '',
      isActive: false,
      usedAtMs: this.#clock.monotonicMs(),
      sent: 0,
    };
    this.#sessions.set(session.systemID, session);
    return session;
  }

  /** False when all slots were taken while the handshake went on. */
  activate(session: Session): boolean {
    if (!session.isActive && this.active.length >= this.#activeMax) return false;
    session.isActive = true;
    return true;
  }

  find(systemID: number): Session | undefined {
    return this.#sessions.get(systemID);
  }

  touch(session: Session): void {
    session.usedAtMs = this.#clock.monotonicMs();
  }

  end(session: Session): void {
    this.#sessions.delete(session.systemID);
  }

  endAll(): void {
    this.#sessions.clear();
  }

  endUnused(timeoutMs: number): void {
    const now = this.#clock.monotonicMs();
    for (const session of this.#sessions.values()) if (now - session.usedAtMs > timeoutMs) this.end(session);
  }

  #freeID(): number {
    for (;;) {
      const id = randomBytesOf(this.#random, 4).readUInt32LE();
      if (id !== 0 && !this.#sessions.has(id)) return id;
    }
  }
}

/** Bytes from the injected source of chance. */
export function randomBytesOf(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0; index < length; index += 1) bytes[index] = Math.floor(random.next() * 256);
  return bytes;
}
