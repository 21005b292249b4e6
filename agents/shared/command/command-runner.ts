import type { Clock } from '../../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../address/address-check.ts';
import type { Outcome } from '../../../src/ports/agents.ts';
import type { Call } from '../call.ts';
import { ProgramFolder } from '../process/program-folder.ts';
import { NotStarted, runProgram } from '../process/run-program.ts';
import type { SshConnection } from '../ssh/connection.ts';
import { SshConnections } from '../ssh/connections.ts';
import type { SshSettings } from '../ssh/parameters.ts';
import { deviceMessage } from '../ssh/words.ts';

/** Every program and connection is gone before the call's own deadline. */
const RESERVE_MS = 250;

/** How a command ended. */
export interface CommandAnswer {
  /** Undefined when a signal ended it, or nobody told a code. */
  code: number | undefined;
  stdout: string;
  stderr: string;
  /** There was more output than is kept. */
  isCut: boolean;
}

export interface CommandOptions {
  /** `target.beforeSend` for what changes something: called in the turn in which the command leaves. */
  gate?: () => void;
  /** Written to the standard input. */
  input?: string;
}

/** Runs commands by their words, on this machine or by SSH on another one. Whatever goes wrong on the way is an `AgentError`; nothing is repeated. */
export class CommandRunner {
  readonly #clock: Clock;
  readonly #programs: ProgramFolder;
  readonly #connections: SshConnections;
  /** Answers that hold for as long as their connection does. */
  readonly #lasting = new WeakMap<SshConnection, Map<string, CommandAnswer>>();

  /** `programs`: those that may run here; absent: none. */
  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS, programs: ProgramFolder = new ProgramFolder()) {
    this.#clock = clock;
    this.#programs = programs;
    this.#connections = new SshConnections(clock, check);
  }

  /** `place` undefined: on this machine, a program of the folder for them, with no shell at all. The far side's shell gets every word quoted. */
  async run(call: Call, place: SshSettings | undefined, argv: readonly string[], options: CommandOptions = {}): Promise<CommandAnswer> {
    if (argv.length === 0 || argv[0] === '') throw call.error('Misconfigured', 'the command is empty');
    if (place === undefined) return this.#here(call, argv, options);
    const command = argv.map(quoted).join(' ');
    return this.#connections.run(call, place, async (connection) => {
      const answer = await connection.exec(call, command, options);
      return { code: answer.code, stdout: answer.stdout, stderr: answer.stderr, isCut: answer.isCut };
    });
  }

  /** What cannot change while a connection lasts, such as a boot ID: asked once on each; a failure is asked about again. */
  async runLasting(call: Call, place: SshSettings, argv: readonly string[]): Promise<CommandAnswer> {
    const command = argv.map(quoted).join(' ');
    return this.#connections.run(call, place, async (connection) => {
      const known = this.#lasting.get(connection) ?? new Map<string, CommandAnswer>();
      this.#lasting.set(connection, known);
      const answer = known.get(command) ?? (await connection.exec(call, command, {}));
      if (answer.code === 0) known.set(command, answer);
      return answer;
    });
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #here(call: Call, [name = '', ...words]: readonly string[], { gate, input }: CommandOptions): Promise<CommandAnswer> {
    const program = this.#programs.demand(name, 'run');
    if ('refusal' in program) throw call.error('Misconfigured', program.refusal);
    const argv = [program.file, ...words];
    const deadlineMs = call.remainingMs - RESERVE_MS;
    if (call.ended !== undefined || deadlineMs <= 0) throw call.endedError();
    try {
      const result = await runProgram({
        argv,
        clock: this.#clock,
        signal: call.signal,
        deadlineMs,
        ...(input === undefined ? {} : { stdin: input }),
        ...(gate === undefined ? {} : { beforeStart: gate }),
      });
      if (result.ended === 'aborted') throw call.endedError();
      if (result.ended === 'deadline') throw call.error('Timeout', notDone(argv));
      return { code: result.code ?? undefined, stdout: result.stdout, stderr: result.stderr, isCut: result.isCut };
    } catch (error) {
      if (error instanceof NotStarted) throw call.error('Misconfigured', error.message);
      throw error;
    }
  }
}

function notDone([program = '']: readonly string[]): string {
  return `${program} did not end in time and was killed`;
}

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** As a POSIX shell takes it for one word, whatever is in it. */
function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What a command said that did not do what was asked. */
export function saidBy({ code, stdout, stderr }: CommandAnswer): string {
  const message = deviceMessage(stderr.trim() === '' ? stdout : stderr, []);
  return `exit code ${code ?? '(none)'}${message === '' ? '' : `: ${message}`}`;
}

/** What came of a command that changes something. `named`: what to say before its words. One that ended without a code was killed: whether it has done anything, nobody knows. */
export function outcomeOf(call: Pick<Call, 'error'>, answer: CommandAnswer, named = ''): Outcome {
  const detail = `${named}${saidBy(answer)}`;
  if (answer.code === undefined) return { result: 'unclear', detail };
  if (answer.code !== 0) throw call.error('Refused', detail);
  return { result: 'accepted', detail };
}
