import type { PowerEvent } from '../../../laws/trace.ts';
import type { PowerBackend } from './power-backend.ts';

/**
 * How a machine gets its power. `bmc`: its BMC switches it. `supplies`: it has two power supplies, each on a plug of its own that is switched by a
 * device of its own, and runs while one of them is on. `outlet`: its BMC switches it, and both hang on one outlet, which another device switches.
 */
export const WIRINGS = ['bmc', 'supplies', 'outlet'] as const;
export type Wiring = (typeof WIRINGS)[number];

/** One device's hold on the machine. */
export interface Feed extends PowerBackend {
  /** The device itself has power. */
  isAlive(): boolean;
}

/** Wires a machine up: one feed for each device, in the order of their numbers. `onChange` hears of every feed that is switched. */
export function wire(wiring: Wiring, machine: PowerBackend, onChange: () => void): readonly Feed[] {
  switch (wiring) {
    case 'bmc':
      return [new Direct(machine)];
    case 'supplies':
      return supplies(machine, onChange);
    case 'outlet': {
      const outlet = new Plug(machine, onChange, () => []);
      return [new Direct(machine, () => outlet.isOn), outlet];
    }
  }
}

function supplies(machine: PowerBackend, onChange: () => void): Plug[] {
  const all: Plug[] = [];
  const others = (own: Plug): Plug[] => all.filter((plug) => plug !== own);
  all.push(new Plug(machine, onChange, others), new Plug(machine, onChange, others));
  return all;
}

class Direct implements Feed {
  readonly #machine: PowerBackend;
  readonly #isAlive: () => boolean;

  constructor(machine: PowerBackend, isAlive: () => boolean = () => true) {
    this.#machine = machine;
    this.#isAlive = isAlive;
  }

  isAlive(): boolean {
    return this.#isAlive();
  }

  state(): 'on' | 'off' {
    return this.#machine.state();
  }

  on(cause: PowerEvent['cause']): void {
    this.#machine.on(cause);
  }

  off(cause: PowerEvent['cause']): void {
    this.#machine.off(cause);
  }
}

class Plug implements Feed {
  isOn = true;
  readonly #machine: PowerBackend;
  readonly #onChange: () => void;
  readonly #others: (own: Plug) => readonly Plug[];

  constructor(machine: PowerBackend, onChange: () => void, others: (own: Plug) => readonly Plug[]) {
    this.#machine = machine;
    this.#onChange = onChange;
    this.#others = others;
  }

  isAlive(): boolean {
    return true;
  }

  /** The last plug counts as off only once nothing runs on it any more. */
  state(): 'on' | 'off' {
    if (this.isOn) return 'on';
    return this.#isFedElsewhere() ? 'off' : this.#machine.state();
  }

  on(cause: PowerEvent['cause']): void {
    this.isOn = true;
    this.#machine.on(cause);
    this.#onChange();
  }

  off(cause: PowerEvent['cause']): void {
    this.isOn = false;
    if (!this.#isFedElsewhere()) this.#machine.off(cause);
    this.#onChange();
  }

  #isFedElsewhere(): boolean {
    return this.#others(this).some((plug) => plug.isOn);
  }
}
