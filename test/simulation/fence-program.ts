import { composeController } from '../../src/cli/compose.ts';
import type { FenceDependencies } from '../../src/controllers/fence/dependencies.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { Logger } from '../../src/ports/recorder.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import type { ControllerProgram, ControllerWorld } from './controller-program.ts';
import type { Configuration } from './scenario.ts';
import { simulatedPlanner } from './simulated-planner.ts';

const SYNC_DEADLINE_MS = 60_000;
const STALE_AFTER_MS = 90_000;

/** The real controller, composed as the daemon composes it, as a program of the simulated world; `mutate` makes a mutant of it. */
export function fenceProgram(configuration: Configuration, mutate?: (dependencies: FenceDependencies) => FenceDependencies): ControllerProgram {
  return (world) => {
    const { clock, random, transport, registry, exit } = world;
    const controller = composeController(
      {
        clock,
        random,
        transport,
        registry,
        exit,
        logger: loggerOf(world),
        metrics: NO_METRICS,
        recorder: { event: () => undefined },
        planner: () => simulatedPlanner(configuration),
        ...(mutate === undefined ? {} : { mutate }),
      },
      {
        mode: 'enforce',
        ownNode: undefined,
        outOfService: true,
        staleAfterMs: STALE_AFTER_MS,
        namespace: FENCE_NAMESPACE,
        identity: world.identity,
        concurrency: 4,
        syncDeadlineMs: SYNC_DEADLINE_MS,
      },
    );
    controller.start().catch((error: unknown) => {
      exit(String(error));
    });
  };
}

function loggerOf(world: ControllerWorld): Logger {
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      const words = Object.entries(fields).map(([key, value]) => `${key}=${value instanceof Error ? value.message : JSON.stringify(value)}`);
      world.log([level, message, ...words].join(' '));
    };
  return { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
}
