import type { BmcFaults } from '../bmc/faults.ts';
import type { PowerBackend } from '../bmc/power-backend.ts';
import type { Clock } from '../../../ports/clock.ts';
import { stateOf } from './supported-faults.ts';

/** The power control of a BMC with what is wrong with it: what it shows, and when an accepted command takes effect. */
export class PowerSwitch {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #backend: PowerBackend;

  constructor(clock: Pick<Clock, 'after'>, backend: PowerBackend) {
    this.#clock = clock;
    this.#backend = backend;
  }

  /** The machine's true state. */
  state(): 'on' | 'off' {
    return this.#backend.state();
  }

  shown(faults: BmcFaults): 'on' | 'off' {
    return faults.shows === undefined ? this.state() : stateOf(faults.shows);
  }

  /** Carries out what was accepted, one after the other. */
  turn(wants: readonly ('on' | 'off')[], faults: BmcFaults): void {
    const [want, ...rest] = wants;
    if (want === undefined || faults.ignoresReset === true) return;
    const delayMs = (want === 'off' ? faults.offDelayMs : faults.onDelayMs) ?? 0;
    const act = (): void => {
      this.#backend[want]('set');
      const { restoresAfterMs } = faults;
      if (want === 'off' && rest.length === 0 && restoresAfterMs !== undefined) {
        this.#clock.after(restoresAfterMs, () => this.#backend.on('restore'));
      }
      this.turn(rest, faults);
    };
    if (delayMs === 0) act();
    else this.#clock.after(delayMs, act);
  }
}
