import type { EtcdMember } from '../../../domain/policies/view.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { Node, Pod } from '../../../ports/objects.ts';

const CONTROL_PLANE_LABELS = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];
/** K3s and RKE2 label the nodes whose own process is a member. */
const ETCD_LABEL = 'node-role.kubernetes.io/etcd';
export const OPENSHIFT_NAMESPACE = 'openshift-etcd';

export function isControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return [...CONTROL_PLANE_LABELS, ETCD_LABEL].some((label) => labels[label] !== undefined && labels[label] !== 'false');
}

/** `member`: a static pod of etcd, as kubeadm, RKE2 and OpenShift run them; `guard`: OpenShift's pod that is ready while its node's member is healthy. */
function roleOf({ metadata: { namespace, labels = {} } }: Pod): 'member' | 'guard' | undefined {
  if (namespace === 'kube-system') return labels['component'] === 'etcd' ? 'member' : undefined;
  if (namespace !== OPENSHIFT_NAMESPACE) return undefined;
  if (labels['app'] === 'guard') return 'guard';
  return labels['app'] === 'etcd' || labels['k8s-app'] === 'etcd' ? 'member' : undefined;
}

interface Known {
  pod: Pod;
  role: 'member' | 'guard';
  /** The pod was removed; the member is lost, not dismissed, as long as its node stands. */
  isGone: boolean;
}

/** Members of etcd as their static pods and the labels of nodes show them; followed by the changes of both, of which there are many and these are few. */
export class EtcdMembers {
  readonly #known = new Map<string, Known>();
  /** Nodes whose own process is a member. */
  readonly #labelled = new Set<string>();

  constructor({ pods, nodes }: { pods: Lister<Pod>; nodes: Lister<Node> }, onChange: () => void) {
    for (const pod of pods.all()) this.#see(undefined, pod);
    for (const node of nodes.all()) this.#seeNode(node.metadata.name, node);
    pods.onChange((before, after) => {
      if (this.#see(before, after)) onChange();
    });
    nodes.onChange((before, after) => {
      if (this.#seeNode((after ?? before)?.metadata.name ?? '', after)) onChange();
    });
  }

  /** `undefined`: none is to be seen, as with a managed control plane. `isUp`: the node is Ready and heard of; `answers`: of health endpoints. */
  list(isUp: (node: string) => boolean | undefined, answers: ReadonlyMap<string, boolean>): EtcdMember[] | undefined {
    const members: EtcdMember[] = [];
    const places = new Set<string>();
    for (const [key, { pod, role, isGone }] of this.#known) {
      const node = pod.spec.nodeName;
      if (isGone && (node === undefined || isUp(node) === undefined)) {
        this.#known.delete(key);
        continue;
      }
      if (role !== 'member') continue;
      if (node !== undefined) places.add(node);
      members.push(this.#memberOf(pod, isGone, isUp, answers));
    }
    for (const name of this.#labelled) {
      if (!places.has(name)) members.push({ name, node: name, isHealthy: isUp(name) === true, source: `label ${ETCD_LABEL}` });
    }
    return members.length === 0 ? undefined : members;
  }

  /** Node of each member that is a static pod. */
  places(): Map<string, string> {
    const places = new Map<string, string>();
    for (const { pod, role, isGone } of this.#known.values())
      if (role === 'member' && !isGone && pod.spec.nodeName !== undefined) places.set(pod.metadata.name, pod.spec.nodeName);
    return places;
  }

  #memberOf(pod: Pod, isGone: boolean, isUp: (node: string) => boolean | undefined, answers: ReadonlyMap<string, boolean>): EtcdMember {
    const { name } = pod.metadata;
    const node = pod.spec.nodeName;
    const member = { name, node };
    const isNodeUp = node === undefined || isUp(node) === true;
    const answer = answers.get(name);
    if (answer === false) return { ...member, isHealthy: false, source: 'health endpoint' };
    if (isGone || !isReady(pod) || !isNodeUp) return { ...member, isHealthy: false, source: `static pod ${name}` };
    const guard = [...this.#known.values()].find((other) => other.role === 'guard' && !other.isGone && other.pod.spec.nodeName === node);
    if (guard !== undefined) return { ...member, isHealthy: isReady(guard.pod), source: `guard pod ${guard.pod.metadata.name}` };
    return { ...member, isHealthy: true, source: answer === true ? 'health endpoint' : `static pod ${name}` };
  }

  #seeNode(name: string, node: Node | undefined): boolean {
    const wasLabelled = this.#labelled.has(name);
    if (node?.metadata.labels?.[ETCD_LABEL] === undefined) this.#labelled.delete(name);
    else this.#labelled.add(name);
    return this.#labelled.has(name) !== wasLabelled;
  }

  #see(before: Pod | undefined, after: Pod | undefined): boolean {
    const pod = after ?? before;
    const role = pod === undefined ? undefined : roleOf(pod);
    if (pod === undefined || role === undefined) return false;
    this.#known.set(`${pod.metadata.namespace ?? ''}/${pod.metadata.name}`, { pod, role, isGone: after === undefined });
    return true;
  }
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: says }) => type === 'Ready' && says === 'True') === true;
}
