import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject, Pod } from '../../ports/objects.ts';

interface InstanceSpec {
  domain?: { firmware?: { uuid?: string } };
}

/** kubevirt.io/v1, as its API reference has it; fields that nothing here needs are left out. */
export interface VirtualMachine extends KubeObject {
  spec?: { running?: boolean; runStrategy?: string; template?: { spec?: InstanceSpec } };
}

export interface VirtualMachineInstance extends KubeObject {
  spec?: InstanceSpec;
  status?: { phase?: string; nodeName?: string };
}

export const VIRTUAL_MACHINES: Resource<VirtualMachine> = {
  group: 'kubevirt.io',
  version: 'v1',
  kind: 'VirtualMachine',
  plural: 'virtualmachines',
  namespaced: true,
};
export const VIRTUAL_MACHINE_INSTANCES: Resource<VirtualMachineInstance> = {
  group: 'kubevirt.io',
  version: 'v1',
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances',
  namespaced: true,
};
export const LAUNCHER_PODS: Resource<Pod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
/** Label of a node that runs machines. */
export const MACHINE_HOSTS = 'kubevirt.io/schedulable';

/** virt-controller keeps no instance of it: run strategy Halted, or the older `running: false`, which is read where no strategy is given. */
export function isHalted({ spec = {} }: VirtualMachine): boolean {
  return (spec.runStrategy ?? (spec.running === false ? 'Halted' : '')) === 'Halted';
}
