import type { AgentDefinition } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { firstHostKey } from '../shared/first-trust/parameters.ts';
import { ownPortProblem } from '../shared/interfaces/own-port.ts';
import { anonymousPort, NO_PORT } from '../shared/interfaces/port-identity.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { sshWarnings } from '../shared/ssh/parameters.ts';
import { deviceKeyOf, switchParameters, switchProblems } from './parameters.ts';

/** Ports of Ethernet switches. A commit of Junos takes up to some ten seconds, on the others a port is down at once; 15 s is the least. */
export const ethernetSwitch: AgentDefinition = {
  name: 'ethernet-switch',
  aliases: ['fence-ifmib', 'ifmib'],
  kind: 'fabric',
  actions: ['on', 'off', 'open', 'close', 'enable', 'disable'],
  deviceMaxLatencyMs: 15_000,
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(switchParameters),
  check: switchProblems,
  plugProblem: (plug) => (plug === '' ? NO_PORT : ownPortProblem(plug)),
  anonymous: (parameters, identity) => anonymousPort(canonical(switchParameters, parameters)['port_alias'], identity),
  warnings: sshWarnings,
  firstTrust: (parameters) => {
    const named = canonical(switchParameters, parameters);
    return named['transport'] === 'ssh' ? firstHostKey(named, deviceKeyOf(parameters)) : undefined;
  },
  create: async (context) => {
    const { EthernetSwitchAgent } = await import('./agent.ts');
    return new EthernetSwitchAgent(context.clock, addressCheckOf(context));
  },
};
