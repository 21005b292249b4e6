import type { Cluster } from '../../ports/cluster.ts';
import { WORLD_PODS } from './kinds.ts';
import type { WorldPod } from './kinds.ts';

const NAMESPACE = 'kube-system';

/** The mirror pod of a static etcd pod, as kubeadm has it: bound to its node, tolerating everything. One that is down is replaced. */
export async function createMember(cluster: Pick<Cluster, 'create' | 'get' | 'remove'>, node: string): Promise<void> {
  const name = nameOf(node);
  if ((await cluster.get(WORLD_PODS, name, NAMESPACE)) !== undefined)
    await cluster.remove(WORLD_PODS, name, { namespace: NAMESPACE, gracePeriodSeconds: 0 });
  const pod: WorldPod = {
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { component: 'etcd', tier: 'control-plane' },
      annotations: { 'kubernetes.io/config.mirror': node, 'kubernetes.io/config.source': 'file' },
    },
    spec: { nodeName: node, ...SPEC },
  };
  await cluster.create(WORLD_PODS, pod);
}

/** The member has crashed for good, while its node is well. */
export async function loseMember(cluster: Pick<Cluster, 'mergePatch'>, node: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'PodFailed', lastTransitionTime: null }];
  await cluster.mergePatch(WORLD_PODS, nameOf(node), { status: { phase: 'Failed', conditions } }, { namespace: NAMESPACE, subresource: 'status' });
}

function nameOf(node: string): string {
  return `etcd-${node}`;
}

const SPEC: WorldPod['spec'] = {
  containers: [{ name: 'etcd', image: 'drill' }],
  tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
  terminationGracePeriodSeconds: 1,
};
