import { withDeadline } from '../../dispatch/deadline.ts';
import { DeviceQueues } from '../../dispatch/device-queues.ts';
import { describeError } from '../../domain/errors.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { AgentError } from '../../ports/agents.ts';
import type { Agent, AgentContext, AgentRegistry, Parameters, Reading, Target } from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProbeResult } from './probe-result.ts';
import type { ReportedNode } from './report.ts';
import { methodsOf, writtenName } from './validation.ts';
import type { Resolved } from './validation.ts';

export interface ProbeOptions {
  registry: AgentRegistry;
  context: AgentContext;
  resolve: (node: string, method: PlanMethod) => Resolved;
  /** Devices that are read at the same time. */
  concurrency: number;
  /** For one read of one device. */
  deadlineMs: number;
  signal: AbortSignal;
  onProgress: (done: number, of: number) => void;
}

interface Task {
  node: ReportedNode;
  method: PlanMethod;
  names: string[];
}

/** Reads every plug that the plans switch; nothing is ever set. Resolves by node, also when it was interrupted: what was not read is left out. */
export async function probe(nodes: readonly ReportedNode[], options: ProbeOptions): Promise<Map<string, ProbeResult[]>> {
  const tasks = nodes.flatMap(tasksOf);
  const results = new Map<string, ProbeResult[]>(nodes.map(({ facts }) => [facts.name, []]));
  const reader = new Reader(options);
  const waiting = [...tasks];
  let done = 0;
  options.onProgress(0, tasks.length);
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined && !options.signal.aborted; task = waiting.shift()) {
      const result = await reader.read(task);
      if (result !== undefined) results.get(task.node.facts.name)?.push(result);
      done += 1;
      options.onProgress(done, tasks.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(options.concurrency, tasks.length) }, work));
  } finally {
    await reader.close();
  }
  return results;
}

/** Off and on of one plug are one read. */
function tasksOf(node: ReportedNode): Task[] {
  const byPlug = new Map<string, Task>();
  for (const method of methodsOf(node.plan).filter(({ kind }) => kind !== 'action')) {
    const key = JSON.stringify([method.agent, method.device, method.plug, method.parameters, method.secret]);
    const known = byPlug.get(key);
    if (known === undefined) byPlug.set(key, { node, method, names: [writtenName(method)] });
    else if (!known.names.includes(writtenName(method))) known.names.push(writtenName(method));
  }
  return [...byPlug.values()];
}

class Reader {
  readonly #options: ProbeOptions;
  readonly #clock: Clock;
  readonly #queues = new DeviceQueues();
  readonly #agents = new Map<string, Promise<Agent>>();

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#clock = options.context.clock;
  }

  /** Undefined when the probe was interrupted. */
  async read({ node, method, names }: Task): Promise<ProbeResult | undefined> {
    const { agent, device, plug } = method;
    const plain = { agent, device, plug, methods: names };
    const resolved = this.#options.resolve(node.facts.name, method);
    if ('problem' in resolved) return { ...plain, latencyMs: 0, error: describeError('Misconfigured', resolved.problem) };
    const startedMs = this.#clock.monotonicMs();
    const latencyMs = (): number => Math.round((this.#clock.monotonicMs() - startedMs) * 10) / 10;
    try {
      const { state, identity, detail, witness } = await this.#reading(node, method, resolved.parameters);
      const words = witness === undefined ? detail : `${detail}, ${witness.source} ${witness.detail}`;
      return {
        ...plain,
        state: witness === undefined || witness.state === state ? state : 'unknown',
        identity,
        detail: words,
        latencyMs: latencyMs(),
      };
    } catch (error) {
      if (this.#options.signal.aborted) return undefined;
      // Nothing was asked to change: a device that is silent is not reached.
      const kind = error instanceof AgentError && error.kind !== 'Timeout' ? error.kind : 'Unreachable';
      const words = describeError(kind, error instanceof AgentError ? error.facts.answered : String(error));
      return { ...plain, latencyMs: latencyMs(), error: words };
    }
  }

  async close(): Promise<void> {
    const agents = await Promise.allSettled(this.#agents.values());
    await Promise.allSettled(agents.map(async (agent) => agent.status === 'fulfilled' && agent.value.close?.()));
  }

  #reading({ facts }: ReportedNode, method: PlanMethod, parameters: Parameters): Promise<Reading> {
    const { signal, deadlineMs } = this.#options;
    const asked = { device: method.device, plug: method.plug, asked: 'read', answered: '' };
    return this.#queues.run(method.device, () =>
      withDeadline(this.#clock, signal, deadlineMs, asked, async (inner): Promise<Reading> => {
        const agent = await this.#agentOf(method.agent);
        if (agent.kind === 'action') throw new AgentError('Misconfigured', { ...asked, answered: `agent ${method.agent} has nothing to read` });
        const target: Target = {
          plug: method.plug,
          device: method.device,
          parameters,
          identity: { node: facts.name, systemUUID: facts.systemUUID, providerID: facts.providerID },
          signal: inner,
          deadlineMs,
          beforeSend: () => {
            throw new AgentError('NotSent', { ...asked, answered: 'a probe changes nothing' });
          },
        };
        return agent.read(target);
      }),
    );
  }

  #agentOf(name: string): Promise<Agent> {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const { registry, context } = this.#options;
    const definition = registry.find(name);
    if (definition === undefined) throw new Error(`agent ${name} is not in the registry that made its plan`);
    const created = definition.create(context);
    this.#agents.set(name, created);
    return created;
  }
}
