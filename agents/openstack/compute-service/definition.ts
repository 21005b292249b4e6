import type { AgentDefinition } from '../../../src/ports/agents.ts';
import { describeParameters } from '../../shared/parameter-schema.ts';
import { hostProblem, serviceDownParameters, serviceDownProblems, serviceUpParameters, serviceUpProblems, waitMsOf } from './parameters.ts';

type Shared = Pick<AgentDefinition, 'aliases' | 'kind' | 'actions' | 'deviceMaxLatencyMs' | 'deviceKey' | 'plugProblem'>;

const SHARED: Shared = {
  aliases: [],
  kind: 'action',
  actions: ['run'],
  deviceMaxLatencyMs: 0,
  // Without a queue: a hypervisor of a rack that failed does not wait for minutes until the servers of another one have left it.
  deviceKey: () => '',
  plugProblem: hostProblem,
};

/** Tells Nova that a fenced hypervisor is down, and has its servers evacuated. */
export const novaServiceDown: AgentDefinition = {
  ...SHARED,
  name: 'nova-service-down',
  whileOff: true,
  undoneBy: 'nova-service-up',
  runMaxMs: waitMsOf,
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
  describe: () => describeParameters(serviceUpParameters),
  check: serviceUpProblems,
  stepProblem: (step) => (step === 'recovery' ? undefined : 'it belongs into recovery: the hypervisor has to run before Nova may use it again'),
  create: async (context) => {
    const { ServiceUpAgent } = await import('./agent.ts');
    return new ServiceUpAgent(context);
  },
};
