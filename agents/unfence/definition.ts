import { UNFENCE_MS } from '../../src/domain/program.ts';
import type { AgentDefinition } from '../../src/ports/agents.ts';
import { checkParameters, describeParameters, parsed } from '../shared/parameter-schema.ts';
import { unfenceParameters } from './parameters.ts';

/** Waits for a node's daemon to put its storage registrations back. */
export const unfence: AgentDefinition = {
  name: 'unfence',
  aliases: [],
  kind: 'action',
  actions: ['run'],
  deviceMaxLatencyMs: 0,
  runMaxMs: (parameters) => parsed(unfenceParameters, parameters).data?.wait ?? UNFENCE_MS,
  deviceKey: () => '',
  describe: () => describeParameters(unfenceParameters),
  check: (parameters, withSecrets) => checkParameters(unfenceParameters, parameters, withSecrets),
  create: async (context) => {
    const { UnfenceAgent } = await import('./agent.ts');
    return new UnfenceAgent(context);
  },
};
