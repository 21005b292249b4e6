import type { ClientChannel, ExecOptions } from 'ssh2';

import type { Clock } from '../../../src/ports/clock.ts';
import type { Call, CallTarget } from '../call.ts';
import type { LoggedIn } from './client.ts';
import { Dialogue } from './dialogue.ts';
import { SshFailure } from './failure.ts';
import type { SshSettings } from './parameters.ts';
import { deviceMessage } from './words.ts';

const OUTPUT_BYTES_MAX = 256 * 1024;
const CLOSE_MS = 1_000;

export interface ExecOptionsOfCall {
  /** Called in the turn in which the request with the command is written (`beforeSend`); when it throws, nothing is sent and its error is the result. */
  gate?: (() => void) | undefined;
  /** Written to the standard input, which is then closed. */
  input?: string | undefined;
}

/** How a command ended, and the beginning of what it wrote: at most 256 KiB of either stream. */
export interface ExecAnswer {
  /** Undefined when a signal ended it, or the device told no code. */
  code: number | undefined;
  signal: string | undefined;
  stdout: string;
  stderr: string;
  /** There was more output. */
  isCut: boolean;
}

/** One logged-in connection. Nothing here is repeated: whoever gets a failure must let the connection go. */
export class SshConnection {
  readonly settings: SshSettings;
  readonly #clock: Clock;
  readonly #loggedIn: LoggedIn;
  #dialogue: Dialogue | undefined;
  #lost: Error | undefined;

  constructor(settings: SshSettings, loggedIn: LoggedIn, clock: Clock) {
    this.settings = settings;
    this.#clock = clock;
    this.#loggedIn = loggedIn;
    loggedIn.client.removeAllListeners('close');
    loggedIn.client.on('error', (error) => (this.#lost ??= error));
    loggedIn.client.once('close', () => (this.#lost ??= new Error('the device closed the connection')));
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** What must never be written anywhere. */
  get secrets(): readonly (string | undefined)[] {
    return [this.settings.password, this.settings.passphrase];
  }

  /** Runs one command without a terminal. Rejects with `SshFailure` when no end of it was seen: whether it ran is not known then. */
  async exec(call: Call<CallTarget>, command: string, { gate, input }: ExecOptionsOfCall = {}): Promise<ExecAnswer> {
    const { client } = this.#loggedIn;
    const answer = new Promise<ExecAnswer>((resolve, reject) => {
      this.#open(
        (finish) => client.exec(command, gated(gate, reject), finish),
        (channel) => {
          outputOf(channel).then(resolve, reject);
          channel.end(input);
        },
      ).catch(reject);
    });
    return call.within(this.#unlessLost(answer));
  }

  /** The terminal of the connection, opened once. Rejects with `SshFailure`. */
  async dialogue(call: Call<CallTarget>): Promise<Dialogue> {
    if (this.#dialogue !== undefined) return this.#dialogue;
    // Wide, so that no echo is wrapped.
    const window = { term: 'vt100', cols: 511, rows: 1_000 };
    const dialogue = new Promise<Dialogue>((resolve, reject) => {
      this.#open(
        (finish) => this.#loggedIn.client.shell(window, finish),
        (channel) => resolve(new Dialogue(channel, this.secrets)),
      ).catch(reject);
    });
    return (this.#dialogue = await call.within(dialogue));
  }

  /** Says goodbye; a device that does not answer within a second is left. Never rejects. */
  async close(): Promise<void> {
    const { client, socket } = this.#loggedIn;
    if (!socket.destroyed) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(CLOSE_MS, resolve);
        socket.once('close', () => {
          cancel();
          resolve();
        });
        client.end();
      });
    }
    socket.destroy();
  }

  /** Lets it go at once, for a device that does not answer. */
  abandon(): void {
    this.#loggedIn.socket.destroy();
  }

  /** `use` gets the channel in the turn in which it is open: what the device says next may already be here, and is said once. */
  #open(begin: (finish: (error: Error | undefined, channel: ClientChannel) => void) => void, use: (channel: ClientChannel) => void): Promise<void> {
    return this.#unlessLost(
      new Promise<void>((resolve, reject) => {
        begin((error, channel) => {
          if (error === undefined) {
            use(channel);
            resolve();
          } else reject(new SshFailure('unreachable', `the device opens no session: ${deviceMessage(error.message, this.secrets)}`));
        });
      }),
    );
  }

  /** Rejects when the connection is lost first. */
  #unlessLost<T>(promise: Promise<T>): Promise<T> {
    const { client } = this.#loggedIn;
    return new Promise((resolve, reject) => {
      const onLost = (): void =>
        reject(new SshFailure('unreachable', deviceMessage((this.#lost ?? new Error('the device closed the connection')).message, this.secrets)));
      client.once('close', onLost);
      if (this.#lost !== undefined) onLost();
      promise.then(resolve, reject).finally(() => client.removeListener('close', onLost));
    });
  }
}

/**
 * ssh2 reads `pty` in the turn in which it writes the request, once the channel is open: so the check stands there. Throwing keeps ssh2 from
 * writing.
 */
function gated(gate: (() => void) | undefined, refuse: (error: unknown) => void): ExecOptions {
  let isPassed = gate === undefined;
  return {
    get pty() {
      if (isPassed) return false;
      isPassed = true;
      try {
        gate?.();
      } catch (error) {
        refuse(error);
        throw error;
      }
      return false;
    },
  };
}

function outputOf(channel: ClientChannel): Promise<ExecAnswer> {
  return new Promise((resolve) => {
    let code: number | undefined;
    let signal: string | undefined;
    const [stdout, stderr] = [new Output(), new Output()];
    channel.on('data', (chunk: Buffer) => stdout.add(chunk));
    channel.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
    channel.on('error', () => undefined);
    channel.once('exit', (given: number | null, name?: string) => {
      code = given ?? undefined;
      signal = name;
    });
    channel.once('close', () => resolve({ code, signal, stdout: stdout.text(), stderr: stderr.text(), isCut: stdout.isCut || stderr.isCut }));
  });
}

class Output {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  isCut = false;

  add(chunk: Buffer): void {
    const rest = OUTPUT_BYTES_MAX - this.#length;
    if (chunk.length > rest) this.isCut = true;
    if (rest <= 0) return;
    this.#chunks.push(chunk.subarray(0, rest));
    this.#length += Math.min(rest, chunk.length);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
