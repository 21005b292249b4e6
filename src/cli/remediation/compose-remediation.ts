import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { RemediationController } from '../../controllers/node-remediation/controller.ts';
import type { WatchedKind } from '../../controllers/node-remediation/dependencies.ts';
import { Reflector } from '../../kube/reflector.ts';
import { Workqueue } from '../../kube/workqueue.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { RemediationKind } from '../../ports/remediation.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { servedKinds } from './served-kinds.ts';
import { WatchedRemediation } from './watched-remediation.ts';
import type { RunningRemediation } from './watched-remediation.ts';

export interface RemediationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'fences'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  workloads: WorkloadPool;
}

/** Requests worked on at the same time. */
const CONCURRENCY = 16;
/** Requests with a fence under way at the same time; the storm policies of the fences themselves are stricter. */
const IN_FLIGHT_MAX = 50;
const CLOSE_DEADLINE_MS = 5_000;

/** NodeFenceRemediation for as long as its kinds are installed; `undefined` when it is switched off. */
export function composeRemediation(ports: ControllerPorts, options: ControllerOptions, sources: RemediationSources): WatchedRemediation | undefined {
  if (options.remediation !== true) return undefined;
  return new WatchedRemediation({
    clock: ports.clock,
    log: ports.logger,
    read: () => servedKinds(ports.transport),
    watch: (kind) => watchKind(ports, options, kind),
    run: (kinds) => runRemediation(ports, options, sources, kinds),
  });
}

function watchKind(
  { transport, clock, random, logger, metrics }: ControllerPorts,
  { reflector: timings }: ControllerOptions,
  kind: RemediationKind,
): { kind: WatchedKind; reflectors: readonly Reflector<KubeObject>[] } {
  const base = { transport, clock, random, logger, metrics: metrics.watch, ...(timings === undefined ? {} : { timings }) };
  const reflectors: Reflector<KubeObject>[] = [];
  const watch = <T extends KubeObject>(resource: Resource<T>): Lister<T> => {
    const reflector = new Reflector<T>({ ...base, resource, prune: shown });
    reflectors.push(reflector as unknown as Reflector<KubeObject>);
    return reflector.lister;
  };
  return { kind: { ...kind, listers: { requests: watch(kind.requests), templates: watch(kind.templates) } }, reflectors };
}

/** Watched only to know when to look; a look reads them anew. */
function shown<T extends KubeObject & { status?: { phase?: string } }>(object: T): T {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion };
  return Object.freeze({ metadata, status: { phase: object.status?.phase } }) as unknown as T;
}

function runRemediation(
  ports: ControllerPorts,
  { mode }: ControllerOptions,
  { cluster, listers: { fences }, leadership, workloads }: RemediationSources,
  kinds: readonly WatchedKind[],
): RunningRemediation {
  const { clock, random, logger: log, metrics, recorder } = ports;
  const queue: Workqueue = new Workqueue({
    name: 'remediation',
    clock,
    random,
    logger: log,
    metrics: metrics.workqueue,
    concurrency: CONCURRENCY,
    handler: (key) => controller.reconcile(key),
  });
  const controller = new RemediationController({
    clock,
    cluster,
    recorder,
    log,
    metrics: metrics.remediation,
    leadership,
    kinds,
    fences,
    workloadClusters: workloads.clusterOf,
    queue,
    options: { enforce: mode === 'enforce', inFlightMax: IN_FLIGHT_MAX },
  });
  return {
    start: () => {
      controller.start();
    },
    wake: () => {
      controller.wake();
    },
    close: async () => {
      controller.close();
      await queue.close(CLOSE_DEADLINE_MS);
    },
  };
}
