import type { AgentDefinition } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { canonical, checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { unknownMachine } from '../shared/machine-uuid.ts';
import { contradictions, deviceKeyOf, ipmiParameters, ONE_MACHINE } from './parameters.ts';

/** IPMI 2.0, spoken by ourselves or through ipmitool. 30 s as with Redfish: it is the same firmware behind both (metal3-io/baremetal-operator#445 saw slower power-offs). */
export const ipmi: AgentDefinition = {
  name: 'ipmi',
  // fence_ipmilan and what ClusterLabs installs as links to it.
  aliases: [
    'fence-ipmilan',
    'fence-ipmilanplus',
    'fence-idrac',
    'fence-ilo3',
    'fence-ilo4',
    'fence-ilo5',
    'fence-imm',
    'ipmilan',
    'ipmilanplus',
    'idrac',
    'ilo3',
    'ilo4',
    'ilo5',
    'imm',
  ],
  kind: 'power',
  actions: ['on', 'off', 'reboot', 'diag'],
  deviceMaxLatencyMs: 30_000,
  keepsSession: true,
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(ipmiParameters),
  plugProblem: (plug) => (plug === '' ? undefined : ONE_MACHINE),
  anonymous: (_parameters, identity) => unknownMachine(identity),
  witness: (parameters) => (canonical(ipmiParameters, parameters)['verify_with'] === 'other' ? 'the other transport (verify_with=other)' : undefined),
  check: (parameters, withSecrets) => [...checkParameters(ipmiParameters, parameters, withSecrets), ...contradictions(parameters)],
  create: async (context) => {
    const { IpmiAgent } = await import('./agent.ts');
    return new IpmiAgent(context.clock, { check: addressCheckOf(context) });
  },
};
