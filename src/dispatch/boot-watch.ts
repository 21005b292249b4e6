import type { DeviceBoot, Reading } from '../ports/agents.ts';

/**
 * Follows the boots of one device while its off is proven. A device that starts shows a default state, often off, until it has looked at its machine: off
 * counts after an on was seen on the same boot, or once the device is up, or off has stood, for longer than any start takes (P1).
 */
export class BootWatch {
  /** Why the device is taken to have restarted since the first reading; undefined: it has not. */
  restarted: string | undefined;
  readonly #isDistrusted: boolean;
  #boot: DeviceBoot | undefined;
  #isOnSeen = false;

  /** `isDistrusted`: it restarted after an earlier off of this fence. */
  constructor(isDistrusted: boolean) {
    this.#isDistrusted = isDistrusted;
  }

  see({ boot }: Reading, isOn: boolean): void {
    if (boot !== undefined) {
      if (this.#boot !== undefined && this.#boot.id !== boot.id) {
        this.restarted = boot.cause;
        this.#isOnSeen = false;
      }
      this.#boot = boot;
    }
    if (isOn) this.#isOnSeen = true;
  }

  /** How long off has to stand before it counts, beyond `off_stable`; 0 where the device has long been up, or showed on before. */
  get unchangedForMs(): number {
    const boot = this.#boot;
    if (boot === undefined || this.#isOnSeen) return 0;
    if (this.#isDistrusted) return boot.startMaxMs;
    return boot.upMs === undefined || boot.upMs >= boot.startMaxMs ? 0 : boot.startMaxMs;
  }
}
