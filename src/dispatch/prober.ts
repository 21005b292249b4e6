import { describeError } from '../domain/errors.ts';
import type { PlanMethod } from '../domain/plan.ts';
import { AgentError } from '../ports/agents.ts';
import type { Agent, AgentContext, AgentErrorFacts, FabricAgent, FirstTrust, PowerAgent, Reading, Target } from '../ports/agents.ts';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { ProbeAnswer, Prober, ProbeRequest, ShownTrust, WarmRequest } from '../ports/probes.ts';
import { withDeadline } from './deadline.ts';
import { describeReading } from './device-call.ts';
import type { DeviceQueues } from './device-queues.ts';

interface Methods {
  /** Calls of one queue never overlap. */
  queueOf(method: PlanMethod): string;
  agentOf(method: PlanMethod): Promise<Agent>;
  firstTrustOf(method: PlanMethod): FirstTrust | undefined;
  keepsSession(method: PlanMethod): boolean;
  context: Pick<AgentContext, 'clock' | 'addresses'>;
}

/** Reads plugs while nobody else wants their device; nothing is ever set. */
export class IdleProber implements Prober {
  readonly #clock: Clock;
  readonly #queues: DeviceQueues;
  readonly #methods: Methods;

  constructor(clock: Clock, queues: DeviceQueues, methods: Methods) {
    this.#clock = clock;
    this.#queues = queues;
    this.#methods = methods;
  }

  async probe(request: ProbeRequest): Promise<ProbeAnswer | undefined> {
    const answer = await this.#idle(request, (yields) => this.#read(request, yields));
    return answer === undefined || 'error' in answer ? answer : { ...answerOf(answer.found), latencyMs: answer.latencyMs };
  }

  async warm(request: WarmRequest): Promise<void> {
    if (!this.#methods.keepsSession(request.method)) return;
    // A device that does not answer is told of by the fence itself.
    await this.#idle(request, async (yields) => {
      if (request.isUrgent !== true) await this.#read(request, yields, false);
      else await this.#call(request, yields, (agent, target) => connect(agent, target));
    });
  }

  /** No idle read: a fence is about to need what it shows, and nobody's call comes before it. */
  async look(request: ProbeRequest): Promise<Reading | undefined> {
    const { method } = request;
    if (!this.#methods.keepsSession(method)) return undefined;
    const agent = await this.#methods.agentOf(method);
    if (agent.kind !== 'power' || agent.skipsWhatIsOff === true) return undefined;
    const toNobody = new AbortController().signal;
    return this.#queues.run(this.#methods.queueOf(method), () => this.#read(request, toNobody, false));
  }

  async trustShown(request: ProbeRequest): Promise<ShownTrust> {
    const first = this.#methods.firstTrustOf(request.method);
    if (first === undefined) return { kind: 'not-asked' };
    const answer = await this.#idle(request, (yields) => this.#within(request, yields, (signal) => first.show(this.#methods.context, signal)));
    if (answer === undefined) return { kind: 'busy' };
    return 'error' in answer ? { kind: 'failed', answer } : { kind: 'shown', shown: answer.found, accepted: first.accepted };
  }

  /** Gives way to whoever wants the device; `undefined` then. */
  async #idle<T>(
    request: ProbeRequest,
    work: (yields: AbortSignal) => Promise<T>,
  ): Promise<{ found: T; latencyMs: number } | { error: string; latencyMs: number } | undefined> {
    const beganAtMs = this.#clock.monotonicMs();
    const latency = (): number => Math.round((this.#clock.monotonicMs() - beganAtMs) * 10) / 10;
    try {
      const ran = await this.#queues.runIdle(this.#methods.queueOf(request.method), async (yields) => ({ found: await work(yields) }));
      return ran === undefined ? undefined : { ...ran, latencyMs: latency() };
    } catch (error) {
      if (request.signal.aborted || error instanceof TransportError || error instanceof ApiStatusError) return undefined;
      // Nothing was asked to change: a device that is silent is not reached.
      const kind = error instanceof AgentError && error.kind !== 'Timeout' ? error.kind : 'Unreachable';
      return { latencyMs: latency(), error: describeError(kind, error instanceof AgentError ? error.facts.answered : String(error)) };
    }
  }

  #read(request: ProbeRequest, yields: AbortSignal, isProbe = true): Promise<Reading> {
    return this.#call(request, yields, async (agent, target): Promise<Reading> => agent.read({ ...target, ...(isProbe ? { isProbe } : {}) }));
  }

  #call<T>(request: ProbeRequest, yields: AbortSignal, call: (agent: PowerAgent | FabricAgent, target: Target) => Promise<T>): Promise<T> {
    const { method, identity, deadlineMs, switched } = request;
    return this.#within(request, yields, async (signal, facts) => {
      const [agent, parameters] = [await this.#methods.agentOf(method), await request.parametersOf(method)];
      if (agent.kind === 'action') throw new AgentError('Misconfigured', { ...facts, answered: `agent ${method.agent} has nothing to read` });
      const beforeSend = (): void => {
        throw new AgentError('NotSent', { ...facts, answered: 'a probe changes nothing' });
      };
      const { plug, device, secret } = method;
      const deletes = method.action === 'delete' ? { deletes: true as const } : {};
      const more = { ...(secret === undefined ? {} : { secret }), ...(switched === undefined ? {} : { switched }) };
      return call(agent, { plug, device, parameters, identity, signal, deadlineMs, beforeSend, ...more, ...deletes });
    });
  }

  async #within<T>(request: ProbeRequest, yields: AbortSignal, work: (signal: AbortSignal, facts: AgentErrorFacts) => Promise<T>): Promise<T> {
    const { method, deadlineMs } = request;
    const facts = { device: method.device, plug: method.plug, asked: 'read', answered: '' };
    const either = new AbortController();
    const end = (signal: AbortSignal) => (): void => either.abort(signal.reason);
    const listeners = [yields, request.signal].map((signal) => ({ signal, listener: end(signal) }));
    for (const { signal, listener } of listeners) {
      if (signal.aborted) listener();
      signal.addEventListener('abort', listener);
    }
    try {
      return await withDeadline(this.#clock, either.signal, deadlineMs, facts, (signal) => work(signal, facts));
    } finally {
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
    }
  }
}

async function connect(agent: PowerAgent | FabricAgent, target: Target): Promise<void> {
  if (agent.kind === 'power') await agent.connect?.(target);
}

function answerOf(reading: Reading): Omit<ProbeAnswer, 'latencyMs'> {
  const { state, identity, witness, certificateExpiresAt, credentialExpiresAt, wouldRefuse, overlooked } = reading;
  return {
    state: witness === undefined || witness.state === state ? state : 'unknown',
    identity,
    detail: describeReading(reading),
    ...(certificateExpiresAt === undefined ? {} : { certificateExpiresAt }),
    ...(credentialExpiresAt === undefined ? {} : { credentialExpiresAt }),
    ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    ...(overlooked === undefined ? {} : { overlooked }),
  };
}
