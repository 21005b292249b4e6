import type { AgentDefinition } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { anonymousPort } from '../shared/interfaces/port-identity.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { sshWarnings } from '../shared/ssh/parameters.ts';
import { deviceKeyOf, fcSwitchParameters, fcSwitchProblems, firstTrustOf, portProblem } from './parameters.ts';

/** Ports of Fibre Channel switches. A port of an MDS is shut gracefully, which takes some seconds; 15 s is the least. */
export const fcSwitch: AgentDefinition = {
  name: 'fc-switch',
  aliases: ['brocade', 'fence-brocade', 'fence-cisco-mds', 'cisco-mds'],
  kind: 'fabric',
  actions: ['on', 'off', 'open', 'close', 'enable', 'disable'],
  deviceMaxLatencyMs: 15_000,
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(fcSwitchParameters),
  check: fcSwitchProblems,
  plugProblem: portProblem,
  anonymous: (parameters, identity) => anonymousPort(canonical(fcSwitchParameters, parameters)['port_alias'], identity),
  warnings: sshWarnings,
  firstTrust: firstTrustOf,
  create: async (context) => {
    const { FcSwitchAgent } = await import('./agent.ts');
    return new FcSwitchAgent(context.clock, addressCheckOf(context));
  },
};
