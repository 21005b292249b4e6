import { MachineHealthCheckController } from '../../controllers/machine-health-check/controller.ts';
import type { WatchedKind } from '../../controllers/machine-health-check/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import {
  apiClusters,
  CLUSTER_API_GROUP,
  clusterMachines,
  CLUSTER_API_VERSIONS,
  machineHealthChecks,
  OPENSHIFT_MACHINES,
} from '../../ports/cluster-api.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { HealthCheckMetrics } from '../../ports/metrics.ts';
import type { Lease } from '../../ports/objects.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { watchBase, watching } from '../served-part.ts';
import { readFamilies } from './family-facts.ts';
import { familyDetector } from './family-detector.ts';
import { FamilyMetrics } from './family-metrics.ts';
import type { ServedFamily } from './mode.ts';
import { WatchedHealthChecks } from './watched-health-checks.ts';
import type { FamilyPart } from './watched-health-checks.ts';
import { WatchedKinds } from './watched-kinds.ts';
import { WatchedWorkloads } from './watched-workloads.ts';

export interface HealthCheckSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'fences'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  workloads: WorkloadPool;
  /** Of medik8s; absent: nobody's. */
  nodeLeases?: Lister<Lease> | undefined;
}

/** MachineHealthChecks over whichever groups are ours; `undefined` when they are switched off. */
export function composeHealthChecks(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: HealthCheckSources,
): WatchedHealthChecks | undefined {
  const { healthChecks: choice = 'off' } = options;
  if (choice === 'off') return undefined;
  const { clock, logger: log, transport } = ports;
  const metrics = new FamilyMetrics(ports.metrics.healthChecks);
  return new WatchedHealthChecks({
    log,
    detectorOf: (onOwn) =>
      familyDetector({ clock, log, choice, onOwn, leastRestMs: options.detectionRestMs, read: () => readFamilies(transport, clock.wallMs()) }),
    partOf: (family) => ({
      ...partOf(family, ports, options, { ...sources, shown: metrics.of(family.group) }),
      ended: () => {
        metrics.end(family.group);
      },
    }),
  });
}

function partOf(
  { group, version, hasClusters, hasBothLists }: ServedFamily,
  ports: ControllerPorts,
  options: ControllerOptions,
  { cluster, listers, leadership, workloads, nodeLeases, shown }: HealthCheckSources & { shown: HealthCheckMetrics },
): Omit<FamilyPart, 'ended'> {
  const { clock, logger: log, recorder } = ports;
  const base = watchBase(ports, options);
  const { watch, reflectors } = watching(base);
  const watched = (resource: Resource<UntypedObject>): WatchedKind => ({ resource, lister: watch(resource) });
  const spoken = CLUSTER_API_VERSIONS.find((each) => each === version) ?? 'v1beta1';
  const controller = new MachineHealthCheckController({
    clock,
    cluster,
    recorder,
    log,
    metrics: shown,
    leadership,
    checks: watched(machineHealthChecks(group, version)),
    machines: watched(group === CLUSTER_API_GROUP ? clusterMachines(spoken) : OPENSHIFT_MACHINES),
    ...(hasClusters && { clusters: watched(apiClusters(spoken)) }),
    nodes: listers.nodes,
    fences: listers.fences,
    ...(nodeLeases !== undefined && { nodeLeases }),
    kinds: new WatchedKinds(base),
    workloads: new WatchedWorkloads(base, workloads),
    options: { enforce: options.mode === 'enforce', hasBothLists },
  });
  return { controller, reflectors };
}
