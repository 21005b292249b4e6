import type { Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/**
 * `machine.sapcloud.io/v1alpha1` of Gardener's machine-controller-manager (MCM), as far as it is read or written. Names as in its released API; status is
 * a subresource of all three kinds.
 */
export const MACHINE_GROUP = 'machine.sapcloud.io';
export const MACHINE_VERSION = 'v1alpha1';

/** Label of a Machine: the name of its Node. */
export const MACHINE_NODE_LABEL = 'node';

export interface Machine extends KubeObject {
  spec?: {
    providerID?: string;
    /** metav1.Duration, e.g. `72h0m0s`. */
    machinePreserveTimeout?: string;
  };
  status?: {
    currentStatus?: {
      phase?: string;
      /** RFC 3339; moves when the phase does. */
      lastUpdateTime?: string;
      /** RFC 3339; MCM v0.62 and later. */
      preserveExpiryTime?: string;
      timeoutActive?: boolean;
    };
  };
}

export interface MachineSet extends KubeObject {
  spec?: { replicas?: number; autoPreserveFailedMachineMax?: number };
  status?: { autoPreserveFailedMachineCount?: number; preservedFailedReplicas?: number };
}

export interface MachineDeployment extends KubeObject {
  spec?: {
    replicas?: number;
    autoPreserveFailedMachineMax?: number;
    /** A number, or a part of the replicas: `25%`. */
    strategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } };
  };
  status?: { availableReplicas?: number; preservedFailedReplicas?: number };
}

function ofMachines<T extends KubeObject>(kind: string, plural: string): Resource<T> {
  return { group: MACHINE_GROUP, version: MACHINE_VERSION, kind, plural, namespaced: true };
}

export const MACHINES = ofMachines<Machine>('Machine', 'machines');
export const MACHINE_SETS = ofMachines<MachineSet>('MachineSet', 'machinesets');
export const MACHINE_DEPLOYMENTS = ofMachines<MachineDeployment>('MachineDeployment', 'machinedeployments');
