import { writeSync } from 'node:fs';

import type { IPty } from 'node-pty';

/** Wide enough that the line editor never wraps a command. */
const COLUMNS = 250;
const ROWS = 50;

/** What node-pty 1.2 has beyond its published types: the terminal's own descriptor, and word of its closing. */
interface DescribedPty extends IPty {
  readonly fd: number;
  on(event: 'close', listener: () => void): void;
}

function isDescribed(pty: IPty): pty is DescribedPty {
  return 'fd' in pty && typeof pty.fd === 'number' && 'on' in pty && typeof pty.on === 'function';
}

export interface TerminalListener {
  onText(text: string): void;
  /** Once, after the last text. */
  onEnd(): void;
}

/** A program at a terminal of its own, with an environment that we name in full. */
export class Terminal {
  readonly pid: number;
  readonly #pty: DescribedPty;
  #isOpen = true;
  #isRunning = true;

  private constructor(pty: DescribedPty, listener: TerminalListener) {
    this.#pty = pty;
    this.pid = pty.pid;
    pty.on('close', () => {
      this.#isOpen = false;
    });
    pty.onData((text) => listener.onText(text));
    pty.onExit(() => {
      this.#isOpen = false;
      this.#isRunning = false;
      listener.onEnd();
    });
  }

  /** Rejects where node-pty has no binary for this platform, or no terminal is left. */
  static async start(
    program: string,
    parameters: readonly string[],
    environment: Readonly<Record<string, string>>,
    listener: TerminalListener,
  ): Promise<Terminal> {
    const { spawn } = await import('node-pty');
    const pty = spawn(program, [...parameters], { name: 'dumb', cols: COLUMNS, rows: ROWS, cwd: '/', env: { ...environment } });
    if (isDescribed(pty)) return new Terminal(pty, listener);
    pty.kill('SIGKILL');
    throw new Error('this node-pty does not show the descriptor of its terminal; the version in package-lock.json does');
  }

  /**
   * Writes in this very turn: node-pty's own `write` hands the bytes to a pool of threads, where they may wait behind slow name look-ups until
   * long after the lease was checked. Throws when the terminal is closed or does not take all of it.
   */
  write(text: string): void {
    if (!this.#isOpen) throw new Error('the terminal is closed');
    const bytes = Buffer.from(text);
    if (writeSync(this.#pty.fd, bytes) !== bytes.length) throw new Error('the terminal did not take the whole line');
  }

  /** Kills the program and whatever it started, at once. */
  kill(): void {
    if (!this.#isRunning) return;
    try {
      // A program at a terminal of its own leads its process group.
      process.kill(-this.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
