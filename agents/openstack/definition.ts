import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { openstackInstance, openstackParameters, openstackProblems, plugProblem } from './parameters.ts';

/**
 * Servers of OpenStack. Nova lets the guest shut itself down for `shutdown_timeout` (60 s, nova.conf; an image may say more by `os_shutdown_timeout`) before
 * it takes the power away. The other minute is for the message bus, the hypervisor and its volumes: our guess.
 */
export const openstack: AgentDefinition = {
  name: 'openstack',
  aliases: ['fence-openstack'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 120_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: openstackInstance,
  deviceKey: (parameters) => {
    const { auth_url: url, cloud, openrc, region } = canonical(openstackParameters, parameters);
    return ['openstack', url ?? cloud ?? openrc, region].filter((part) => part !== undefined).join(' ');
  },
  describe: () => describeParameters(openstackParameters),
  check: openstackProblems,
  plugProblem,
  warnings: (parameters) =>
    canonical(openstackParameters, parameters)['system_uuid'] === 'no'
      ? [
          {
            parameter: 'system_uuid',
            message: 'the id of the server is not compared with the machine: the providerID and the addresses of the Node have to tell it',
          },
        ]
      : [],
  create: async (context) => {
    const [{ InstanceAgent }, { openstackCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(openstackCloud, context);
  },
};
