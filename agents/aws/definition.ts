import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { canonical, describeParameters, type Documentation } from '../shared/parameter-schema.ts';
import { awsInstance, awsParameters, awsProblems, groupParameters, instanceProblem, volumeParameters } from './parameters.ts';

/** Region and endpoint, as far as they are written: what stands in front of the instance. */
function keyBy(source: { documentation: Readonly<Record<string, Documentation>> }): (parameters: Parameters) => string {
  return (parameters) => {
    const { region, endpoint } = canonical(source, parameters);
    return ['aws', region, endpoint?.replace(/^https?:\/\//, '')].filter((part) => part !== undefined).join(' ');
  };
}

/**
 * Instances of EC2. Without the shutdown of the operating system a stop takes some ten seconds; AWS names no bound, and one that sticks in stopping is
 * stopped by force after ten minutes at the earliest (EC2 user guide, "Troubleshoot instance stop issues").
 */
export const aws: AgentDefinition = {
  name: 'aws',
  aliases: ['fence-aws', 'ec2'],
  kind: 'power',
  actions: ['on', 'off', 'reboot', 'delete'],
  deviceMaxLatencyMs: 60_000,
  evidence: 'instance-stopped',
  sideBySide: true,
  instanceOf: awsInstance,
  deviceKey: keyBy(awsParameters),
  describe: () => describeParameters(awsParameters),
  check: awsProblems(awsParameters),
  plugProblem: instanceProblem,
  create: async (context) => {
    const [{ InstanceAgent }, { awsCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./cloud.ts')]);
    return new InstanceAgent(awsCloud, context);
  },
};

/** Volumes of an instance, detached by force. AWS names no bound: one that is in use may stay busy until the instance is stopped (DetachVolume). */
export const awsVolume: AgentDefinition = {
  name: 'aws-volume',
  aliases: ['aws-volumes', 'ebs'],
  kind: 'fabric',
  actions: ['off', 'close'],
  deviceMaxLatencyMs: 60_000,
  needsStorage: true,
  undoneByOthers: true,
  sideBySide: true,
  instanceOf: awsInstance,
  deviceKey: keyBy(volumeParameters),
  describe: () => describeParameters(volumeParameters),
  check: awsProblems(volumeParameters),
  plugProblem: instanceProblem,
  create: async (context) => {
    const [{ InstancePathAgent }, { volumeCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./volumes.ts')]);
    return new InstancePathAgent('volumes of the instance', volumeCloud, context);
  },
};

/** Security groups of an instance, replaced by one that lets nothing through. A change takes seconds; AWS names no bound. */
export const awsSecurityGroup: AgentDefinition = {
  name: 'aws-security-group',
  aliases: ['aws-security-groups'],
  kind: 'fabric',
  actions: ['on', 'off', 'open', 'close'],
  deviceMaxLatencyMs: 15_000,
  revokesNoStorage: 'no security group keeps an instance from EBS, and connections that stand are tracked and live on',
  sideBySide: true,
  instanceOf: awsInstance,
  deviceKey: keyBy(groupParameters),
  describe: () => describeParameters(groupParameters),
  check: awsProblems(groupParameters),
  plugProblem: instanceProblem,
  create: async (context) => {
    const [{ InstancePathAgent }, { groupCloud }] = await Promise.all([import('../shared/cloud/instance-agent.ts'), import('./security-groups.ts')]);
    return new InstancePathAgent('security groups of the instance', groupCloud, context);
  },
};
