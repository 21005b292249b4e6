import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, describeParameters } from '../shared/parameter-schema.ts';
import { awsInstance, awsParameters, awsProblems, instanceProblem } from './parameters.ts';

/**
 * Instances of EC2. Without the shutdown of the operating system a stop takes some ten seconds; AWS names no bound, and one that sticks in stopping is
 * stopped by force after ten minutes at the earliest (EC2 user guide, "Troubleshoot instance stop issues").
 */
export const aws: AgentDefinition = {
  name: 'aws',
  aliases: ['fence-aws', 'ec2'],
  kind: 'power',
  actions: ['on', 'off', 'reboot'],
  deviceMaxLatencyMs: 60_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: awsInstance,
  deviceKey: (parameters) => {
    const { region, endpoint } = canonical(awsParameters, parameters);
    return ['aws', region, endpoint?.replace(/^https?:\/\//, '')].filter((part) => part !== undefined).join(' ');
  },
  describe: () => describeParameters(awsParameters),
  check: awsProblems,
  plugProblem: instanceProblem,
  create: async (context) => {
    const [{ InstanceAgent }, { awsCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(awsCloud, context);
  },
};
