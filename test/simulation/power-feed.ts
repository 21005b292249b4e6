import type { Machine } from '../../src/testbed/cluster/machine.ts';
import type { PowerBackend } from '../../src/testbed/simulation/devices.ts';
import type { Feed } from './scenario.ts';

type Fed = Pick<Machine, 'state' | 'powerOn' | 'powerOff'>;

/** The mains of one machine: outlets that it hangs on, and what it does when its power comes back. */
export class PowerFeed {
  readonly #machine: Fed;
  readonly #restore: Feed['restore'];
  readonly #outlets = new Map<string, 'on' | 'off'>();
  #wasOn = true;

  constructor(machine: Fed, restore: Feed['restore']) {
    this.#machine = machine;
    this.#restore = restore;
  }

  /** Does any outlet feed it? A machine without outlets always has mains. */
  hasMains(): boolean {
    return this.#outlets.size === 0 || [...this.#outlets.values()].includes('on');
  }

  /** The switch of one outlet; its own state is no witness of the machine's. */
  outlet(name: string): PowerBackend {
    this.#outlets.set(name, 'on');
    return {
      state: () => this.#outlets.get(name) ?? 'on',
      on: (cause) => {
        this.#turn(name, 'on', cause);
      },
      off: () => {
        this.#turn(name, 'off', 'set');
      },
    };
  }

  /** The switch on the board; without mains it does nothing. */
  board(): PowerBackend {
    return {
      state: () => this.#machine.state,
      on: (cause) => {
        if (this.hasMains()) this.#machine.powerOn(cause);
      },
      off: () => {
        this.#machine.powerOff('set');
      },
    };
  }

  /** Somebody plugs everything in. */
  plugIn(): void {
    for (const name of this.#outlets.keys()) this.#outlets.set(name, 'on');
  }

  #turn(name: string, state: 'on' | 'off', cause: 'set' | 'restore'): void {
    const hadMains = this.hasMains();
    this.#outlets.set(name, state);
    const hasMains = this.hasMains();
    if (hadMains && !hasMains) {
      this.#wasOn = this.#machine.state === 'on';
      this.#machine.powerOff('set');
    } else if (!hadMains && hasMains && (this.#restore === 'always-on' || (this.#restore === 'last' && this.#wasOn))) {
      this.#machine.powerOn(cause);
    }
  }
}
