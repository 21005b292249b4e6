import type { Clock } from '../../../ports/clock.ts';

/** What is wrong with a switch, as data; an empty object is an honest one. */
export interface SwitchFaults {
  /** Answers that show or change a port come this late. */
  answerMs?: number;
  /** The same for changes only. */
  changeAnswerMs?: number;
  /** An accepted change takes effect this late; until then the port shows what it was. */
  actMs?: number;
  /** Changes of these ports are accepted and nothing happens. */
  ignores?: readonly string[];
  /** The account may look and not touch. */
  refuses?: boolean;
  /** A closed port opens again by itself after this long. */
  reopensMs?: number;
  /** What is shown of the state instead of the truth. */
  shows?: PortShown;
  /** What becomes of an answer that shows a port. */
  wire?: 'hangs' | 'garbage' | 'truncated';
  /** Whose port it is, as the port's description says. */
  describes?: string;
  /** No session is left for anybody. */
  isFull?: boolean;
  /** So many connections are turned away first. */
  turnsAway?: number;
  /** Every login is refused. */
  refusesLogin?: boolean;
  /** A persistent disable is kept, and the port stays on line. */
  keepsLink?: boolean;
}

/** `pending`: configured down, still passing traffic. `unknown`: a word that no switch should say. `missing`: no state at all. */
export type PortShown = 'open' | 'closed' | 'pending' | 'unknown' | 'missing';

export interface SwitchCommand {
  plug: string;
  wanted: 'on' | 'off' | 'other';
}

interface Port {
  name: string;
  description: string;
  isOpen: boolean;
}

/** The ports of a switch as they really are, whatever protocol asks for them. */
export class SwitchPorts {
  faults: SwitchFaults;
  readonly commands: SwitchCommand[] = [];
  readonly #clock: Clock;
  readonly #ports: readonly Port[];
  readonly #timers = new Set<() => void>();

  constructor(clock: Clock, ports: readonly { name: string; description: string; isOpen?: boolean }[], faults: SwitchFaults = {}) {
    this.#clock = clock;
    this.faults = faults;
    this.#ports = ports.map(({ name, description, isOpen = true }) => ({ name, description, isOpen }));
  }

  get names(): readonly string[] {
    return this.#ports.map(({ name }) => name);
  }

  has(name: string): boolean {
    return this.#ports.some((port) => port.name === name);
  }

  flows(name: string): boolean {
    return this.#find(name).isOpen;
  }

  describe(name: string): string {
    return this.faults.describes ?? this.#find(name).description;
  }

  shown(name: string): PortShown {
    return this.faults.shows ?? (this.#find(name).isOpen ? 'open' : 'closed');
  }

  /** A command that switches; false when the account may not. */
  set(name: string, wanted: 'on' | 'off'): boolean {
    this.commands.push({ plug: name, wanted });
    const { refuses, ignores, actMs = 0, reopensMs } = this.faults;
    if (refuses === true) return false;
    if (ignores?.includes(name) === true) return true;
    const act = (): void => {
      this.#find(name).isOpen = wanted === 'on';
      if (wanted === 'off' && reopensMs !== undefined) this.#later(reopensMs, () => (this.#find(name).isOpen = true));
    };
    if (actMs === 0) act();
    else this.#later(actMs, act);
    return true;
  }

  /** Takes pending effects off. */
  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #later(delayMs: number, act: () => void): void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      act();
    });
    this.#timers.add(cancel);
  }

  #find(name: string): Port {
    const port = this.#ports.find((each) => each.name === name);
    if (port === undefined) throw new Error(`the switch has no port ${name}`);
    return port;
  }
}
