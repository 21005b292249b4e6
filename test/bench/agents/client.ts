import { standardRegistry } from '../../../agents/registry.ts';
import { HARNESS_UUID } from '../../../src/testbed/devices/bmc/bmc-harness.ts';
import { AgentError } from '../../../src/ports/agents.ts';
import type { Agent, Identity, Parameters, PowerAgent, Target } from '../../../src/ports/agents.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';

const DEADLINE_MS = 30_000;

/** Agents of devices reach no cluster. */
export const NO_CLUSTER: Cluster = new Proxy({} as Cluster, {
  get: (_cluster, call) => () => Promise.reject(new Error(`no cluster here: ${String(call)}`)),
});

/** An agent by its name, as the controller creates it. */
export async function agentOf(name: string): Promise<Agent> {
  const definition = standardRegistry().find(name);
  if (definition === undefined) throw new Error(`no agent ${name}`);
  return definition.create({ cluster: NO_CLUSTER, clock: new SystemClock() });
}

export async function powerAgent(name: string): Promise<PowerAgent> {
  const agent = await agentOf(name);
  if (agent.kind !== 'power') throw new Error(`${name} switches no power`);
  return agent;
}

export function targetOf(parameters: Parameters, plug = '', identity: Identity = { node: 'a', systemUUID: HARNESS_UUID }): Target {
  const device = `${parameters['ip'] ?? ''}:${parameters['ipport'] ?? ''}`;
  return { plug, device, parameters, identity, signal: new AbortController().signal, deadlineMs: DEADLINE_MS, beforeSend: () => undefined };
}

/**
 * The bench-only profile: one set, and reads until it shows, without the read before and the stable reads after that a fence makes. It is what a fence
 * agent does with power_wait 0, and nothing that a fence may rest on.
 */
export async function switchOnce(agent: PowerAgent, target: Target, state: 'on' | 'off', everyMs = 20): Promise<void> {
  await agent.set(target, state);
  const giveUpAt = performance.now() + DEADLINE_MS;
  for (;;) {
    const reading = await agent.read(target);
    if (reading.state === state) return;
    if (performance.now() > giveUpAt)
      throw new AgentError('Timeout', { device: target.device, plug: target.plug, asked: state, answered: reading.detail });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
