import type { Resource } from '../../ports/cluster.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS } from '../../ports/machines.ts';
import type { MachineDeployment, MachineSet } from '../../ports/machines.ts';

/** Keeps a Machine until its driver has taken away what stands for it. */
export const DRIVER_FINALIZER = 'drill.nodefence/driver';

/** The counts that MCM's controllers keep. */
interface Counted {
  replicas?: number;
  availableReplicas?: number;
}

export type CountedSet = MachineSet & { status?: Counted };
export type CountedDeployment = MachineDeployment & { status?: Counted };

export const COUNTED_SETS: Resource<CountedSet> = MACHINE_SETS;
export const COUNTED_DEPLOYMENTS: Resource<CountedDeployment> = MACHINE_DEPLOYMENTS;
