import { isIP } from 'node:net';

import { AgentError } from '../../src/ports/agents.ts';
import type { FabricAgent, Outcome, PlugEntry, PowerAgent, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { AddressRefused, ANY_ADDRESS, checkedAddress, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { NotStarted, runProgram } from '../shared/process/run-program.ts';
import type { ProgramResult } from '../shared/process/run-program.ts';
import { failureIn, isOffSent, plugsOf, statusOf, describeResult } from './answers.ts';
import { callText, hasPlugs, plugProblem } from './call-text.ts';
import type { FenceAction } from './call-text.ts';
import type { FenceCatalogue } from './catalogue.ts';
import { withLocalFiles } from './local-files.ts';
import type { FenceMetadata } from './metadata.ts';
import { familyOf, nameUse } from './named-device.ts';
import { believesCode, canonicalParameters, checkProgram, isSecret } from './parameters.ts';

/** What the agent's own polls leave of the deadline for login and the command. */
const RESERVE_SECONDS = 3;
const POLLS_MIN = 2;

interface Installed {
  file: string;
  metadata: FenceMetadata;
}

/** One fence agent of ClusterLabs: each call is a process of its own, told everything by its stdin. */
export class FenceProgramRunner {
  readonly #name: string;
  readonly #catalogue: FenceCatalogue;
  readonly #clock: Clock;
  readonly #check: AddressCheck;

  constructor(name: string, catalogue: FenceCatalogue, clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#name = name;
    this.#catalogue = catalogue;
    this.#clock = clock;
    this.#check = check;
  }

  /** The plug's state as a fresh process reads it. */
  async status(target: Target): Promise<{ state: 'on' | 'off' | 'unknown'; detail: string }> {
    const { result, words } = await this.#call(target, 'status');
    const state = statusOf(result, believesCode(target.parameters));
    if (state === 'unknown') this.#throwFailure(target, 'status', result, words);
    return { state, detail: state === 'unknown' ? words : `Status: ${state.toUpperCase()}` };
  }

  /** Sends once. How the agent ends decides nothing. */
  async change(target: Target, action: 'on' | 'off' | 'diag'): Promise<Outcome> {
    const run = { isBegun: false };
    const { result, words } = await this.#call(target, action, () => {
      target.beforeSend();
      run.isBegun = true;
    });
    if (!run.isBegun) throw this.#error('NotSent', target, action, 'the call was given up before the program was started');
    const isSent = action === 'off' ? isOffSent(result) : undefined;
    const kind = isSent === false ? 'none' : failureIn(result);
    // A connection that failed may have failed after the command.
    if (kind === 'Refused' || kind === 'Misconfigured') throw this.#error(kind, target, action, words);
    const isAccepted = result.ended === 'exited' && result.code === 0;
    return { result: isAccepted ? 'accepted' : 'unclear', detail: words, ...(isSent === undefined ? {} : { isSent }) };
  }

  async list(target: Target): Promise<{ plug: string; alias?: string; state?: 'on' | 'off' | 'unknown' }[]> {
    const { metadata } = this.#installed(target, 'list');
    if (!hasPlugs(metadata) || !metadata.actions.has('list')) return [];
    const action = metadata.actions.has('list-status') ? 'list-status' : 'list';
    const { result, words } = await this.#call({ ...target, plug: '' }, action);
    if (result.ended !== 'exited' || result.code !== 0) throw this.#error('Unreachable', target, action, words);
    return plugsOf(result.stdout, action === 'list-status');
  }

  async #call(target: Target, action: FenceAction, beforeStart?: () => void): Promise<{ result: ProgramResult; words: string }> {
    const { file, metadata } = this.#installed(target, action);
    this.#checkPlug(target, action, metadata);
    const local = withLocalFiles(canonicalParameters(metadata, target.parameters), this.#catalogue.programs);
    if ('refusal' in local) throw this.#error('Misconfigured', target, action, local.refusal);
    const parameters = await this.#addressed(target, action, metadata, local.parameters);
    const powerTimeout = Math.max(POLLS_MIN, Math.floor(target.deadlineMs / 1000) - RESERVE_SECONDS);
    const result = await this.#run(target, action, {
      argv: [file],
      stdin: callText(metadata, { action, plug: target.plug, parameters, powerTimeout }),
      clock: this.#clock,
      signal: target.signal,
      deadlineMs: target.deadlineMs,
      ...(beforeStart === undefined ? {} : { beforeStart }),
    });
    const named = canonicalParameters(metadata, target.parameters);
    const secrets = Object.entries(named).flatMap(([name, value]) => (isSecret(name) ? [value] : []));
    return { result, words: describeResult(result, secrets) };
  }

  /** With the address that was checked in the place of a name, which the program would look up again; but where it needs the name. */
  async #addressed(
    target: Target,
    action: FenceAction,
    metadata: FenceMetadata,
    named: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const parameter = named['ipaddr'] === undefined ? 'ip' : 'ipaddr';
    const host = named[parameter]?.replaceAll(/^\[|\]$/g, '');
    if (host === undefined || this.#check === ANY_ADDRESS) return named;
    const call = new Call(this.#clock, target, action);
    try {
      const { address } = await call.within(checkedAddress(host, familyOf(named), this.#check));
      return isIP(host) !== 0 || nameUse(metadata, named) !== undefined ? named : { ...named, [parameter]: address };
    } catch (error) {
      if (error instanceof AddressRefused) throw this.#error('Misconfigured', target, action, error.message);
      if (call.ended !== undefined) throw call.endedError();
      throw this.#error(
        'Unreachable',
        target,
        action,
        `the name of the device does not resolve: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      call.release();
    }
  }

  async #run(target: Target, action: FenceAction, run: Parameters<typeof runProgram>[0]): Promise<ProgramResult> {
    try {
      return await runProgram(run);
    } catch (error) {
      if (error instanceof NotStarted) throw this.#error('Misconfigured', target, action, error.message);
      throw error;
    }
  }

  #installed(target: Target, action: FenceAction): Installed {
    const program = this.#catalogue.find(this.#name);
    const found = this.#catalogue.programs.demand(this.#name, 'run');
    if ('refusal' in found || program === undefined)
      throw this.#error('Misconfigured', target, action, 'refusal' in found ? found.refusal : `${this.#name} is no fence agent`);
    const problems = checkProgram(program, target.parameters, true, this.#catalogue.programs).map(
      ({ parameter, message }) => `${parameter} ${message}`,
    );
    const { metadata } = program;
    if (problems.length > 0 || metadata === undefined) throw this.#error('Misconfigured', target, action, problems.join('; '));
    return { file: found.file, metadata };
  }

  #checkPlug(target: Target, action: FenceAction, metadata: FenceMetadata): void {
    if (target.plug === '' && (action === 'list' || action === 'list-status')) return;
    const problem = plugProblem(this.#name, target.plug, metadata);
    if (problem !== undefined) throw this.#error('Misconfigured', target, action, problem);
  }

  #throwFailure(target: Target, action: FenceAction, result: ProgramResult, message: string): void {
    if (result.ended === 'aborted') throw this.#error('NotSent', target, action, message);
    if (result.ended === 'deadline') throw this.#error('Timeout', target, action, message);
    const kind = failureIn(result);
    if (kind !== 'none') throw this.#error(kind, target, action, message);
  }

  #error(kind: AgentError['kind'], { device, plug }: Target, action: FenceAction, answered: string): AgentError {
    return new AgentError(kind, { device, plug, asked: `${this.#name} action=${action}`, answered });
  }
}

/** Power by a fence agent of ClusterLabs. It never shows whose machine it switches. */
export class ExecPowerAgent implements PowerAgent {
  readonly kind = 'power';
  readonly skipsWhatIsOff = true;
  readonly #runner: FenceProgramRunner;

  constructor(runner: FenceProgramRunner) {
    this.#runner = runner;
  }

  async read(target: Target): Promise<Reading<'on' | 'off' | 'unknown'>> {
    return { ...(await this.#runner.status(target)), identity: 'unverified' };
  }

  set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#runner.change(target, state);
  }

  list(target: Target): Promise<PlugEntry[]> {
    return this.#runner.list(target);
  }

  diagnose(target: Target): Promise<Outcome> {
    return this.#runner.change(target, 'diag');
  }
}

const PORT_STATES = { on: 'open', off: 'closed', unknown: 'unknown' } as const;

/** A way to storage or network by a fence agent of ClusterLabs: `off` closes it. */
export class ExecFabricAgent implements FabricAgent {
  readonly kind = 'fabric';
  readonly #runner: FenceProgramRunner;

  constructor(runner: FenceProgramRunner) {
    this.#runner = runner;
  }

  async read(target: Target): Promise<Reading<'open' | 'closed' | 'unknown'>> {
    const { state, detail } = await this.#runner.status(target);
    return { state: PORT_STATES[state], detail, identity: 'unverified' };
  }

  set(target: Target, state: 'open' | 'closed'): Promise<Outcome> {
    return this.#runner.change(target, state === 'open' ? 'on' : 'off');
  }

  async list(target: Target): Promise<PlugEntry[]> {
    const plugs = await this.#runner.list(target);
    return plugs.map(({ state, ...plug }) => ({ ...plug, ...(state === undefined ? {} : { state: PORT_STATES[state] }) }));
  }
}
