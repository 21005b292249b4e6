import { StringDecoder } from 'node:string_decoder';

/** Cuts a byte stream into lines, wherever its chunks begin and end, also inside a character. A line longer than the bound is an error. */
export class LineFramer {
  readonly #decoder = new StringDecoder('utf8');
  readonly #lineMaxCharacters: number;
  #rest: string[] = [];
  #restCharacters = 0;

  constructor(lineMaxCharacters: number) {
    this.#lineMaxCharacters = lineMaxCharacters;
  }

  /** The lines that `chunk` completes, without their ends; empty lines are left out. */
  push(chunk: Buffer): readonly string[] {
    const pieces = this.#decoder.write(chunk).split('\n');
    const last = pieces.pop() ?? '';
    const lines: string[] = [];
    for (const piece of pieces) {
      this.#keep(piece);
      const line = this.#rest.join('').trim();
      this.#rest = [];
      this.#restCharacters = 0;
      if (line !== '') {
        lines.push(line);
      }
    }
    this.#keep(last);
    return lines;
  }

  /** Is there the beginning of a line that never ended? */
  get isInsideLine(): boolean {
    return this.#restCharacters > 0;
  }

  #keep(piece: string): void {
    this.#restCharacters += piece.length;
    if (this.#restCharacters > this.#lineMaxCharacters) {
      throw new RangeError(`a line is longer than ${String(this.#lineMaxCharacters)} characters`);
    }
    if (piece !== '') {
      this.#rest.push(piece);
    }
  }
}
