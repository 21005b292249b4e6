import { StringDecoder } from 'node:string_decoder';

import type { ClientChannel } from 'ssh2';

import type { Call, CallTarget } from '../call.ts';
import { SshFailure } from './failure.ts';
import { deviceMessage, plainText } from './words.ts';

const BUFFER_MAX = 256 * 1024;
const PAGER = /(?:--\s?more\s?--|---\(more(?: \d+%)?\)---|<--- more --->)[ ]*$/i;

/** What came up to a prompt. */
export interface Said {
  /** Complete lines before the prompt. */
  lines: readonly string[];
  /** The last line, which is the prompt. */
  prompt: string;
}

/** A terminal session with a command line: one line is typed, and everything up to the next prompt is its answer. */
export class Dialogue {
  readonly #channel: ClientChannel;
  #secrets: readonly (string | undefined)[];
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #isOver = false;
  #onData = (): void => undefined;

  constructor(channel: ClientChannel, secrets: readonly (string | undefined)[]) {
    this.#channel = channel;
    this.#secrets = secrets;
    channel.on('data', (chunk: Buffer) => this.#add(chunk));
    channel.stderr.on('data', (chunk: Buffer) => this.#add(chunk));
    channel.on('error', () => undefined);
    channel.once('close', () => {
      this.#isOver = true;
      this.#onData();
    });
  }

  /** The next prompt: a last line, without its end, that `prompt` matches. Rejects with `SshFailure`, or with the end of the call. */
  async until(call: Call<CallTarget>, prompt: RegExp): Promise<Said> {
    for (;;) {
      const said = this.#take(prompt);
      if (said !== undefined) return said;
      await call.within(
        new Promise<void>((resolve) => {
          this.#onData = resolve;
        }),
      );
    }
  }

  /** The next prompt, or the last line that stood still for `quietMs` and is none: a device that says nothing more waits for us. */
  async first(call: Call<CallTarget>, prompt: RegExp, quietMs: number): Promise<Said | { strange: string }> {
    for (;;) {
      const said = this.#take(prompt);
      if (said !== undefined) return said;
      const before = this.#text;
      const heard = new Promise<void>((resolve) => {
        this.#onData = resolve;
      });
      await call.within(Promise.race([heard, call.pause(quietMs)]));
      const last = plainText(this.#text).split('\n').at(-1)?.trim() ?? '';
      if (this.#text === before && last !== '' && !this.#isOver) return { strange: deviceMessage(last, this.#secrets) };
    }
  }

  /**
   * Types a line, and gives the lines up to the next prompt without the echo. `gate` is called in the turn in which the line is written. An answer
   * that does not begin with the echo belongs to something else, and is a failure.
   */
  async ask(call: Call<CallTarget>, line: string, prompt: RegExp, gate?: () => void): Promise<Said> {
    if (this.#text.trim() !== '') throw this.#failure(`it said more after its prompt: ${this.#text}`);
    this.#text = '';
    this.#write(line, gate);
    const said = await this.until(call, prompt);
    const [echo, ...lines] = said.lines;
    if (echo?.trim() !== line.trim()) throw this.#failure(`its answer to ${line} begins with ${echo ?? said.prompt}`);
    return { ...said, lines };
  }

  /** Types what a device does not echo, such as a password. */
  async answer(call: Call<CallTarget>, secret: string, prompt: RegExp): Promise<Said> {
    // A device that asks for nothing any more takes it for a line, and quotes it.
    this.#secrets = [...this.#secrets, secret];
    this.#write(secret);
    return this.until(call, prompt);
  }

  #write(line: string, gate?: () => void): void {
    if (this.#isOver) throw this.#failure('the device closed the session');
    gate?.();
    this.#channel.write(`${line}\n`);
  }

  #add(chunk: Buffer): void {
    this.#text += this.#decoder.write(chunk);
    this.#onData();
  }

  #take(prompt: RegExp): Said | undefined {
    if (this.#text.length > BUFFER_MAX) throw this.#failure(`more than ${BUFFER_MAX} characters without a prompt`);
    const lines = plainText(this.#text).split('\n');
    const last = lines.pop() ?? '';
    if (prompt.test(last)) {
      this.#text = '';
      return { lines, prompt: last.trim() };
    }
    if (this.#isOver) throw this.#failure(`the device closed the session${this.#text.trim() === '' ? '' : `: ${this.#text}`}`);
    if (PAGER.test(last)) {
      this.#text = this.#text.replace(/[^\n]*$/, '');
      this.#channel.write(' ');
    }
    return undefined;
  }

  #failure(message: string): SshFailure {
    return new SshFailure('unreachable', deviceMessage(message, this.#secrets));
  }
}
