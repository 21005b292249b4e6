import type { Resource } from '../../src/ports/cluster.ts';
import type { KubeObject, Pod } from '../../src/ports/objects.ts';

interface MachineSpec {
  terminationGracePeriodSeconds?: number;
  domain?: { firmware?: { uuid?: string } };
}

/** Source: kubevirt/kubevirt, staging/src/kubevirt.io/api/core/v1. */
export interface VirtualMachine extends KubeObject {
  spec?: { running?: boolean; runStrategy?: string; template?: { spec?: MachineSpec } };
  status?: { printableStatus?: string };
}

export interface VirtualMachineInstance extends KubeObject {
  spec?: MachineSpec;
  status?: { phase?: string; nodeName?: string; interfaces?: { ipAddress?: string; ipAddresses?: string[] }[] };
}

/** A pod with what its kubelet says of its containers and addresses. */
export interface LauncherPod extends Pod {
  spec: Pod['spec'] & { containers?: { name?: string }[] };
  status?: NonNullable<Pod['status']> & {
    containerStatuses?: { name?: string; state?: { terminated?: { reason?: string } } }[];
    podIP?: string;
    podIPs?: { ip?: string }[];
  };
}

/** Source: kubernetes/kubernetes, pkg/kubelet/kubelet_pods.go, "The container could not be located when the pod was terminated". */
const CONTAINER_LOST = 'ContainerStatusUnknown';

function kubevirt<T extends KubeObject>(kind: string, plural: string): Resource<T> {
  return { group: 'kubevirt.io', version: 'v1', kind, plural, namespaced: true };
}

export const VIRTUAL_MACHINES = kubevirt<VirtualMachine>('VirtualMachine', 'virtualmachines');
export const VIRTUAL_MACHINE_INSTANCES = kubevirt<VirtualMachineInstance>('VirtualMachineInstance', 'virtualmachineinstances');
export const LAUNCHER_PODS: Resource<LauncherPod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
export const LAUNCHER_SELECTOR = 'kubevirt.io=virt-launcher';
/** On every node that runs, or once ran, machines; its value says whether virt-handler is well. */
export const MACHINE_HOSTS = 'kubevirt.io/schedulable';

/** Keeps a launcher pod to be seen after its end: what is gone could have been deleted by force. */
export const WITNESS = 'nodefence.ha.k8s.io/witness';
/** How the VirtualMachine was to run before we halted it: `runStrategy=Always`, `running=true`. */
export const HALTED_BY_US = 'nodefence.ha.k8s.io/halted';

export function isLauncherOf(pod: LauncherPod, name: string): boolean {
  const { annotations, labels, ownerReferences = [] } = pod.metadata;
  if (annotations?.['kubevirt.io/domain'] === name || labels?.['vm.kubevirt.io/name'] === name) return true;
  return ownerReferences.some((owner) => owner.kind === 'VirtualMachineInstance' && owner.name === name);
}

export function isHalted({ spec }: VirtualMachine): boolean {
  return spec?.runStrategy === 'Halted' || (spec?.runStrategy === undefined && spec?.running === false);
}

/** How it is to run, in the words of its own field. */
export function runsBy({ spec }: VirtualMachine): string {
  if (spec?.runStrategy !== undefined) return `runStrategy=${spec.runStrategy}`;
  return spec?.running === undefined ? 'runStrategy=(none)' : `running=${String(spec.running)}`;
}

/** Every container was ended, as the kubelet says of each; a phase alone is also set by those who only gave the pod up. */
export function isTerminated(pod: LauncherPod): boolean {
  const { spec, status } = pod;
  const ended = (status?.containerStatuses ?? []).flatMap(({ name, state }) => (state?.terminated === undefined ? [] : [name]));
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const isWhole = ended.length > 0 && (spec.containers ?? []).every(({ name }) => ended.includes(name));
  return isOver && isWhole && ended.length === status.containerStatuses?.length && lostContainer(pod) === undefined;
}

/** A container that its kubelet calls ended because it found it no more: what the runtime has lost sight of may run on. */
export function lostContainer({ status }: LauncherPod): string | undefined {
  const lost = status?.containerStatuses?.find(({ state }) => state?.terminated?.reason === CONTAINER_LOST);
  return lost === undefined ? undefined : (lost.name ?? '?');
}
