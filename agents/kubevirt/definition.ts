import type { AgentDefinition } from '../../src/ports/agents.ts';
import { unknownMachine } from '../shared/machine-uuid.ts';
import { canonical, checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { kubevirtParameters, providedName } from './parameters.ts';

/** Virtual machines of KubeVirt in an infrastructure cluster. The kubelet kills a launcher within seconds; 30 s leave room for a busy one. */
export const kubevirt: AgentDefinition = {
  name: 'kubevirt',
  aliases: ['fence-kubevirt'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 30_000,
  evidence: 'instance-stopped',
  deviceKey: (parameters) => {
    const { vm = '', namespace = '' } = canonical(kubevirtParameters, parameters);
    return `kubevirt ${namespace}${vm === '' ? '' : `/${vm}`}`.trimEnd();
  },
  describe: () => describeParameters(kubevirtParameters),
  check: (parameters, withSecrets) => checkParameters(kubevirtParameters, parameters, withSecrets),
  plugProblem: (plug, parameters, identity) => {
    if (identity === undefined) return undefined;
    const provided = providedName(identity.providerID);
    const name = plug === '' ? (canonical(kubevirtParameters, parameters)['vm'] ?? provided) : plug;
    if (name === undefined) return `nothing names the VirtualMachine of node ${identity.node}: write vm= or plug=`;
    return provided === undefined || provided === name ? undefined : `${name} is another machine: the providerID names ${provided}`;
  },
  anonymous: (_parameters, identity) => unknownMachine(identity),
  create: async (context) => {
    const { KubevirtAgent } = await import('./agent.ts');
    return new KubevirtAgent(context);
  },
};
