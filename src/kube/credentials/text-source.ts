import { readFile } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.ts';

/** Files of a service account are exchanged while we run; client-go reads them as often. */
const REREAD_MS = 60_000;

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
  readonly #clock: Clock;
  #text: string | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  /** `where` names the field that gave the path, for the error. */
  constructor(path: string, where: string, clock: Clock) {
    this.#path = path;
    this.#where = where;
    this.#clock = clock;
  }

  async read(): Promise<string> {
    if (this.#text !== undefined && this.#clock.monotonicMs() - this.#readAtMs < REREAD_MS) {
      return this.#text;
    }
    try {
      this.#text = await readFile(this.#path, 'utf8');
      this.#readAtMs = this.#clock.monotonicMs();
      return this.#text;
    } catch (error) {
      if (this.#text !== undefined) {
        return this.#text;
      }
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.#where}: ${why}; the file must exist and be readable by this process`, { cause: error });
    }
  }

  expire(): boolean {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
    return true;
  }
}
