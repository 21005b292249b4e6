import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { RemediationController } from '../../controllers/node-remediation/controller.ts';
import type { WatchedKind } from '../../controllers/node-remediation/dependencies.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { RemediationKind } from '../../ports/remediation.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { partQueue, servedPart, watchBase, watching } from '../served-part.ts';
import type { ServedPart } from '../served-part.ts';
import { servedKinds } from './served-kinds.ts';
import { WatchedRemediation } from './watched-remediation.ts';

export interface RemediationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'fences'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  workloads: WorkloadPool;
}

/** Requests with a fence under way at the same time; the storm policies of the fences themselves are stricter. */
const IN_FLIGHT_MAX = 50;

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
  ports: ControllerPorts,
  options: ControllerOptions,
  kind: RemediationKind,
): { kind: WatchedKind; reflectors: readonly Reflector<KubeObject>[] } {
  const { watch, reflectors } = watching(watchBase(ports, options));
  const listers = { requests: watch(kind.requests, { prune: shown }), templates: watch(kind.templates, { prune: shown }) };
  return { kind: { ...kind, listers }, reflectors };
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
): ServedPart {
  const { clock, logger: log, metrics, recorder } = ports;
  const queue = partQueue(ports, 'remediation', (key) => controller.reconcile(key));
  const controller: RemediationController = new RemediationController({
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
  return servedPart(controller, queue, []);
}
