import type { PowerState } from '../../src/ports/agents.ts';
import type { Node } from '../../src/ports/objects.ts';
import { HALTED_BY_US, isHalted, isTerminated, MACHINE_HOSTS, runsBy } from './objects.ts';
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
}

interface Power {
  state: PowerState;
  detail: string;
}

/**
 * Where a machine's process may still run. Off: each launcher pod was ended, as a kubelet says that is alive, or none is left while every host that
 * somebody named is alive; and nothing will start it again. A phase, and a pod that is gone, may have been set by whoever had given a dead host up, and so may a
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
  if (deletionTimestamp !== undefined) return { state: 'pending', detail: `pod ${name} is terminating on ${node}` };
  const isUp = phase === 'Running' && (instance?.status?.phase ?? 'Running') === 'Running';
  return { state: isUp ? 'on' : 'pending', detail: `pod ${name} phase=${phase} on ${node}` };
}

function withoutPods({ instance, nodes, hosts: named }: MachineView): Power {
  const phase = instance?.status?.phase ?? '';
  if (instance !== undefined && ['', 'Pending', 'Scheduling', 'Scheduled'].includes(phase))
    return { state: 'pending', detail: 'no launcher pod yet' };
  if (instance !== undefined && phase !== 'Failed' && phase !== 'Succeeded')
    return { state: 'unknown', detail: 'no launcher pod: it may have been deleted by force' };
  if (named.length === 0) {
    const hint = 'one may run on a host whose Node was deleted: name all of them in hosts=, or acknowledge that it is off';
    return { state: 'unknown', detail: `no launcher pod, and nothing says which hosts there are: ${hint}` };
  }
  const labelled = nodes.filter(({ metadata }) => metadata.labels?.[MACHINE_HOSTS] !== undefined).map(({ metadata }) => metadata.name);
  const hosts = [...new Set([...named, ...labelled])];
  const silent = hosts.map((name) => silenceOf(name, nodes)).find((silence) => silence !== undefined);
  if (silent !== undefined) return { state: 'unknown', detail: `no launcher pod, but ${silent}: one may still run there` };
  return { state: 'off', detail: `no launcher pod, and the kubelets of all ${hosts.length} hosts are alive` };
}

/** Why a node's kubelet cannot be believed to be alive; undefined when it is. */
function silenceOf(name: string, nodes: readonly Node[]): string | undefined {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (node === undefined) return `there is no node ${name} any more`;
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'absent';
  return ready === 'True' ? undefined : `node ${name} is not alive (Ready=${ready})`;
}
