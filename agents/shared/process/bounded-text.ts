import type { Readable } from 'node:stream';

/** The first bytes of a stream as text; it reads on, so that whoever writes is not held up. */
export class BoundedText {
  readonly #chunks: Buffer[] = [];
  #roomBytes: number;
  #isCut = false;

  constructor(stream: Readable, maxBytes: number) {
    this.#roomBytes = maxBytes;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    // A pipe that breaks ends the text; how the program ended says why.
    stream.on('error', () => undefined);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  #take(chunk: Buffer): void {
    if (chunk.length > this.#roomBytes) this.#isCut = true;
    const kept = chunk.subarray(0, this.#roomBytes);
    if (kept.length > 0) this.#chunks.push(kept);
    this.#roomBytes -= kept.length;
  }
}
