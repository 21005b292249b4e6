import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { endpointOf, hetznerInstance, hetznerParameters, hetznerProblems, plugProblem } from './parameters.ts';

/** Servers of Hetzner Cloud. A power-off cuts the power and takes seconds; Hetzner names no bound: the minute is our guess. */
export const hetzner: AgentDefinition = {
  name: 'hetzner',
  aliases: ['hcloud'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 60_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: hetznerInstance,
  deviceKey: (parameters) => `hetzner ${endpointOf(canonical(hetznerParameters, parameters)['endpoint'], undefined)}`,
  describe: () => describeParameters(hetznerParameters),
  check: hetznerProblems,
  plugProblem,
  create: async (context) => {
    const [{ InstanceAgent }, { hetznerCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(hetznerCloud, context);
  },
};
