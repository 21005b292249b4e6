import type { AgentDefinition } from '../../src/ports/agents.ts';
import { areSameUUID, normalUUID, unknownMachine } from '../shared/machine-uuid.ts';
import { checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { isUUID, providedUUID, vsphereParameters, vspherePlace } from './parameters.ts';

/**
 * Virtual machines of VMware vSphere, by vCenter or an ESXi host. A hard power-off ends the VMX process of the machine; no document says how long that takes,
 * 30 s are what other agents allow for.
 */
export const vsphere: AgentDefinition = {
  name: 'vsphere',
  aliases: ['vmware-soap', 'vmware-rest', 'fence-vmware-soap', 'fence-vmware-rest'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 30_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: (providerID) => {
    const plug = providedUUID(providerID);
    return plug === undefined ? undefined : { plug, parameters: {} };
  },
  deviceKey: (parameters) => vspherePlace.deviceKeyOf(parameters),
  describe: () => describeParameters(vsphereParameters),
  check: (parameters, withSecrets) => [
    ...checkParameters(vsphereParameters, parameters, withSecrets),
    ...vspherePlace.contradictions(parameters, withSecrets),
  ],
  firstTrust: (parameters) => vspherePlace.firstTrustOf(parameters),
  plugProblem: (plug, _parameters, identity) => {
    if (plug === '') return 'plug is missing: the UUID, the name or the inventory path of the virtual machine';
    const provided = normalUUID(providedUUID(identity?.providerID));
    const named = isUUID(plug) ? normalUUID(plug) : undefined;
    if (named === undefined || provided === undefined || areSameUUID(named, provided)) return undefined;
    return `${plug} is another machine: the providerID names ${providedUUID(identity?.providerID) ?? ''}`;
  },
  anonymous: (_parameters, identity) => (providedUUID(identity?.providerID) === undefined ? unknownMachine(identity) : undefined),
  create: async (context) => {
    const [{ InstanceAgent }, { vsphereCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(vsphereCloud, context);
  },
};
