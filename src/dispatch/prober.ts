import { describeError } from '../domain/errors.ts';
import type { PlanMethod } from '../domain/plan.ts';
import { AgentError } from '../ports/agents.ts';
import type { Agent, Reading } from '../ports/agents.ts';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { ProbeAnswer, Prober, ProbeRequest } from '../ports/probes.ts';
import { withDeadline } from './deadline.ts';
import { describeReading } from './device-call.ts';
import type { DeviceQueues } from './device-queues.ts';

interface Methods {
  /** Calls of one queue never overlap. */
  queueOf(method: PlanMethod): string;
  agentOf(method: PlanMethod): Promise<Agent>;
}

/** Reads plugs while nobody else wants their device; nothing is ever set. */
export class IdleProber implements Prober {
  private readonly clock: Clock;
  private readonly queues: DeviceQueues;
  private readonly methods: Methods;

  constructor(clock: Clock, queues: DeviceQueues, methods: Methods) {
    this.clock = clock;
    this.queues = queues;
    this.methods = methods;
  }

  async probe(request: ProbeRequest): Promise<ProbeAnswer | undefined> {
    const beganAtMs = this.clock.monotonicMs();
    const latency = (): number => Math.round((this.clock.monotonicMs() - beganAtMs) * 10) / 10;
    try {
      const reading = await this.queues.runIdle(this.methods.queueOf(request.method), (yields) => this.read(request, yields));
      return reading === undefined ? undefined : { ...answerOf(reading), latencyMs: latency() };
    } catch (error) {
      if (request.signal.aborted || error instanceof TransportError || error instanceof ApiStatusError) return undefined;
      // Nothing was asked to change: a device that is silent is not reached.
      const kind = error instanceof AgentError && error.kind !== 'Timeout' ? error.kind : 'Unreachable';
      return { latencyMs: latency(), error: describeError(kind, error instanceof AgentError ? error.facts.answered : String(error)) };
    }
  }

  private async read(request: ProbeRequest, yields: AbortSignal): Promise<Reading> {
    const { method, identity, deadlineMs } = request;
    const facts = { device: method.device, plug: method.plug, asked: 'read', answered: '' };
    const either = new AbortController();
    const end = (signal: AbortSignal) => (): void => either.abort(signal.reason);
    const listeners = [yields, request.signal].map((signal) => ({ signal, listener: end(signal) }));
    for (const { signal, listener } of listeners) {
      if (signal.aborted) listener();
      signal.addEventListener('abort', listener);
    }
    try {
      return await withDeadline(this.clock, either.signal, deadlineMs, facts, async (signal) => {
        const [agent, parameters] = [await this.methods.agentOf(method), await request.parametersOf(method)];
        if (agent.kind === 'action') throw new AgentError('Misconfigured', { ...facts, answered: `agent ${method.agent} has nothing to read` });
        const beforeSend = (): void => {
          throw new AgentError('NotSent', { ...facts, answered: 'a probe changes nothing' });
        };
        const { plug, device, secret } = method;
        const deletes = method.action === 'delete' ? { deletes: true as const } : {};
        const named = secret === undefined ? {} : { secret };
        return agent.read({ plug, device, parameters, identity, signal, deadlineMs, isProbe: true, beforeSend, ...named, ...deletes });
      });
    } finally {
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener);
    }
  }
}

function answerOf(reading: Reading): Omit<ProbeAnswer, 'latencyMs'> {
  const { state, identity, witness, certificateExpiresAt, credentialExpiresAt, wouldRefuse } = reading;
  return {
    state: witness === undefined || witness.state === state ? state : 'unknown',
    identity,
    detail: describeReading(reading),
    ...(certificateExpiresAt === undefined ? {} : { certificateExpiresAt }),
    ...(credentialExpiresAt === undefined ? {} : { credentialExpiresAt }),
    ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
  };
}
