import { spawn, type ChildProcess } from 'node:child_process';

import type { Random } from '../../../ports/random.ts';
import type { PowerEvent } from '../../../laws/trace.ts';
import type { PowerBackend } from './power-backend.ts';

export interface MachineProcessOptions {
  /** Program and arguments; the path of its configuration file comes last. */
  command: readonly string[];
  configuration: string;
  random: Random;
  /** A true edge of the machine's power, after it happened. */
  onPower: (state: 'on' | 'off', cause: PowerEvent['cause']) => void;
  /** The machine's process ended although nobody cut its power. */
  onDeath: (bootID: string) => void;
}

/**
 * A machine that is a process of its own: power on starts it, power off kills it. It counts as off only when the process is gone, so
 * that an off really is the end of whatever it wrote.
 */
export class MachineProcess implements PowerBackend {
  readonly #options: MachineProcessOptions;
  #isOn = false;
  #child: ChildProcess | undefined;
  #bootID = '';
  /** Set while the process is being killed by a power off. */
  #offCause: PowerEvent['cause'] | undefined;
  #onAfterwards: PowerEvent['cause'] | undefined;

  constructor(options: MachineProcessOptions) {
    this.#options = options;
  }

  state(): 'on' | 'off' {
    return this.#isOn ? 'on' : 'off';
  }

  /** Of the boot that runs, or ran last; empty before the first. */
  get bootID(): string {
    return this.#bootID;
  }

  on(cause: PowerEvent['cause']): void {
    if (this.#offCause !== undefined) {
      this.#onAfterwards = cause;
      return;
    }
    if (this.#isOn) return;
    this.#isOn = true;
    this.#options.onPower('on', cause);
    this.#boot();
  }

  off(cause: PowerEvent['cause']): void {
    this.#onAfterwards = undefined;
    if (!this.#isOn || this.#offCause !== undefined) return;
    this.#offCause = cause;
    if (this.#child === undefined) this.#isNowOff();
    else this.#child.kill('SIGKILL');
  }

  /** The kernel stops at once; the power stays on. */
  panic(): void {
    this.#child?.kill('SIGKILL');
  }

  /** One line of JSON to the machine; lost when nothing runs there. */
  tell(line: unknown): void {
    this.#child?.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  #boot(): void {
    const { command, configuration, random } = this.#options;
    const [program, ...rest] = command;
    if (program === undefined) throw new Error('machine.command is empty: give the program and its arguments');
    this.#bootID = random.uuid();
    const child = spawn(program, [...rest, configuration], { stdio: ['pipe', 'ignore', 'inherit'] });
    this.#child = child;
    // Writing to a machine that has just died is no error here.
    child.stdin.on('error', () => undefined);
    child.once('error', () => this.#ended(child));
    child.once('exit', () => this.#ended(child));
    this.tell({ command: 'boot', bootID: this.#bootID });
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (this.#offCause === undefined) this.#options.onDeath(this.#bootID);
    else this.#isNowOff();
  }

  #isNowOff(): void {
    const cause = this.#offCause ?? 'set';
    const next = this.#onAfterwards;
    this.#offCause = undefined;
    this.#onAfterwards = undefined;
    this.#isOn = false;
    this.#options.onPower('off', cause);
    if (next !== undefined) this.on(next);
  }
}
