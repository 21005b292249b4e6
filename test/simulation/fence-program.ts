import { composeController } from '../../src/manager/compose.ts';
import type { ComposedController } from '../../src/manager/compose.ts';
import type { ControllerOptions } from '../../src/manager/composition.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import type { FenceDependencies } from '../../src/controllers/fence/dependencies.ts';
import { FLEET_NAMESPACE } from '../../src/testbed/operators/fleet.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import type { Preservation } from '../../src/ports/preservation.ts';
import type { Logger } from '../../src/ports/recorder.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import type { ControllerProgram, ControllerWorld } from './controller-program.ts';
import type { Composed } from './secondary-controllers/secondary-controllers.ts';

const SYNC_DEADLINE_MS = 60_000;
const SLOTS = 4;
/** Half as many renewals as by default: they are most of a world's work. */
const LEASE = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 4_000 };
const STALE_AFTER_MS = 90_000;
/** Nobody else's controllers appear in these worlds: to look for them every ten seconds would be most of their work. */
const DETECTION_REST_MS = 300_000;

/** What makes a mutant of the program: its dependencies, its outer world, or how it stops are changed. */
export interface Mutation {
  mutate?: (dependencies: FenceDependencies) => FenceDependencies;
  mutateWorld?: (world: ControllerWorld) => ControllerWorld;
  mutateStop?: (controller: ComposedController, deadlineMs: number) => Promise<void>;
  /** The node on which the process of this name runs; on none when absent. */
  ownNodeOf?: (process: string) => string | undefined;
}

/** The real controller, composed as the daemon composes it, as a program of the simulated world. */
export function fenceProgram({ mutate, mutateWorld, mutateStop, ownNodeOf }: Mutation = {}): ControllerProgram {
  return (given) => {
    const world = mutateWorld?.(given) ?? given;
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
        recorder: {
          event: (about, type, reason, message) => {
            world.event({ about: `${about.kind ?? ''} ${about.metadata.name}`, type, reason, message });
          },
        },
        ...(world.nodeDaemons === undefined ? {} : { nodeDaemons: world.nodeDaemons }),
        ...(world.kdump === undefined ? {} : { kdump: world.kdump }),
        planner: (sources) => new LivePlanner({ ...sources, namespace: FENCE_NAMESPACE }),
        mutate: (dependencies) => {
          const sound = { ...dependencies, preservation: bothOf(world.preservation, dependencies.preservation) };
          return mutate?.(sound) ?? sound;
        },
      },
      {
        mode: 'enforce',
        ownNode: ownNodeOf?.(world.identity) ?? world.ownNode,
        outOfService: true,
        staleAfterMs: STALE_AFTER_MS,
        namespace: FENCE_NAMESPACE,
        identity: world.identity,
        concurrency: world.slots ?? SLOTS,
        syncDeadlineMs: SYNC_DEADLINE_MS,
        lease: LEASE,
        ...optionsOf(world.secondaries),
        remedies: world.hasRemedies,
      },
    );
    controller.start().catch((error: unknown) => {
      exit(String(error));
    });
    return { stop: (deadlineMs) => mutateStop?.(controller, deadlineMs) ?? controller.stop(deadlineMs) };
  };
}

/** What the draws say of a machine, and what the controller that keeps machines says. */
function bothOf(drawn: Preservation, composed: Preservation | undefined): Preservation {
  if (composed === undefined) return drawn;
  return {
    guardOf: (node) => drawn.guardOf(node) ?? composed.guardOf(node),
    isPreserved: (node) => drawn.isPreserved(node) || composed.isPreserved(node),
    onChange: (listener) => {
      const ends = [drawn.onChange(listener), composed.onChange(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** As the flags of the daemon say it. */
function optionsOf(secondaries: Composed | undefined): Partial<ControllerOptions> {
  if (secondaries === undefined) return {};
  return {
    nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE,
    detectionRestMs: DETECTION_REST_MS,
    remediation: secondaries.remediation,
    healthChecks: secondaries.healthChecks ? 'auto' : 'off',
    preservation: secondaries.preservation ? 'auto' : 'off',
    machinesNamespace: FLEET_NAMESPACE,
    ...(secondaries.hosts === true && { machineRemediation: 'incident', metal3Remediation: 'auto' }),
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
