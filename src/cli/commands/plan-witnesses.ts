import { switchesOff } from '../../domain/plan.ts';
import type { Plan } from '../../domain/plan.ts';
import type { AgentRegistry } from '../../ports/agents.ts';

/** What has to agree with the state that a device shows, before an off by this method is believed. */
export interface MethodWitness {
  method: string;
  /** In words; absent: the device's own state alone counts. */
  witness?: string;
}

/** Of every method that switches something off. */
export function witnessesOf(plan: Pick<Plan, 'powerManagement'>, registry: AgentRegistry): MethodWitness[] {
  const offs = plan.powerManagement.flatMap(({ methods }) => methods).filter((method) => method.kind === 'power' && switchesOff(method));
  return offs.map(({ name, agent, parameters }) => {
    const witness = registry.find(agent)?.witness?.(parameters);
    return { method: name, ...(witness === undefined ? {} : { witness }) };
  });
}
