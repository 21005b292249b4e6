import type { Clock } from '../../../src/ports/clock.ts';
import type { Call, CallTarget } from '../../shared/call.ts';
import type { Control, ControlAnswer, GuidAnswer, Line, NoAnswer, RawAnswer, StatusAnswer } from '../line.ts';
import type { IpmiSettings } from '../parameters.ts';
import { controlAnswer, guidAnswer, rawAnswer, statusAnswer } from './answers.ts';
import { CONTROL, rawCommand, READ_GUID, READ_STATUS } from './commands.ts';
import { Shell } from './shell.ts';

/** A kept `ipmitool shell`, as a line to its BMC. */
export class ShellLine implements Line {
  /** Its shell could have reached another BMC since: only what is read right before a set counts. */
  readonly identityKeepsMs = 0;
  readonly #shell: Shell;

  private constructor(shell: Shell) {
    this.#shell = shell;
  }

  /** Rejects with `AgentError`; nothing is left running then. */
  static async open(settings: IpmiSettings, path: string, call: Call<CallTarget>, clock: Clock): Promise<ShellLine> {
    return new ShellLine(await Shell.open(settings, path, call, clock));
  }

  get isUsable(): boolean {
    return this.#shell.isUsable;
  }

  async status(call: Call<CallTarget>): Promise<StatusAnswer | NoAnswer> {
    const exchange = await this.#shell.run(READ_STATUS, call);
    if (exchange.kind !== 'answer') return exchange;
    const answer = statusAnswer(exchange.lines);
    const message = this.#shell.quote(exchange.lines);
    if (answer.kind === 'silence') return silence(message);
    return answer.kind === 'odd' ? { kind: 'state', state: 'unknown', detail: message, isOdd: true } : answer;
  }

  async guid(call: Call<CallTarget>): Promise<GuidAnswer | NoAnswer> {
    const exchange = await this.#shell.run(READ_GUID, call);
    if (exchange.kind !== 'answer') return exchange;
    const answer = guidAnswer(exchange.lines);
    const detail = this.#shell.quote(exchange.lines);
    if (answer.kind === 'silence') return silence(detail);
    if (answer.kind === 'odd') return { kind: 'lost', why: `no such answer to Get System GUID is known: ${detail}`, isSent: true };
    return { ...answer, detail };
  }

  async control(control: Control, call: Call<CallTarget>, beforeSend: () => void): Promise<ControlAnswer | NoAnswer> {
    const exchange = await this.#shell.run(CONTROL[control].command, call, beforeSend);
    if (exchange.kind !== 'answer') return exchange;
    return { kind: controlAnswer(exchange.lines, control).kind, detail: this.#shell.quote(exchange.lines) };
  }

  async raw(netFn: number, command: number, data: readonly number[], call: Call<CallTarget>): Promise<RawAnswer | NoAnswer> {
    const exchange = await this.#shell.run(rawCommand(netFn, command, data), call);
    if (exchange.kind !== 'answer') return exchange;
    const answer = rawAnswer(exchange.lines);
    if (answer.kind === 'raw') return answer;
    const message = this.#shell.quote(exchange.lines);
    return answer.kind === 'silence' ? silence(message) : { kind: 'lost', why: `no such answer is known: ${message}`, isSent: true };
  }

  kill(): void {
    this.#shell.kill();
  }

  /** What ipmitool had heard of the end of its session nobody can tell. */
  async end(clock: Clock): Promise<boolean> {
    await this.#shell.end(clock);
    return false;
  }
}

function silence(detail: string): NoAnswer {
  return { kind: 'lost', why: `the BMC did not answer: ${detail}`, isSent: true };
}
