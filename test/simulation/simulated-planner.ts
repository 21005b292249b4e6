import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import type { Plan, PlanMethod } from '../../src/domain/plan.ts';
import type { Planner } from '../../src/ports/planner.ts';
import { SECRET_TEXT } from './configuration.ts';
import type { Configuration } from './scenario.ts';

const RUN = { kind: 'action', action: 'run', device: '', plug: '', parameters: {}, deviceMaxLatencyMs: 0 } as const;

export function simulatedPlanner(configuration: Configuration): Planner {
  const { stepRetries, maxRestarts, release, ...timing } = configuration;
  return {
    planFor: (node): Plan => {
      const bmc = (action: 'on' | 'off'): PlanMethod => ({
        name: `bmc-${action}`,
        agent: 'sim-bmc',
        kind: 'power',
        action,
        device: `bmc-${node.metadata.name}`,
        plug: '',
        parameters: { address: `bmc-${node.metadata.name}` },
        deviceMaxLatencyMs: 30_000,
      });
      return {
        source: 'node',
        isolation: [{ level: 1, methods: [{ ...RUN, name: 'cordon', agent: 'cordon' }] }],
        powerManagement: [{ level: 1, methods: [bmc('off'), bmc('on')] }],
        recovery: [{ level: 1, methods: [{ ...RUN, name: 'uncordon', agent: 'uncordon' }] }],
        timing: { ...DEFAULT_TIMING, ...timing },
        stepRetries,
        maxRestarts,
        trigger: 'not-ready',
        release,
        minimumEvidence: ['power-off'],
        identity: 'verified',
        problems: [],
      };
    },
    parametersFor: (_node, method) => Promise.resolve({ ...method.parameters, password: SECRET_TEXT }),
  };
}
