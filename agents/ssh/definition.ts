import type { AgentDefinition } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { describeParameters } from '../shared/parameter-schema.ts';
import { sshWarnings } from '../shared/ssh/parameters.ts';
import { deviceKeyOf, sshParameters, sshProblems } from './parameters.ts';

/** A command over SSH. When it has ended, whatever it does itself is done. */
export const ssh: AgentDefinition = {
  name: 'ssh',
  aliases: ['soft-fence'],
  kind: 'action',
  actions: ['run', 'on', 'off'],
  deviceMaxLatencyMs: 0,
  deviceKey: deviceKeyOf,
  describe: () => describeParameters(sshParameters),
  check: sshProblems,
  warnings: sshWarnings,
  create: async (context) => {
    const { SshAgent } = await import('./agent.ts');
    return new SshAgent(context.clock, addressCheckOf(context));
  },
};
