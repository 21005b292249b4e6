import type { AgentDefinition } from '../../src/ports/agents.ts';
import { checkParameters, describeParameters, parsed } from '../shared/parameter-schema.ts';
import { kdumpParameters, WAIT_MS } from './parameters.ts';

/** Waits for the messages of a crash kernel. Nothing is sent, nothing is switched. */
export const kdump: AgentDefinition = {
  name: 'kdump',
  aliases: ['fence-kdump'],
  kind: 'action',
  actions: ['run', 'off'],
  deviceMaxLatencyMs: 0,
  evidence: 'kdump',
  runMaxMs: (parameters) => (parsed(kdumpParameters, parameters).data?.wait ?? WAIT_MS) + 5_000,
  deviceKey: () => '',
  describe: () => describeParameters(kdumpParameters),
  check: (parameters, withSecrets) => checkParameters(kdumpParameters, parameters, withSecrets),
  create: async (context) => {
    const { KdumpAgent } = await import('./agent.ts');
    return new KdumpAgent(context);
  },
};
