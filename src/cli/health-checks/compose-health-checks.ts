import { MachineHealthCheckController } from '../../controllers/machine-health-check/controller.ts';
import type { WatchedKind } from '../../controllers/machine-health-check/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { Reflector } from '../../kube/reflector.ts';
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
import type { KubeObject, Lease } from '../../ports/objects.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { readFamilies } from './family-facts.ts';
import { familyDetector } from './family-detector.ts';
import { FamilyMetrics } from './family-metrics.ts';
import type { ServedFamily } from './mode.ts';
import { WatchedHealthChecks } from './watched-health-checks.ts';
import type { FamilyPart } from './watched-health-checks.ts';
import { WatchedKinds } from './watched-kinds.ts';
import type { WatchBase } from './watched-kinds.ts';
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
    detectorOf: (onOwn) => familyDetector({ clock, log, choice, onOwn, read: () => readFamilies(transport, clock.wallMs()) }),
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
  { transport, clock, random, logger, metrics, recorder }: ControllerPorts,
  { mode, reflector: timings }: ControllerOptions,
  { cluster, listers, leadership, workloads, nodeLeases, shown }: HealthCheckSources & { shown: HealthCheckMetrics },
): Omit<FamilyPart, 'ended'> {
  const base: WatchBase = { transport, clock, random, logger, metrics: metrics.watch, ...(timings !== undefined && { timings }) };
  const reflectors: Reflector<KubeObject>[] = [];
  const watched = (resource: Resource<UntypedObject>): WatchedKind => {
    const reflector = new Reflector<UntypedObject>({ ...base, resource });
    reflectors.push(reflector);
    return { resource, lister: reflector.lister };
  };
  const spoken = CLUSTER_API_VERSIONS.find((each) => each === version) ?? 'v1beta1';
  const controller = new MachineHealthCheckController({
    clock,
    cluster,
    recorder,
    log: logger,
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
    options: { enforce: mode === 'enforce', hasBothLists },
  });
  return { controller, reflectors };
}
