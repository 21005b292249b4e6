import type { AgentDefinition } from '../../src/ports/agents.ts';
import { unknownMachine } from '../shared/machine-uuid.ts';
import { checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { isId, namingProblem, ovirtParameters, ovirtPlace, providedId } from './parameters.ts';

/** Virtual machines of oVirt and Red Hat Virtualization. No document says how long a stop takes at worst: the minute is our guess. */
export const ovirt: AgentDefinition = {
  name: 'ovirt',
  aliases: ['rhevm', 'rhv', 'fence-rhevm'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 60_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: (providerID) => {
    const plug = providedId(providerID);
    return plug === undefined ? undefined : { plug, parameters: {} };
  },
  deviceKey: (parameters) => ovirtPlace.deviceKeyOf(parameters),
  describe: () => describeParameters(ovirtParameters),
  check: (parameters, withSecrets) => [
    ...checkParameters(ovirtParameters, parameters, withSecrets),
    ...ovirtPlace.contradictions(parameters, withSecrets),
  ],
  firstTrust: (parameters) => ovirtPlace.firstTrustOf(parameters),
  plugProblem: (plug, _parameters, identity) => {
    const provided = providedId(identity?.providerID);
    if (!isId(plug) || provided === undefined || plug.trim().toLowerCase() === provided) return namingProblem(plug);
    return `${plug} is another machine: the providerID names ${provided}`;
  },
  anonymous: (_parameters, identity) => (providedId(identity?.providerID) === undefined ? unknownMachine(identity) : undefined),
  create: async (context) => {
    const [{ InstanceAgent }, { ovirtCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(ovirtCloud, context);
  },
};
