import type { AgentDefinition } from '../../src/ports/agents.ts';
import { unknownMachine } from '../shared/machine-uuid.ts';
import { describeParameters } from '../shared/parameter-schema.ts';
import { deviceKeyOf, firstTrustOf, plugProblem, providedMachine, proxmoxParameters, proxmoxProblems } from './parameters.ts';

/**
 * Virtual machines of Proxmox VE. A stop waits 10 s for the machine's lock, 60 s for QEMU to quit, 10 s after SIGTERM and 1 s after SIGKILL
 * (qemu-server, `_do_vm_stop`); what HA has in hand waits for two rounds of its managers besides, some 10 s each.
 */
export const proxmox: AgentDefinition = {
  name: 'proxmox',
  aliases: ['pve', 'fence-pve'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 120_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: (providerID) => {
    const machine = providedMachine(providerID);
    if (machine === undefined) return undefined;
    const { plug, region } = machine;
    return { plug, parameters: region === undefined ? {} : { region } };
  },
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(proxmoxParameters),
  check: proxmoxProblems,
  firstTrust: firstTrustOf,
  plugProblem: (plug, _parameters, identity) => plugProblem(plug, identity),
  anonymous: (_parameters, identity) => {
    const provided = providedMachine(identity?.providerID);
    return provided?.uuid === undefined ? unknownMachine(identity) : undefined;
  },
  create: async (context) => {
    const [{ InstanceAgent }, { proxmoxCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(proxmoxCloud, context);
  },
};
