import type { AgentDefinition } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { canonical, describeParameters, parseBoolean } from '../shared/parameter-schema.ts';
import { FAMILIES } from './families.ts';
import { checkPdu, deviceKeyOf, NO_PLUG, pduParameters } from './parameters.ts';

const NO_OUTLET_NAME = 'an outlet shows whose it is by its name only, and outlet_name is not given';

/** A family that is named and measures no outlet. */
function isUnmetered(named = ''): boolean {
  const family = FAMILIES.find(({ name }) => name === named.trim().toLowerCase());
  return family !== undefined && family.current === undefined;
}

/** Rack PDUs by SNMP. 20 s: what the tests of a network vendor had to raise their wait for a PDU to (sonic-net/sonic-mgmt#13793). */
export const pdu: AgentDefinition = {
  name: 'pdu',
  // The agents of ClusterLabs that speak SNMP to such devices.
  aliases: ['fence-apc-snmp', 'fence-eaton-snmp', 'fence-tripplite-snmp', 'apc-snmp', 'eaton-snmp', 'tripplite-snmp'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 20_000,
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(pduParameters),
  check: checkPdu,
  plugProblem: (plug) => (plug.trim() === '' ? NO_PLUG : undefined),
  anonymous: (parameters) => (canonical(pduParameters, parameters)['outlet_name'] === undefined ? NO_OUTLET_NAME : undefined),
  witness: (parameters) => {
    const { current_witness: isWanted = 'yes', family } = canonical(pduParameters, parameters);
    if (parseBoolean(isWanted) === false || isUnmetered(family)) return undefined;
    return 'the current of the outlet, where its family measures one (current_witness=yes)';
  },
  create: async (context) => {
    const { PduAgent } = await import('./agent.ts');
    return new PduAgent(context.clock, addressCheckOf(context));
  },
};
