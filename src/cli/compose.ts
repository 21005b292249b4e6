import { FenceController } from '../controllers/fence/controller.ts';
import type { FenceDependencies, FenceOptions } from '../controllers/fence/dependencies.ts';
import { Dispatcher } from '../dispatch/dispatcher.ts';
import { ApiClient } from '../kube/client.ts';
import { LeaderElector } from '../kube/leader-elector.ts';
import type { ReflectorTimings } from '../kube/reflector.ts';
import { Workqueue } from '../kube/workqueue.ts';
import type { AgentRegistry } from '../ports/agents.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ConfigMap, KubeObject, Secret } from '../ports/objects.ts';
import type { Runner } from '../ports/jobs.ts';
import type { Planner } from '../ports/planner.ts';
import type { Random } from '../ports/random.ts';
import type { Logger, Recorder } from '../ports/recorder.ts';
import { watchCluster } from './watches.ts';

export const LEADER_LEASE = 'nodefence-controller';

export interface ControllerOptions extends FenceOptions {
  /** Of ConfigMaps, Secrets and the leader Lease. */
  namespace: string;
  /** For the Lease; a fresh identifier is appended. */
  identity: string;
  /** Nodes worked on at the same time. */
  concurrency: number;
  lease?: { durationMs: number; renewDeadlineMs: number; retryMs: number };
  reflector?: Partial<ReflectorTimings>;
  /** For the first list of every watched kind. */
  syncDeadlineMs: number;
}

/** Everything outside the process, real or simulated. */
export interface ControllerPorts {
  transport: ApiTransport;
  clock: Clock;
  random: Random;
  registry: AgentRegistry;
  logger: Logger;
  metrics: Metrics;
  recorder: Recorder;
  planner: (sources: { cluster: Cluster; configMaps: Lister<ConfigMap>; secrets: Lister<Secret>; registry: AgentRegistry }) => Planner;
  /** The process must end: the lease is lost. */
  exit: (reason: string) => void;
  /** The simulation puts mutants in here. */
  wrapRunner?: (runner: Runner) => Runner;
  /** And here, where the defect is elsewhere than in the runner. */
  mutate?: (dependencies: FenceDependencies) => FenceDependencies;
}

/** The composed fence controller; `start` resolves when it is synced and stands for election. */
export interface ComposedController {
  start(): Promise<void>;
  /** Ends runs and watches and gives the lease back; for a graceful stop. */
  stop(deadlineMs: number): Promise<void>;
  readonly listers: readonly { name: string; lister: Lister<KubeObject>; lastError: () => Error | undefined }[];
  readonly elector: LeaderElector;
}

/** Builds the controller from its ports. The daemon and the simulation both come through here, so that both run the same program. */
export function composeController(ports: ControllerPorts, options: ControllerOptions): ComposedController {
  const { transport, clock, random, logger, metrics } = ports;
  const cluster = new ApiClient({ transport });
  const { listers, configMaps, secrets, reflectors } = watchCluster(ports, options);
  const dispatcher = new Dispatcher(ports.registry, { cluster, clock });
  const elector = new LeaderElector({
    cluster,
    clock,
    random,
    logger,
    metrics: metrics.lease,
    namespace: options.namespace,
    name: LEADER_LEASE,
    identity: options.identity,
    ...options.lease,
    onAcquired: (epoch) => {
      logger.info('leading', { epoch });
      controller.lookAtAll();
    },
    onLost: (reason) => {
      controller.abort(new Error(reason));
      ports.exit(`leadership lost: ${reason}`);
    },
  });
  const queue: Workqueue = new Workqueue({
    name: 'fence',
    clock,
    random,
    logger,
    metrics: metrics.workqueue,
    concurrency: options.concurrency,
    handler: async (node) => {
      await controller.reconcile(node);
      return undefined;
    },
  });
  const dependencies: FenceDependencies = {
    clock,
    random,
    cluster,
    listers,
    leadership: elector,
    runner: ports.wrapRunner === undefined ? dispatcher : ports.wrapRunner(dispatcher),
    planner: ports.planner({ cluster, configMaps, secrets, registry: ports.registry }),
    queue,
    recorder: ports.recorder,
    log: logger,
    metrics: metrics.fence,
    options,
  };
  const controller: FenceController = new FenceController(ports.mutate === undefined ? dependencies : ports.mutate(dependencies));
  for (const lister of [configMaps, secrets]) lister.onChange(() => controller.lookAtAll());
  return {
    listers: reflectors.map((reflector) => ({ name: reflector.name, lister: reflector.lister, lastError: () => reflector.lastError })),
    elector,
    start: async () => {
      for (const reflector of reflectors) reflector.start();
      await Promise.all(reflectors.map((reflector) => reflector.untilSynced(options.syncDeadlineMs)));
      elector.start();
    },
    stop: async (deadlineMs) => {
      controller.abort(new Error('the controller stops'));
      await queue.close(deadlineMs);
      for (const reflector of reflectors) reflector.close();
      await elector.release(deadlineMs);
      await dispatcher.close();
    },
  };
}
