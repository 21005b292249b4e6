import { AgentError, type AgentContext, type HostEnvironment, type PowerAgent } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { vsphere } from '../definition.ts';

/** The agent, in a process with this environment. */
export async function agentIn(clock: Clock, host: HostEnvironment): Promise<PowerAgent> {
  const created = await vsphere.create({ clock, host } as unknown as AgentContext);
  if (created.kind !== 'power') throw new Error('not a power agent');
  return created;
}

export async function failureOf(work: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AgentError) return error;
  throw new Error(`no error of an agent: ${String(error)}`);
}
