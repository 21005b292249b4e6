import { ORDERED_ACTIONS } from '../../src/domain/node-daemon/order.ts';
import type { AgentDefinition } from '../../src/ports/agents.ts';
import { canonical, checkParameters, describeParameters, parsed } from '../shared/parameter-schema.ts';
import { nodeDaemonParameters, WAIT_MS } from './parameters.ts';

const NO_PROOF =
  'what the daemon of a node answers proves nothing, and a node that boots anew may write again before anybody has looked; put it into isolation, and a method that proves the node off here';
const NO_REBOOT = 'recovery may not take the node down again; put it into isolation';

/** Orders the daemon of the node to restart a service or to reboot. A soft fence: never evidence, and never in the place of an off. */
export const nodeDaemon: AgentDefinition = {
  name: 'node-daemon',
  aliases: ['fence-node-daemon'],
  kind: 'action',
  actions: ORDERED_ACTIONS,
  deviceMaxLatencyMs: 0,
  runMaxMs: (parameters) => parsed(nodeDaemonParameters, parameters).data?.wait ?? WAIT_MS,
  deviceKey: () => '',
  stepProblem: (step, parameters) => {
    if (step === 'power-management') return NO_PROOF;
    return step === 'recovery' && canonical(nodeDaemonParameters, parameters)['action'] === 'reboot' ? NO_REBOOT : undefined;
  },
  describe: () => describeParameters(nodeDaemonParameters),
  check: (parameters, withSecrets) => checkParameters(nodeDaemonParameters, parameters, withSecrets),
  create: async (context) => {
    const { NodeDaemonAgent } = await import('./agent.ts');
    return new NodeDaemonAgent(context);
  },
};
