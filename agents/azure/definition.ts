import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { azureInstance, azureParameters, azureProblems, plugProblem } from './parameters.ts';

/** Virtual machines of Azure. Without the shutdown of their system a power-off takes some ten seconds; Microsoft names no bound: the minute is our guess. */
export const azure: AgentDefinition = {
  name: 'azure',
  aliases: ['fence-azure-arm', 'azure-arm'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 60_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: azureInstance,
  deviceKey: (parameters) => {
    const { subscriptionId, resourceGroup } = canonical(azureParameters, parameters);
    return ['azure', subscriptionId?.toLowerCase(), resourceGroup?.toLowerCase()].filter((part) => part !== undefined).join(' ');
  },
  describe: () => describeParameters(azureParameters),
  check: azureProblems,
  plugProblem,
  create: async (context) => {
    const [{ InstanceAgent }, { azureCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(azureCloud, context);
  },
};
