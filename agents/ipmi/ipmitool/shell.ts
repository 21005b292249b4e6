import type { AgentError } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { NoAnswer } from '../line.ts';
import { linesOf, quoted, withoutEscapes } from './answers.ts';
import type { Call, CallTarget } from '../../shared/call.ts';
import { findProgram } from '../../shared/process/run-program.ts';
import { loginError } from './login-error.ts';
import type { IpmiSettings } from '../parameters.ts';
import { shellEnvironment, shellParameters } from './program.ts';
import { Terminal } from './terminal.ts';

/** More than this for one command is no answer of a BMC. */
const OUTPUT_MAX = 65_536;
/** A shell that closes its session does so in one round trip; a dead BMC is not waited for. */
const FAREWELL_MS = 500;
const PROMPT = /(?:^|\n)ipmitool> $/;
/** What is looked at for a prompt; longer than the longest one. */
const TAIL = 256;

/** What became of one command. `lost`: the shell died or said what no shell says. */
export type Exchange = { kind: 'answer'; lines: string[] } | NoAnswer;

type Wait = 'seen' | 'closed' | 'overflow' | 'ended';

/** One `ipmitool shell` at a terminal: an open RMCP+ session to one BMC. One command at a time; a shell that surprises is killed, not asked again. */
export class Shell {
  readonly #secrets: readonly string[];
  #terminal: Terminal | undefined;
  #text = '';
  #state: 'opening' | 'idle' | 'busy' | 'over' = 'opening';
  #isOverflown = false;
  #wake: () => void = () => undefined;
  #closed: () => void = () => undefined;
  readonly #closing = new Promise<void>((resolve) => {
    this.#closed = resolve;
  });

  private constructor(settings: IpmiSettings) {
    this.#secrets = [settings.password, ...(settings.kg === undefined ? [] : [settings.kg])];
  }

  /** Starts ipmitool, types the password at its prompt and waits for the session. Rejects with `AgentError`; nothing is left running then. */
  static async open(settings: IpmiSettings, path: string, call: Call<CallTarget>, clock: Clock): Promise<Shell> {
    const shell = new Shell(settings);
    try {
      await shell.#start(settings, path, call);
      if (settings.kg !== undefined) await shell.#dialogue(/(?:^|\n)Key: $/, settings.kg, settings, call);
      await shell.#dialogue(/(?:^|\n)Password: $/, settings.password, settings, call);
      const askedAtMs = clock.monotonicMs();
      const wait = await shell.#until(PROMPT, call);
      if (wait !== 'seen') throw shell.#loginFailure(wait, settings, clock.monotonicMs() - askedAtMs, call);
      shell.#text = '';
      shell.#state = 'idle';
      return shell;
    } catch (error) {
      shell.kill();
      throw error;
    }
  }

  get isUsable(): boolean {
    return this.#state === 'idle';
  }

  /**
   * Runs one command. `beforeSend` is called in the same synchronous turn as the write; when it throws, nothing was written and the shell
   * stays. Never rejects otherwise.
   */
  async run(command: string, call: Call<CallTarget>, beforeSend: () => void = () => undefined): Promise<Exchange> {
    const terminal = this.#terminal;
    if (this.#state !== 'idle' || terminal === undefined) return { kind: 'lost', why: 'the shell of ipmitool is not ready', isSent: false };
    if (call.ended !== undefined) return { kind: 'ended', isSent: false };
    beforeSend();
    this.#state = 'busy';
    try {
      terminal.write(`${command}\n`);
    } catch (error) {
      return this.#lost(`the shell of ipmitool took no command: ${(error as Error).message}`);
    }
    const wait = await this.#until(PROMPT, call);
    if (wait === 'ended') {
      this.kill();
      return { kind: 'ended', isSent: true };
    }
    if (wait === 'closed') return this.#lost(`ipmitool ended in the middle; it said ${this.quote(linesOf(this.#text))}`);
    if (wait === 'overflow') return this.#lost(`ipmitool said more than ${OUTPUT_MAX} characters`);
    const [echo, ...lines] = linesOf(this.#text);
    // The last line is the prompt. A command that is not shown first as it was typed is not the one that was answered.
    if (echo !== command || lines.length === 0) return this.#lost(`ipmitool answered something else: ${this.quote(linesOf(this.#text))}`);
    this.#text = '';
    this.#state = 'idle';
    return { kind: 'answer', lines: lines.slice(0, -1) };
  }

  /** The device's words for a message, without the password and the key, whoever repeats them. */
  quote(lines: readonly string[]): string {
    return quoted(lines.map((line) => this.#secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line)));
  }

  /** Ends the program and what belongs to it, at once; the BMC keeps the session until it times out. */
  kill(): void {
    this.#state = 'over';
    this.#terminal?.kill();
  }

  /** Ends the session as the BMC wants it, then the program. Resolves when it is gone. */
  async end(clock: Clock): Promise<void> {
    if (this.#state === 'idle') {
      this.#state = 'over';
      const cancel = clock.after(FAREWELL_MS, () => this.kill());
      try {
        this.#terminal?.write('exit\n');
      } catch {
        this.kill();
      }
      await this.#closing;
      cancel();
    }
    this.kill();
    if (this.#terminal !== undefined) await this.#closing;
  }

  async #start(settings: IpmiSettings, path: string, call: Call<CallTarget>): Promise<void> {
    const program = findProgram('ipmitool', path);
    if (program === undefined) {
      throw call.error('Misconfigured', 'ipmitool is not installed where the controller runs: apt-get install -y --no-install-recommends ipmitool');
    }
    try {
      this.#terminal = await Terminal.start(program, shellParameters(settings), shellEnvironment(path), {
        onText: (text) => this.#hear(text),
        onEnd: () => {
          this.#state = 'over';
          this.#closed();
          this.#wake();
        },
      });
    } catch (error) {
      throw call.error('Misconfigured', `ipmitool could not be started at a terminal: ${(error as Error).message}`);
    }
  }

  /** Waits for a question and types the answer, which the terminal does not show. */
  async #dialogue(question: RegExp, answer: string, settings: IpmiSettings, call: Call<CallTarget>): Promise<void> {
    const wait = await this.#until(question, call);
    if (wait !== 'seen') throw this.#loginFailure(wait, settings, Number.POSITIVE_INFINITY, call);
    this.#text = '';
    try {
      this.#terminal?.write(`${answer}\n`);
    } catch (error) {
      throw call.error('Unreachable', `ipmitool did not wait for its password: ${(error as Error).message}`);
    }
  }

  #loginFailure(wait: Wait, settings: IpmiSettings, elapsedMs: number, call: Call<CallTarget>): AgentError {
    if (wait === 'ended') return call.endedError();
    if (wait === 'overflow') return call.error('Unreachable', `ipmitool said more than ${OUTPUT_MAX} characters before its prompt`);
    const lines = linesOf(this.#text);
    const { kind, answered } = loginError(lines, settings, elapsedMs);
    return call.error(kind, `${answered}; ipmitool said ${this.quote(lines)}`);
  }

  #lost(why: string): Exchange {
    this.kill();
    return { kind: 'lost', why, isSent: true };
  }

  #hear(text: string): void {
    if (this.#state === 'over') return;
    this.#text += text;
    this.#isOverflown ||= this.#text.length > OUTPUT_MAX;
    // Words that nobody asked for would be taken for the next answer.
    if (this.#isOverflown || this.#state === 'idle') this.kill();
    this.#wake();
  }

  #until(pattern: RegExp, call: Call<CallTarget>): Promise<Wait> {
    return new Promise((resolve) => {
      let leave = (): void => undefined;
      const finish = (wait: Wait): void => {
        this.#wake = () => undefined;
        leave();
        resolve(wait);
      };
      this.#wake = () => {
        if (this.#isOverflown) finish('overflow');
        else if (this.#state === 'over') finish('closed');
        else if (pattern.test(withoutEscapes(this.#text.slice(-TAIL)))) finish('seen');
      };
      leave = call.whenEnded(() => finish('ended'));
      if (call.ended === undefined) this.#wake();
    });
  }
}
