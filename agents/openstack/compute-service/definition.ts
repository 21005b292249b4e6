import type { AgentDefinition, Parameters } from '../../../src/ports/agents.ts';
import { canonical, describeParameters } from '../../shared/parameter-schema.ts';
import { hostProblem, serviceDownParameters, serviceDownProblems, serviceUpParameters, serviceUpProblems, waitMsOf } from './parameters.ts';

type Shared = Pick<AgentDefinition, 'aliases' | 'kind' | 'actions' | 'deviceMaxLatencyMs' | 'plugProblem'>;

const SHARED: Shared = { aliases: [], kind: 'action', actions: ['run'], deviceMaxLatencyMs: 0, plugProblem: hostProblem };

/** Whatever either of them takes. */
function deviceKey(parameters: Parameters): string {
  const { auth_url: url, cloud, openrc, region } = canonical(serviceDownParameters, parameters);
  return ['nova', url ?? cloud ?? openrc, region].filter((part) => part !== undefined).join(' ');
}

/** Tells Nova that a fenced hypervisor is down, and has its servers evacuated. */
export const novaServiceDown: AgentDefinition = {
  ...SHARED,
  name: 'nova-service-down',
  whileOff: true,
  undoneBy: 'nova-service-up',
  runMaxMs: waitMsOf,
  deviceKey,
  describe: () => describeParameters(serviceDownParameters),
  check: serviceDownProblems,
  create: async (context) => {
    const { ServiceDownAgent } = await import('./agent.ts');
    return new ServiceDownAgent(context);
  },
};

/** Takes that back. */
export const novaServiceUp: AgentDefinition = {
  ...SHARED,
  name: 'nova-service-up',
  deviceKey,
  describe: () => describeParameters(serviceUpParameters),
  check: serviceUpProblems,
  stepProblem: (step) => (step === 'recovery' ? undefined : 'it belongs into recovery: the hypervisor has to run before Nova may use it again'),
  create: async (context) => {
    const { ServiceUpAgent } = await import('./agent.ts');
    return new ServiceUpAgent(context);
  },
};
