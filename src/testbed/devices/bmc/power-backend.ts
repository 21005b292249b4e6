import type { PowerEvent } from '../../../laws/trace.ts';

/** The machine that a BMC switches. */
export interface PowerBackend {
  /** The truth: off only once nothing runs there any more. */
  state(): 'on' | 'off';
  on(cause: PowerEvent['cause']): void;
  off(cause: PowerEvent['cause']): void;
}

/** A machine that is a variable; for tests. */
export class MemoryMachine implements PowerBackend {
  readonly edges: { state: 'on' | 'off'; cause: PowerEvent['cause'] }[] = [];
  #state: 'on' | 'off';

  constructor(state: 'on' | 'off' = 'on') {
    this.#state = state;
  }

  state(): 'on' | 'off' {
    return this.#state;
  }

  on(cause: PowerEvent['cause']): void {
    this.#turn('on', cause);
  }

  off(cause: PowerEvent['cause']): void {
    this.#turn('off', cause);
  }

  #turn(state: 'on' | 'off', cause: PowerEvent['cause']): void {
    if (this.#state === state) return;
    this.#state = state;
    this.edges.push({ state, cause });
  }
}
