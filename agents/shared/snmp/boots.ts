import type { DeviceBoot } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';

/** sysUpTime (RFC 3418) counts hundredths of a second in 32 bits, which is over after 497 days. */
const TICK_MS = 10;
const WRAPS_AT_MS = 2 ** 32 * TICK_MS;
/** So far two answers may seem to disagree, for the network and the device's own clock. */
const SLACK_MS = 5_000;
const STANDS_STILL_MS = 1_000;

/** The boots of a device by its sysUpTime, which begins at 0 whenever the device, or its SNMP engine, starts. */
export class SnmpBoots {
  static #made = 0;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #boot: { id: string; cause: string };
  #seen: { upMs: number; atMs: number } | undefined;
  /** False once the device turned out to have no sysUpTime. */
  isKnown = true;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#boot = SnmpBoots.#next('');
  }

  /** `ticks`: undefined where the device has none. */
  see(ticks: number | undefined): void {
    if (ticks === undefined) {
      this.isKnown = this.#seen !== undefined;
      return;
    }
    const atMs = this.#clock.monotonicMs();
    const upMs = ticks * TICK_MS;
    if (this.#seen !== undefined) {
      // A clock that stands still tells nothing.
      if (upMs === this.#seen.upMs && atMs - this.#seen.atMs >= STANDS_STILL_MS) {
        this.isKnown = false;
        this.#seen = undefined;
        return;
      }
      const dueMs = (this.#seen.upMs + atMs - this.#seen.atMs) % WRAPS_AT_MS;
      if (upMs < dueMs - SLACK_MS && !(dueMs >= WRAPS_AT_MS - SLACK_MS && upMs < SLACK_MS))
        this.#boot = SnmpBoots.#next('its sysUpTime started again');
    }
    this.#seen = { upMs, atMs };
  }

  current(startMaxMs: number): DeviceBoot | undefined {
    if (this.#seen === undefined) return undefined;
    return { ...this.#boot, upMs: this.#seen.upMs, startMaxMs };
  }

  static #next(cause: string): { id: string; cause: string } {
    SnmpBoots.#made += 1;
    return { id: String(SnmpBoots.#made), cause };
  }
}
