import { MachineHealthCheckController } from '../../controllers/machine-health-check/controller.ts';
import type { WatchedKind } from '../../controllers/machine-health-check/dependencies.ts';
import { PRESERVATION_POLICY } from '../../domain/preservation.ts';
import { MACHINE_INDEXES } from '../../controllers/machine-health-check/indexes.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import type { Indexers } from '../../kube/lister.ts';
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
import type { Lease } from '../../ports/objects.ts';
import type { StormHolds } from '../../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { Owners } from '../detection/ownership.ts';
import { GatedController } from '../gated-controller.ts';
import type { Built } from '../gated-controller.ts';
import { rightsOf } from '../self-check/installed.ts';
import { watchBase, watching } from '../watching.ts';
import { FamilyMetrics } from './family-metrics.ts';
import { findFamilies } from './found-families.ts';
import type { FoundFamily } from './found-families.ts';
import { HEALTH_CHECK_MODE, healthCheckClaim } from './mode.ts';
import type { ServedFamily } from './mode.ts';
import { WatchedKinds } from './watched-kinds.ts';
import { WatchedWorkloads } from './watched-workloads.ts';

export interface HealthCheckSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'fences'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  workloads: WorkloadPool;
  /** What holds an off on request, the preservation of its machine among it. Absent: nothing. */
  stormHolds?: StormHolds;
  /** Of medik8s; absent: nobody's. */
  nodeLeases?: Lister<Lease> | undefined;
}

/** MachineHealthChecks, one controller for each group that is ours; `undefined` when they are switched off. */
export function setUpHealthChecks(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: HealthCheckSources,
): GatedController<FoundFamily[], ServedFamily> | undefined {
  const { healthChecks: choice = 'off' } = options;
  if (choice === 'off') return undefined;
  const { clock, logger: log, transport } = ports;
  const metrics = new FamilyMetrics(ports.metrics.healthChecks);
  const owners = new Owners<ServedFamily>({ clock, log, claim: healthCheckClaim(choice), message: HEALTH_CHECK_MODE });
  return new GatedController<FoundFamily[], ServedFamily>(ports, options, {
    question: 'who owns health checks',
    find: () => findFamilies(transport, clock.wallMs()),
    gate: (families, run) => {
      const { own, restMs } = owners.judge(families);
      run(own);
      return restMs;
    },
    build: (family) => build(family, ports, options, { ...sources, metrics }),
  });
}

function build(
  { group, version, hasClusters, hasBothLists }: ServedFamily,
  ports: ControllerPorts,
  options: ControllerOptions,
  { cluster, listers, leadership, workloads, nodeLeases, stormHolds, metrics }: HealthCheckSources & { metrics: FamilyMetrics },
): Built {
  const { clock, logger: log, recorder } = ports;
  const base = watchBase(ports, options);
  const { watch, reflectors } = watching(base);
  const watched = (resource: Resource<UntypedObject>, indexes: Indexers<UntypedObject> = {}): WatchedKind => ({
    resource,
    lister: watch(resource, { indexes }),
  });
  const spoken = CLUSTER_API_VERSIONS.find((each) => each === version) ?? 'v1beta1';
  const controller = new MachineHealthCheckController({
    clock,
    cluster,
    recorder,
    log,
    metrics: metrics.of(group),
    leadership,
    checks: watched(machineHealthChecks(group, version)),
    machines: watched(group === CLUSTER_API_GROUP ? clusterMachines(spoken) : OPENSHIFT_MACHINES, MACHINE_INDEXES),
    ...(hasClusters && { clusters: watched(apiClusters(spoken)) }),
    nodes: listers.nodes,
    fences: listers.fences,
    ...(nodeLeases !== undefined && { nodeLeases }),
    ...(stormHolds !== undefined && { preservedBecause: (node) => stormHolds(node).find(({ policy }) => policy === PRESERVATION_POLICY)?.message }),
    kinds: new WatchedKinds(base),
    workloads: new WatchedWorkloads(base, workloads),
    mend: rightsOf('machine-health-check', options.namespace),
    options: { enforce: options.mode === 'enforce', hasBothLists },
  });
  const close = async (): Promise<void> => {
    const closing = controller.close();
    metrics.end(group);
    await closing;
  };
  return {
    controller: { start: () => controller.start(), wake: () => controller.wake(), problems: () => controller.problems(), close },
    reflectors,
  };
}
