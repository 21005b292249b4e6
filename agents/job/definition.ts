import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { canonical, checkParameters, describeParameters } from '../shared/parameter-schema.ts';
import { jobParameters } from './parameters.ts';

/** Any device may stand behind a Job; 30 s as with the slowest BMCs. */
const LATENCY_MS = 30_000;

const common: Pick<AgentDefinition, 'aliases' | 'deviceMaxLatencyMs' | 'deviceKey' | 'describe' | 'check' | 'plugProblem'> = {
  aliases: [],
  deviceMaxLatencyMs: LATENCY_MS,
  deviceKey: (parameters) => deviceKeyOf(parameters),
  describe: () => describeParameters(jobParameters),
  plugProblem: (plug) => (/\p{Cc}/u.test(plug) ? 'plug must be one line' : undefined),
  check: (parameters, withSecrets) => checkParameters(jobParameters, parameters, withSecrets),
};

/** Power by a program in a pod of the admin's, told `on`, `off` or `status`. */
export const job: AgentDefinition = {
  ...common,
  name: 'job',
  kind: 'power',
  handsSecretOn: true,
  actions: ['on', 'off', 'reboot'],
  anonymous: () => 'a Job does not tell whose machine it switches',
  create: async (context) => {
    const { JobPowerAgent } = await import('./agent.ts');
    return new JobPowerAgent(context);
  },
};

/** Anything else that a program in a pod of the admin's can do, told `run`, and `status` to see whether it stands. */
export const jobRun: AgentDefinition = {
  ...common,
  name: 'job-run',
  kind: 'action',
  handsSecretOn: true,
  actions: ['run'],
  create: async (context) => {
    const { JobActionAgent } = await import('./agent.ts');
    return new JobActionAgent(context);
  },
};

function deviceKeyOf(parameters: Parameters): string {
  const { ip, pod_template: template = '' } = canonical(jobParameters, parameters);
  return ip === undefined ? `job ${template}`.trimEnd() : ip.replace(/^\[|\]$/g, '').toLowerCase();
}
