import { readFile } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.ts';
import type { RepeatedWarnings } from '../repeated-warnings.ts';

/** Files of a service account are exchanged while we run; client-go reads them as often. */
const REREAD_MS = 60_000;

/** How texts in files are read. `warnings`: told of a file that cannot be read any more, while what was read before is used. */
export interface Reading {
  clock: Clock;
  warnings?: Pick<RepeatedWarnings, 'warn' | 'over'> | undefined;
}

/** A text from a configuration: given there, or in a file that may be exchanged at any time. */
export interface TextSource {
  read(): Promise<string>;
  /** Reads the file again at the next call. `false` when there is none. */
  expire(): boolean;
}

export class InlineText implements TextSource {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  async read(): Promise<string> {
    return this.#text;
  }

  expire(): boolean {
    return false;
  }
}

export class FileText implements TextSource {
  readonly #path: string;
  readonly #where: string;
  readonly #reading: Reading;
  #text: string | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isFaulty = false;

  /** `where` names the field that gave the path, for the error. */
  constructor(path: string, where: string, reading: Reading) {
    this.#path = path;
    this.#where = where;
    this.#reading = reading;
  }

  async read(): Promise<string> {
    const { clock, warnings } = this.#reading;
    if (this.#text !== undefined && clock.monotonicMs() - this.#readAtMs < REREAD_MS) {
      return this.#text;
    }
    try {
      const text = await readFile(this.#path, 'utf8');
      // Whoever writes it anew empties it first; an authority that is empty would be any of the system's.
      if (text.trim() === '') throw new Error(`${this.#path} is empty`);
      this.#text = text;
      this.#readAtMs = clock.monotonicMs();
      if (this.#isFaulty) warnings?.over(this.#where);
      this.#isFaulty = false;
      return text;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const fault = new Error(`${this.#where}: ${why}; the file must exist and be readable by this process`, { cause: error });
      if (this.#text === undefined) throw fault;
      this.#isFaulty = true;
      warnings?.warn(this.#where, 'a file of credentials cannot be read: what was read before is used', fault);
      return this.#text;
    }
  }

  expire(): boolean {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
    return true;
  }
}
