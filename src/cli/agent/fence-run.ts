import { withDeadline } from '../../dispatch/deadline.ts';
import { inWords } from '../../dispatch/device-call.ts';
import { Dispatcher } from '../../dispatch/dispatcher.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { MethodAction, PlanMethod } from '../../domain/plan.ts';
import { AgentError } from '../../ports/agents.ts';
import type { Agent, AgentContext, AgentDefinition, DeviceState, PlugEntry, Reading, Target } from '../../ports/agents.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Job } from '../../ports/jobs.ts';
import type { FenceRequest } from './fence-request.ts';

type Power = 'on' | 'off' | 'unknown';

const POWER: Readonly<Record<DeviceState, Power>> = { on: 'on', open: 'on', off: 'off', closed: 'off', pending: 'unknown', unknown: 'unknown' };
const LIST_MAX_MS = 20_000;

/** The device did not do, or not show, what was asked; the words are for stderr. */
export class FenceFailure extends Error {
  override readonly name = 'FenceFailure';
}

/** One call of an agent from the command line, through the dispatcher that the controller uses. */
export class FenceRun {
  readonly #definition: AgentDefinition;
  readonly #context: AgentContext;
  readonly #request: FenceRequest;
  readonly #signal: AbortSignal;
  readonly #dispatcher: Dispatcher;
  #created: Promise<Agent> | undefined;
  readonly #remarks = new Set<string>();
  #jobs = 0;

  constructor(definition: AgentDefinition, context: AgentContext, request: FenceRequest, signal: AbortSignal) {
    this.#definition = definition;
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    // One agent, one session at the device.
    const shared: AgentDefinition = { ...definition, create: () => this.#agent() };
    this.#dispatcher = new Dispatcher({ find: () => shared, names: () => [definition.name] }, context);
  }

  /** What a person shall know of the answers, beside what they came to; one for each plug at most. */
  get remarks(): readonly string[] {
    return [...this.#remarks];
  }

  /** The dispatcher knows the agent only once it has run something. */
  async close(): Promise<void> {
    await this.#dispatcher.close();
    await (await this.#created?.catch(() => undefined))?.close?.();
  }

  /** `on` when any plug is not off. A plug that shows neither is a failure, before anything is switched. */
  async status(): Promise<'on' | 'off'> {
    const states: Power[] = [];
    for (const plug of this.#request.plugs) states.push(await this.#read(plug));
    return states.includes('on') ? 'on' : 'off';
  }

  /** Every plug off at one instant, stably. What is off already stays as it is, with nothing sent. */
  async off(): Promise<'done' | 'already'> {
    const { plugs } = this.#request;
    if ((await this.status()) === 'off') {
      const [last = '', ...others] = [...plugs].reverse();
      const confirmed = await this.#dispatcher.run(this.#job(last, 'confirm', others));
      if (confirmed.result === 'succeeded') return 'already';
    }
    for (const [index, plug] of plugs.entries()) succeeded(await this.#dispatcher.run(this.#job(plug, 'off', plugs.slice(0, index))));
    return 'done';
  }

  async on(): Promise<'done' | 'already'> {
    const { plugs } = this.#request;
    const states: Power[] = [];
    for (const plug of plugs) states.push(await this.#read(plug));
    if (states.every((state) => state === 'on')) return 'already';
    for (const plug of plugs) succeeded(await this.#dispatcher.run(this.#job(plug, 'on', [])));
    return 'done';
  }

  async diag(): Promise<void> {
    await this.status();
    for (const plug of this.#request.plugs) succeeded(await this.#dispatcher.run(this.#job(plug, 'diag', [])));
  }

  /** Undefined where the agent cannot list. */
  async list(): Promise<readonly PlugEntry[] | undefined> {
    const agent = await this.#agent();
    if (agent.list === undefined) return undefined;
    return this.#deadlined('list', LIST_MAX_MS, '', (target) => agent.list?.(target) ?? Promise.resolve([]));
  }

  #agent(): Promise<Agent> {
    this.#created ??= this.#definition.create(this.#context);
    return this.#created;
  }

  async #read(plug: string): Promise<Power> {
    const agent = await this.#agent();
    if (agent.kind === 'action') throw new FenceFailure(`Failed: Unsupported action 'status' for agent ${this.#definition.name}`);
    const reading = await this.#deadlined('read', DEFAULT_TIMING.setDeadlineMs, plug, (target): Promise<Reading> => agent.read(target));
    const power = POWER[reading.state];
    if (power === 'unknown') throw new FenceFailure(`Failed: Unable to obtain correct plug status: ${inWords(reading)}`);
    // A second witness that sees it on is believed.
    if (power !== 'off' || reading.witness === undefined || POWER[reading.witness.state] === 'off') return power;
    this.#remarks.add(`${plug === '' ? '' : `plug ${plug} `}counts as on, for not all agree: ${inWords(reading)}`);
    return 'on';
  }

  #deadlined<T>(asked: string, deadlineMs: number, plug: string, call: (target: Target) => Promise<T>): Promise<T> {
    const { device } = this.#method(plug, 'off');
    const facts = { device, plug, asked, answered: '' };
    return withDeadline(this.#context.clock, this.#signal, deadlineMs, facts, (signal) =>
      call({
        plug,
        device,
        parameters: this.#request.parameters,
        identity: { node: '' },
        signal,
        deadlineMs,
        beforeSend: () => {
          throw new AgentError('NotSent', { ...facts, answered: 'a read changes nothing' });
        },
      }),
    );
  }

  #method(plug: string, action: MethodAction): PlanMethod {
    const { name, kind, deviceMaxLatencyMs } = this.#definition;
    const { parameters } = this.#request;
    const device = this.#definition.deviceKey(parameters);
    return { name: plug === '' ? name : plug, agent: name, kind, action, device, plug, parameters: {}, deviceMaxLatencyMs };
  }

  #job(plug: string, action: 'on' | 'off' | 'diag' | 'confirm', together: readonly string[]): Job {
    const { clock } = this.#context;
    const method = this.#method(plug, action === 'confirm' ? 'off' : action);
    this.#jobs += 1;
    return {
      entry: {
        id: `command-line-${this.#jobs}`,
        step: 'power-management',
        level: 1,
        operation: `${method.action}:${method.name}`,
        method: method.name,
        agent: method.agent,
        device: method.device,
        plug,
        action,
        attempt: 1,
        restart: 0,
        runner: 'in-process',
        epoch: 0,
        startedAt: timestamp(clock),
        deadlineMs: Number.POSITIVE_INFINITY,
      },
      method,
      together: together.map((other) => this.#method(other, 'off')),
      lastOff: true,
      timing: { ...DEFAULT_TIMING, powerTimeoutMs: this.#request.powerTimeoutMs },
      identity: { node: '' },
      identityRequired: false,
      signal: this.#signal,
      intentAtMs: clock.monotonicMs(),
      parametersOf: () => Promise.resolve(this.#request.parameters),
      mayBegin: () => this.#signal.throwIfAborted(),
      askAgain: () => Promise.resolve(),
      onSet: () => undefined,
      onAnswered: () => undefined,
    };
  }
}

function succeeded({ result, message }: JobReport): void {
  if (result === 'succeeded') return;
  throw new FenceFailure(result === 'timeout' ? `Failed: Timed out: ${message}` : `Failed: ${message}`);
}
