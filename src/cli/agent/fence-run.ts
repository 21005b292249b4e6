import { withDeadline } from '../../dispatch/deadline.ts';
import { describeReading } from '../../dispatch/device-call.ts';
import { Dispatcher } from '../../dispatch/dispatcher.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { MethodAction, PlanMethod } from '../../domain/plan.ts';
import { AgentError } from '../../ports/agents.ts';
import type { Agent, AgentContext, AgentDefinition, DeviceState, PlugEntry, Reading, Target } from '../../ports/agents.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Job } from '../../ports/jobs.ts';
import type { FenceRequest } from './fence-request.ts';

type Power = 'on' | 'off' | 'pending' | 'unknown';

/** What one plug showed, in the device's words too. */
interface Seen {
  power: Exclude<Power, 'unknown'>;
  words: string;
}

const POWER: Readonly<Record<DeviceState, Power>> = { on: 'on', open: 'on', off: 'off', closed: 'off', pending: 'pending', unknown: 'unknown' };
/** Between two looks at a state that is on its way. */
const POLL_MS = 1_000;

/** The device did not do, or not show, what was asked; the words are for stderr. */
export class FenceFailure extends Error {
  override readonly name = 'FenceFailure';
}

/** Until when all that one action does may be waited for. */
interface Budget {
  untilMs: number;
}

/**
 * One call of an agent from the command line, through the dispatcher that the controller uses. Each action has one budget, `power_timeout`: whatever it asks
 * of the device, once or often, comes to an end within it.
 */
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
    const states = await this.#states(this.#budget());
    const moving = states.find(({ power }) => power === 'pending');
    if (moving !== undefined) throw new FenceFailure(`Failed: Unable to obtain correct plug status: ${moving.words}`);
    return states.some(({ power }) => power === 'on') ? 'on' : 'off';
  }

  /** Every plug off at one instant, stably. What is off already stays as it is, with nothing sent; what is on its way gets an off of ours, and is waited for. */
  async off(): Promise<'done' | 'already'> {
    const budget = this.#budget();
    const { plugs } = this.#request;
    if ((await this.#states(budget)).every(({ power }) => power === 'off')) {
      const [last = '', ...others] = [...plugs].reverse();
      const nowMs = this.#context.clock.monotonicMs();
      // Should it come on meanwhile, there must be time left for an off of ours.
      const half = { untilMs: (nowMs + budget.untilMs) / 2 };
      const confirmed = await this.#dispatcher.run(this.#job(last, 'confirm', others, half));
      if (confirmed.result === 'succeeded') return 'already';
    }
    for (const [index, plug] of plugs.entries()) this.#demand(await this.#dispatcher.run(this.#job(plug, 'off', plugs.slice(0, index), budget)));
    return 'done';
  }

  /** What is on its way is waited for first: whether an on is needed shows then. */
  async on(): Promise<'done' | 'already'> {
    const budget = this.#budget();
    const states = await this.#settled(budget);
    if (states.every(({ power }) => power === 'on')) return 'already';
    for (const plug of this.#request.plugs) this.#demand(await this.#dispatcher.run(this.#job(plug, 'on', [], budget)));
    return 'done';
  }

  async diag(): Promise<void> {
    await this.status();
    const budget = this.#budget();
    for (const plug of this.#request.plugs) this.#demand(await this.#dispatcher.run(this.#job(plug, 'diag', [], budget)));
  }

  /** Undefined where the agent cannot list. */
  async list(): Promise<readonly PlugEntry[] | undefined> {
    const agent = await this.#agent();
    if (agent.list === undefined) return undefined;
    return this.#deadlined('list', this.#budget(), '', (target) => agent.list?.(target) ?? Promise.resolve([]));
  }

  #agent(): Promise<Agent> {
    this.#created ??= this.#definition.create(this.#context);
    return this.#created;
  }

  #budget(): Budget {
    return { untilMs: this.#context.clock.monotonicMs() + this.#request.powerTimeoutMs };
  }

  async #states(budget: Budget): Promise<Seen[]> {
    const states: Seen[] = [];
    for (const plug of this.#request.plugs) states.push(await this.#read(plug, budget));
    return states;
  }

  async #settled(budget: Budget): Promise<Seen[]> {
    const { clock } = this.#context;
    for (;;) {
      const states = await this.#states(budget);
      const moving = states.find(({ power }) => power === 'pending');
      if (moving === undefined) return states;
      if (clock.monotonicMs() + POLL_MS >= budget.untilMs)
        throw new FenceFailure(`Failed: Timed out: on its way for all of ${this.#request.powerTimeoutMs} ms: ${moving.words}; nothing was sent`);
      await clock.sleep(POLL_MS, this.#signal);
    }
  }

  async #read(plug: string, budget: Budget): Promise<Seen> {
    const agent = await this.#agent();
    if (agent.kind === 'action') throw new FenceFailure(`Failed: Unsupported action 'status' for agent ${this.#definition.name}`);
    const reading = await this.#deadlined('read', budget, plug, (target): Promise<Reading> => agent.read(target));
    const power = POWER[reading.state];
    const message = describeReading(reading);
    if (power === 'unknown') throw new FenceFailure(`Failed: Unable to obtain correct plug status: ${message}`);
    // A second witness that sees it on is believed.
    if (power !== 'off' || reading.witness === undefined || POWER[reading.witness.state] === 'off') return { power, words: message };
    this.#remarks.add(`${plug === '' ? '' : `plug ${plug} `}counts as on, for not all agree: ${message}`);
    return { power: 'on', words: message };
  }

  #deadlined<T>(asked: string, { untilMs }: Budget, plug: string, call: (target: Target) => Promise<T>): Promise<T> {
    const { device } = this.#method(plug, 'off');
    const facts = { device, plug, asked, answered: '' };
    const deadlineMs = Math.max(0, Math.ceil(untilMs - this.#context.clock.monotonicMs()));
    const called = withDeadline(this.#context.clock, this.#signal, deadlineMs, facts, (signal) =>
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
    return called.catch((error: unknown) => {
      if (!(error instanceof AgentError) || error.kind !== 'Timeout') throw error;
      throw new AgentError('Timeout', { ...error.facts, answered: `${error.facts.answered}; ${this.#allowance}` });
    });
  }

  #demand({ result, message }: JobReport): void {
    if (result === 'succeeded') return;
    throw new FenceFailure(result === 'timeout' ? `Failed: Timed out: ${message}; ${this.#allowance}` : `Failed: ${message}`);
  }

  get #allowance(): string {
    return `power_timeout gives ${this.#request.powerTimeoutMs / 1_000} s for all of it`;
  }

  #method(plug: string, action: MethodAction): PlanMethod {
    const { name, kind, deviceMaxLatencyMs } = this.#definition;
    const { parameters } = this.#request;
    const device = this.#definition.deviceKey(parameters);
    return { name: plug === '' ? name : plug, agent: name, kind, action, device, plug, parameters: {}, deviceMaxLatencyMs };
  }

  #job(plug: string, action: 'on' | 'off' | 'diag' | 'confirm', together: readonly string[], { untilMs }: Budget): Job {
    const { clock } = this.#context;
    const { powerTimeoutMs } = this.#request;
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
      timing: { ...DEFAULT_TIMING, setDeadlineMs: powerTimeoutMs, powerTimeoutMs },
      untilMs,
      identity: { node: '' },
      identityRequired: false,
      signal: this.#signal,
      intentAtMs: clock.monotonicMs(),
      parametersOf: () => Promise.resolve(this.#request.parameters),
      mayBegin: () => this.#signal.throwIfAborted(),
      ask: () => Promise.resolve(),
      onSet: () => undefined,
      onAnswered: () => undefined,
    };
  }
}
