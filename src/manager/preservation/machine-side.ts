import type { MachineSide } from '../../controllers/preservation/dependencies.ts';
import type { Reflector, ReflectorOptions } from '../../kube/reflector.ts';
import type { ReflectorTimings } from '../../kube/reflector-timings.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../ports/machines.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Recorder } from '../../ports/recorder.ts';
import { watching } from '../watching.ts';
import type { MachinePlace } from './manager-facts.ts';

/** The cluster of the Machines as the controller reaches it: the one of the Nodes, or another. */
export interface MachineAccess extends MachinePlace {
  cluster: Cluster;
  recorder: Recorder;
}

export interface WatchedMachines extends MachineSide {
  reflectors: readonly Reflector<KubeObject>[];
}

/** Reflectors of the three kinds; none is started yet. */
export function watchMachines(
  { transport, namespace, cluster, recorder }: MachineAccess,
  base: Pick<ReflectorOptions<KubeObject>, 'clock' | 'random' | 'logger' | 'metrics'>,
  timings: Partial<ReflectorTimings> | undefined,
): WatchedMachines {
  const { watch: watchAll, reflectors } = watching({ ...base, transport, ...(timings !== undefined && { timings }) });
  const watch = <T extends KubeObject>(resource: Resource<T>): Lister<T> => watchAll(resource, namespace === undefined ? {} : { namespace });
  const listers = { machines: watch(MACHINES), machineSets: watch(MACHINE_SETS), machineDeployments: watch(MACHINE_DEPLOYMENTS) };
  return { cluster, recorder, listers, reflectors };
}
