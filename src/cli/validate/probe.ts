import { Dispatcher } from '../../dispatch/dispatcher.ts';
import { internalAddresses } from '../../domain/addresses.ts';
import { devicePaths, pathKey } from '../../domain/device-paths.ts';
import type { DevicePath } from '../../domain/device-paths.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { AgentError } from '../../ports/agents.ts';
import type { AgentContext, AgentRegistry } from '../../ports/agents.ts';
import type { ProbeResult } from './probe-result.ts';
import type { ReportedNode } from './report.ts';
import type { Resolved } from './validation.ts';

export interface ProbeOptions {
  registry: AgentRegistry;
  context: AgentContext;
  resolve: (node: string, method: PlanMethod) => Promise<Resolved>;
  /** Devices that are read at the same time. */
  concurrency: number;
  /** For one read of one device. */
  deadlineMs: number;
  signal: AbortSignal;
  onProgress: (done: number, of: number) => void;
}

/** Reads every plug that the plans switch, as the controller's own probes do; nothing is ever set. Resolves by node, also when it was interrupted: what was not read is left out. */
export async function probe(nodes: readonly ReportedNode[], options: ProbeOptions): Promise<Map<string, ProbeResult[]>> {
  const results = new Map<string, ProbeResult[]>(nodes.map(({ facts }) => [facts.name, []]));
  const dispatcher = new Dispatcher(options.registry, options.context);
  const waiting = byDevice(nodes);
  const of = waiting.reduce((total, { length }) => total + length, 0);
  let done = 0;
  options.onProgress(0, of);
  const work = async (): Promise<void> => {
    for (let tasks = waiting.shift(); tasks !== undefined && !options.signal.aborted; tasks = waiting.shift()) {
      for (const task of tasks) {
        const result = await read(task, dispatcher, options);
        if (result !== undefined) results.get(task.node.facts.name)?.push(result);
        done += 1;
        options.onProgress(done, of);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(options.concurrency, waiting.length) }, work));
  } finally {
    await dispatcher.close();
  }
  return results;
}

interface Task {
  node: ReportedNode;
  path: DevicePath;
}

/** One device is read plug after plug, several at the same time. */
function byDevice(nodes: readonly ReportedNode[]): Task[][] {
  const devices = new Map<string, Task[]>();
  for (const node of nodes) {
    for (const path of devicePaths(node.plan)) {
      const key = path.method.device === '' ? `${node.facts.name} ${pathKey(path.method)}` : path.method.device;
      devices.set(key, [...(devices.get(key) ?? []), { node, path }]);
    }
  }
  return [...devices.values()];
}

/** Undefined when the probe was interrupted. */
async function read({ node: { facts }, path }: Task, dispatcher: Dispatcher, options: ProbeOptions): Promise<ProbeResult | undefined> {
  const { method, names, switched } = path;
  const answer = await dispatcher.probe({
    method,
    switched,
    identity: { node: facts.name, systemUUID: facts.systemUUID, providerID: facts.providerID, addresses: internalAddresses(facts.addresses) },
    deadlineMs: options.deadlineMs,
    signal: options.signal,
    parametersOf: async () => {
      const resolved = await options.resolve(facts.name, method);
      if ('parameters' in resolved) return resolved.parameters;
      throw new AgentError('Misconfigured', { device: method.device, plug: method.plug, asked: 'read', answered: resolved.problem });
    },
  });
  return answer === undefined ? undefined : { agent: method.agent, device: method.device, plug: method.plug, methods: names, ...answer };
}
