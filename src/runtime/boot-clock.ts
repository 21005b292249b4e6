import { openSync, readSync } from 'node:fs';
import { uptime } from 'node:os';

/** Seconds since the start of the machine come first (proc_uptime(5)). */
const FILE = '/proc/uptime';
const SPACE = 0x20;

/**
 * The clock that no suspension stops, in milliseconds. A leader looks at it before each write: os.uptime() opens the kernel's file for each look, here it stays
 * open, and a look costs a third. Where there is no such file, or it can be read no more, os.uptime() knows other ways.
 */
export class BootClock {
  readonly #path: string;
  readonly #buffer = Buffer.alloc(64);
  /** `undefined`: not opened yet; `null`: there is none. */
  #file: number | null | undefined;

  constructor(path = FILE) {
    this.#path = path;
  }

  nowMs(): number {
    if (this.#file === undefined) this.#file = opened(this.#path);
    const seconds = this.#file === null ? undefined : this.#read(this.#file);
    if (seconds === undefined) this.#file = null;
    return (seconds ?? uptime()) * 1_000;
  }

  #read(file: number): number | undefined {
    let length: number;
    try {
      length = readSync(file, this.#buffer, 0, this.#buffer.length, 0);
    } catch {
      return undefined;
    }
    const end = this.#buffer.subarray(0, length).indexOf(SPACE);
    const seconds = Number(this.#buffer.toString('latin1', 0, Math.max(0, end)));
    return seconds > 0 ? seconds : undefined;
  }
}

function opened(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
