import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { firstCertificate } from '../shared/first-trust/parameters.ts';
import { unknownMachine } from '../shared/machine-uuid.ts';
import { canonical, checkParameters, describeParameters, parseBoolean } from '../shared/parameter-schema.ts';
import { contradictions, deviceKeyOf, redfishParameters } from './parameters.ts';

function isOutlet(parameters: Parameters): boolean {
  return canonical(redfishParameters, parameters)['resource'] === 'outlet';
}

/** DMTF Redfish. Slow machines take over 30 s from an accepted ForceOff to PowerState Off (metal3-io/baremetal-operator#445 saw that), so 30 s is the least. */
export const redfish: AgentDefinition = {
  name: 'redfish',
  aliases: ['fence-redfish'],
  kind: 'power',
  actions: ['on', 'off', 'reboot', 'diag'],
  deviceMaxLatencyMs: 30_000,
  keepsSession: true,
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(redfishParameters),
  plugProblem: (plug, parameters) =>
    plug === '' && isOutlet(parameters) ? 'plug is missing: the Id, the name or the path of the outlet' : undefined,
  anonymous: (parameters, identity) => (isOutlet(parameters) ? 'an outlet does not show whose machine hangs on it' : unknownMachine(identity)),
  witness: (parameters) => {
    if (isOutlet(parameters)) return 'the current of the outlet, where it measures one';
    const isWanted = parseBoolean(canonical(redfishParameters, parameters)['chassis_witness'] ?? 'yes') !== false;
    return isWanted ? 'the PowerState of its own Chassis, where it shows one (chassis_witness=yes)' : undefined;
  },
  check: (parameters, withSecrets) => [
    ...checkParameters(redfishParameters, parameters, withSecrets),
    ...contradictions(parameters).map((message) => ({ parameter: 'ssl', message })),
  ],
  firstTrust: (parameters) => firstCertificate(canonical(redfishParameters, parameters), deviceKeyOf(parameters)),
  create: async (context) => {
    const { RedfishAgent } = await import('./agent.ts');
    return new RedfishAgent(context.clock, addressCheckOf(context));
  },
};
