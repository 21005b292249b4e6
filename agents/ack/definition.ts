import type { AgentDefinition } from '../../src/ports/agents.ts';
import { checkParameters, describeParameters, parsed } from '../shared/parameter-schema.ts';
import { ackParameters, WAIT_MS } from './parameters.ts';

/** Waits for a person. Nothing is switched. */
export const ack: AgentDefinition = {
  name: 'ack',
  aliases: ['acknowledge', 'manual', 'fence-ack-manual', 'meatware'],
  kind: 'action',
  actions: ['run', 'off'],
  deviceMaxLatencyMs: 0,
  runMaxMs: (parameters) => parsed(ackParameters, parameters).data?.wait ?? WAIT_MS,
  deviceKey: () => '',
  describe: () => describeParameters(ackParameters),
  check: (parameters, withSecrets) => checkParameters(ackParameters, parameters, withSecrets),
  create: async (context) => {
    const { AckAgent } = await import('./agent.ts');
    return new AckAgent(context);
  },
};
