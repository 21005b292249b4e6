import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';

/** A thousand calls at one instant would stall the process with handshakes and answers; 64 keep every wire busy. */
const AT_ONCE_MAX = 64;
/** A device that says nothing keeps the others waiting for so long and no longer: a rack of dead ones must not hold up a living one. */
const HELD_MAX_MS = 250;

/** So many begin in one turn of the event loop: a login and a handshake cost about a millisecond each. */
const IN_A_TURN_MAX = 8;

type GiveBack = () => void;

/** How many calls to all devices together are under way: first come, first served. */
export class Permits {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly #atOnceMax: number;
  /** Since when, oldest first. */
  readonly #holders = new Map<object, number>();
  readonly #waiting = new Set<(permit: GiveBack) => void>();
  #cancelRelief: (() => void) | undefined;
  #grantedInTurn = 0;
  #nextTurn: NodeJS.Immediate | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'after'>, atOnceMax: number = AT_ONCE_MAX) {
    this.#clock = clock;
    this.#atOnceMax = atOnceMax;
  }

  get held(): number {
    return this.#holders.size;
  }

  /** Resolves with what gives the permit back, once there is one. Rejects when the call ends first. */
  async take(call: Call): Promise<GiveBack> {
    if (this.#waiting.size === 0 && this.#isFree()) return this.#grant();
    let onGranted: (permit: GiveBack) => void = () => undefined;
    const granted = new Promise<GiveBack>((resolve) => (onGranted = resolve));
    this.#waiting.add(onGranted);
    this.#watch();
    this.#awaitTurn();
    try {
      return await call.within(granted);
    } catch (error) {
      // Granted in the very turn in which the call ended: it goes back at once.
      if (!this.#waiting.delete(onGranted)) void granted.then((giveBack) => giveBack());
      throw error;
    }
  }

  #grant(): GiveBack {
    const holder = {};
    this.#holders.set(holder, this.#clock.monotonicMs());
    this.#grantedInTurn += 1;
    this.#awaitTurn();
    return () => this.#end(holder);
  }

  #end(holder: object): void {
    if (this.#holders.delete(holder)) this.#admit();
  }

  #isFree(): boolean {
    return this.held < this.#atOnceMax && this.#grantedInTurn < IN_A_TURN_MAX;
  }

  #admit(): void {
    for (const next of this.#waiting) {
      if (!this.#isFree()) return;
      this.#waiting.delete(next);
      next(this.#grant());
    }
  }

  #awaitTurn(): void {
    this.#nextTurn ??= setImmediate(() => {
      this.#nextTurn = undefined;
      this.#grantedInTurn = 0;
      this.#admit();
    });
  }

  /** While somebody waits, whoever has held a permit for too long stops counting; his call goes on. */
  #watch(): void {
    const sinceMs = this.#holders.values().next().value;
    if (this.#waiting.size === 0 || this.#cancelRelief !== undefined || sinceMs === undefined) return;
    this.#cancelRelief = this.#clock.after(Math.max(1, sinceMs + HELD_MAX_MS - this.#clock.monotonicMs()), () => {
      this.#cancelRelief = undefined;
      const lateMs = this.#clock.monotonicMs() - HELD_MAX_MS;
      for (const [holder, heldSinceMs] of [...this.#holders]) if (heldSinceMs <= lateMs) this.#end(holder);
      this.#watch();
    });
  }
}
