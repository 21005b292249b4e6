import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';

/** A thousand calls at one instant would stall the process with handshakes and answers: as many as this are judged in one turn of the event loop. */
const AT_ONCE_MAX = 16;
/** A device that says nothing for so long keeps the others waiting no longer: a rack of dead ones must not hold up a living one. */
const SILENT_MAX_MS = 60;

/** So many begin in one turn of the event loop: a login and a handshake take some milliseconds each. */
const IN_A_TURN_MAX = 4;

type GiveBack = () => void;

/**
 * How many calls to all devices together are under way: first come, first served. Only silence makes a call stop counting: one that lasts long because
 * this process is busy would let in others, and they would make it busier.
 */
export class Permits {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly #atOnceMax: number;
  /** Since when nothing was heard, longest first. */
  readonly #holders = new Map<Call, number>();
  readonly #waiting = new Map<Call, (permit: GiveBack) => void>();
  #cancelRelief: (() => void) | undefined;
  #grantedInTurn = 0;
  #awaitsTurn = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'after'>, atOnceMax: number = AT_ONCE_MAX) {
    this.#clock = clock;
    this.#atOnceMax = atOnceMax;
  }

  get held(): number {
    return this.#holders.size;
  }

  /** Resolves with what gives the permit back, once there is one. Rejects when the call ends first. */
  async take(call: Call): Promise<GiveBack> {
    if (this.#waiting.size === 0 && this.#isFree()) return this.#grant(call);
    let onGranted: (permit: GiveBack) => void = () => undefined;
    const granted = new Promise<GiveBack>((resolve) => (onGranted = resolve));
    this.#waiting.set(call, onGranted);
    this.#watch();
    this.#awaitTurn();
    try {
      return await call.within(granted);
    } catch (error) {
      // Granted in the very turn in which the call ended: it goes back at once.
      if (!this.#waiting.delete(call)) void granted.then((giveBack) => giveBack());
      throw error;
    }
  }

  /** The device of this call has just said something. */
  heard(call: Call): void {
    if (this.#holders.delete(call)) this.#holders.set(call, this.#clock.monotonicMs());
  }

  #grant(call: Call): GiveBack {
    this.#holders.set(call, this.#clock.monotonicMs());
    this.#grantedInTurn += 1;
    this.#awaitTurn();
    return () => this.#end(call);
  }

  #end(call: Call): void {
    if (this.#holders.delete(call)) this.#admit();
  }

  #isFree(): boolean {
    return this.held < this.#atOnceMax && this.#grantedInTurn < IN_A_TURN_MAX;
  }

  #admit(): void {
    for (const [call, next] of this.#waiting) {
      if (!this.#isFree()) break;
      this.#waiting.delete(call);
      next(this.#grant(call));
    }
    this.#watch();
  }

  #awaitTurn(): void {
    if (this.#awaitsTurn) return;
    this.#awaitsTurn = true;
    setImmediate(() => {
      this.#awaitsTurn = false;
      this.#grantedInTurn = 0;
      this.#admit();
    });
  }

  /** While somebody waits, whoever was silent for too long stops counting; his call goes on. */
  #watch(): void {
    const sinceMs = this.#holders.values().next().value;
    if (this.#waiting.size === 0 || this.#cancelRelief !== undefined || sinceMs === undefined) return;
    this.#cancelRelief = this.#clock.after(Math.max(1, sinceMs + SILENT_MAX_MS - this.#clock.monotonicMs()), () => {
      this.#cancelRelief = undefined;
      const lateMs = this.#clock.monotonicMs() - SILENT_MAX_MS;
      for (const [call, silentSinceMs] of [...this.#holders]) if (silentSinceMs <= lateMs) this.#end(call);
      this.#watch();
    });
  }
}
