import type { AgentDefinition } from '../../src/ports/agents.ts';
import { checkParameters, describeParameters, parsed } from '../shared/parameter-schema.ts';
import { WAIT_MS, watchdogParameters } from './parameters.ts';

/** Waits for a hardware watchdog. Nothing is switched. */
export const watchdog: AgentDefinition = {
  name: 'watchdog',
  aliases: ['fence-watchdog'],
  kind: 'action',
  actions: ['run', 'off'],
  deviceMaxLatencyMs: 0,
  evidence: 'watchdog',
  runMaxMs: (parameters) => parsed(watchdogParameters, parameters).data?.wait ?? WAIT_MS,
  deviceKey: () => '',
  describe: () => describeParameters(watchdogParameters),
  check: (parameters, withSecrets) => checkParameters(watchdogParameters, parameters, withSecrets),
  create: async (context) => {
    const { WatchdogAgent } = await import('./agent.ts');
    return new WatchdogAgent(context);
  },
};
