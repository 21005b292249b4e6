import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { metal3Parameters } from './parameters.ts';

/**
 * Bare metal hosts through the operator's API. It looks at a host whose annotations changed at once, and at its BMC every 60 s; Ironic gives a BMC about a
 * minute for an off (metal3-io/baremetal-operator, host controller).
 */
export const metal3: AgentDefinition = {
  name: 'metal3',
  aliases: ['baremetalhost', 'fence-metal3'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 60_000,
  evidence: 'host-off',
  deviceKey: (parameters) => {
    const { host = '', namespace = '' } = canonical(metal3Parameters, parameters);
    return host === '' ? 'metal3' : `metal3 ${host.includes('/') ? '' : `${namespace}/`}${host}`;
  },
  describe: () => describeParameters(metal3Parameters),
  check: (parameters, withSecrets) => checkParameters(metal3Parameters, parameters, withSecrets),
  create: async (context) => {
    const { Metal3Agent } = await import('./agent.ts');
    return new Metal3Agent(context);
  },
};
