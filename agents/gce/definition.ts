import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { gceParameters } from './parameters.ts';
import { isNumeric, placeOf, provided } from './place.ts';

/**
 * Instances of Google Compute Engine. A guest has 120 s to shut itself down before it is switched off (discovery document of Compute Engine v1,
 * `Scheduling.skipGuestOsShutdown`), and a guest that hangs takes all of them; 60 s more for the cloud's own work are a guess.
 */
export const gce: AgentDefinition = {
  name: 'gce',
  aliases: ['fence-gce', 'google-cloud'],
  kind: 'power',
  actions: ['on', 'off', 'reboot', 'delete'],
  deviceMaxLatencyMs: 180_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: (providerID) => {
    const place = provided(providerID);
    return place === undefined ? undefined : { plug: place.instance, parameters: { project: place.project, zone: place.zone } };
  },
  deviceKey: (parameters) => {
    const { project = '', zone = '' } = canonical(gceParameters, parameters);
    return `gce ${project}/${zone}`;
  },
  describe: () => describeParameters(gceParameters),
  check: (parameters, withSecrets) => checkParameters(gceParameters, parameters, withSecrets),
  plugProblem: (plug, parameters, identity) => {
    const place = placeOf(plug, parameters);
    if ('problem' in place) return place.problem;
    const named = provided(identity?.providerID);
    const isOther = named !== undefined && !isNumeric(plug) && named.instance !== plug;
    return isOther ? `${plug} is another machine: the providerID names ${named.instance}` : undefined;
  },
  anonymous: (_parameters, identity) =>
    identity === undefined || provided(identity.providerID) !== undefined
      ? undefined
      : 'the Node has no providerID of Google Compute Engine, so that no read can show whose machine an instance is',
  create: async (context) => {
    const [{ InstanceAgent }, { Gce }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./gce.ts')]);
    return new InstanceAgent(new Gce(), context);
  },
};
