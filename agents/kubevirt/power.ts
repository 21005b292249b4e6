import type { PowerState } from '../../src/ports/agents.ts';
import type { Node } from '../../src/ports/objects.ts';
import { HALTED_BY_US, isHalted, isTerminated, lostContainer, MACHINE_HOSTS, runsBy } from './objects.ts';
import type { LauncherPod, VirtualMachine, VirtualMachineInstance } from './objects.ts';

/** The infrastructure cluster as it was read for one machine. */
export interface MachineView {
  vm: VirtualMachine | undefined;
  instance: VirtualMachineInstance | undefined;
  pods: readonly LauncherPod[];
  /** Nodes of the infrastructure cluster. */
  nodes: readonly Node[];
  /** Names of all hosts that could have it, as somebody wrote them down; empty: nobody did. */
  hosts: readonly string[];
  /** For how long no launcher pod has been seen, milliseconds. */
  absentForMs: number;
}

/** Where a machine names none. Source: kubevirt/kubevirt, pkg/virt-controller/services/template.go: its launcher pod is killed 30 s after that. */
const USUAL_GRACE_SECONDS = 30;
const LAUNCHER_SECONDS = 30;
/** A kubelet that is alive looks for pods that are gone every few seconds, and has to kill what does not end. */
const KUBELET_SECONDS = 60;

interface Power {
  state: PowerState;
  detail: string;
}

/**
 * Where a machine's process may still run. Off: each launcher pod was ended, as a kubelet says that is alive, or none has been there for longer than one that
 * was deleted by force takes to end, while every host that somebody named was alive; and nothing will start it again. A phase, and a pod that is gone, may have been set by whoever had given a dead host up, and so may a
 * Node that is gone.
 */
export function powerOf(view: MachineView): Power {
  const { vm, instance, pods } = view;
  const powers = pods.length === 0 ? [withoutPods(view)] : pods.map((pod) => podPower(pod, view));
  const worst = (['on', 'unknown', 'pending', 'off'] as const).find((state) => powers.some((power) => power.state === state)) ?? 'unknown';
  const told = [
    vm === undefined ? 'no VirtualMachine' : runsBy(vm),
    `phase=${instance?.status?.phase ?? '(no instance)'}`,
    ...powers.map(({ detail }) => detail),
  ];
  if (worst === 'off' && vm !== undefined && !isHalted(vm)) return { state: 'pending', detail: [...told, 'it will be started again'].join(', ') };
  if (worst === 'on' && vm?.metadata.annotations?.[HALTED_BY_US] !== undefined && isHalted(vm)) return { state: 'pending', detail: told.join(', ') };
  return { state: worst, detail: told.join(', ') };
}

function podPower(pod: LauncherPod, { instance, nodes }: MachineView): Power {
  const { name, deletionTimestamp } = pod.metadata;
  const node = pod.spec.nodeName;
  if (node === undefined) return { state: 'pending', detail: `pod ${name} is on no node yet` };
  const silence = silenceOf(node, nodes);
  if (isTerminated(pod)) {
    return silence === undefined
      ? { state: 'off', detail: `pod ${name}: all containers terminated, as the kubelet of ${node} says` }
      : { state: 'unknown', detail: `pod ${name}: terminated, but ${silence}` };
  }
  const phase = pod.status?.phase ?? '(none)';
  if (silence !== undefined) return { state: 'unknown', detail: `pod ${name} phase=${phase}: ${silence}` };
  const lost = lostContainer(pod);
  if (lost !== undefined)
    return { state: 'unknown', detail: `pod ${name}: the kubelet of ${node} found its container ${lost} no more, which may run on` };
  if (deletionTimestamp !== undefined) return { state: 'pending', detail: `pod ${name} is terminating on ${node}` };
  const isUp = phase === 'Running' && (instance?.status?.phase ?? 'Running') === 'Running';
  return { state: isUp ? 'on' : 'pending', detail: `pod ${name} phase=${phase} on ${node}` };
}

function withoutPods({ vm, instance, nodes, hosts: named, absentForMs }: MachineView): Power {
  const phase = instance?.status?.phase ?? '';
  if (instance !== undefined && ['', 'Pending', 'Scheduling', 'Scheduled'].includes(phase))
    return { state: 'pending', detail: 'no launcher pod yet' };
  if (instance !== undefined && phase !== 'Failed' && phase !== 'Succeeded')
    return { state: 'unknown', detail: 'no launcher pod: it may have been deleted by force' };
  if (named.length === 0) {
    const hint = 'one may run on a host whose Node was deleted: name all of them in hosts=, or acknowledge that it is off';
    return { state: 'unknown', detail: `no launcher pod, and nothing says which hosts there are: ${hint}` };
  }
  const hosts = hostsOf(named, nodes);
  const silent = hosts.map((name) => silenceOf(name, nodes)).find((silence) => silence !== undefined);
  if (silent !== undefined) return { state: 'unknown', detail: `no launcher pod, but ${silent}: one may still run there` };
  const alive = `and the kubelets of all ${hosts.length} hosts are alive`;
  const endsSeconds = graceOf(vm, instance) + LAUNCHER_SECONDS + KUBELET_SECONDS;
  if (absentForMs >= endsSeconds * 1000) return { state: 'off', detail: `no launcher pod, ${alive}` };
  const seen = `no launcher pod for ${Math.floor(absentForMs / 1000)} s, ${alive}`;
  return { state: 'pending', detail: `${seen}: one that was deleted by force takes up to ${endsSeconds} s to end` };
}

function graceOf(vm: VirtualMachine | undefined, instance: VirtualMachineInstance | undefined): number {
  const graces = [instance?.spec, vm?.spec?.template?.spec].map((spec) => spec?.terminationGracePeriodSeconds ?? USUAL_GRACE_SECONDS);
  return Math.max(...graces);
}

function hostsOf(named: readonly string[], nodes: readonly Node[]): string[] {
  const labelled = nodes.filter(({ metadata }) => metadata.labels?.[MACHINE_HOSTS] !== undefined).map(({ metadata }) => metadata.name);
  return [...new Set([...named, ...labelled])];
}

/** What changes when a machine is started, and when the kubelet of a host was not heard: between two looks at the same nothing of it has happened. */
export function worldOf({ vm, instance, nodes, hosts }: Omit<MachineView, 'absentForMs'>): string {
  const machine = [vm, instance].map((object) => [object?.metadata.uid, object?.metadata.resourceVersion]);
  const kubelets = hostsOf(hosts, nodes).map((name) => {
    const node = nodes.find(({ metadata }) => metadata.name === name);
    const ready = node?.status.conditions?.find(({ type }) => type === 'Ready');
    return [name, node?.metadata.uid, ready?.status, ready?.lastTransitionTime];
  });
  return JSON.stringify([machine, kubelets]);
}

/** Why a node's kubelet cannot be believed to be alive; undefined when it is. */
function silenceOf(name: string, nodes: readonly Node[]): string | undefined {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (node === undefined) return `there is no node ${name} any more`;
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'absent';
  return ready === 'True' ? undefined : `node ${name} is not alive (Ready=${ready})`;
}
