import { binding, LABELS, rule } from './access.ts';
import type { Binding, Role } from './access.ts';

/** Lets the kubeconfigs of workload clusters be read. */
export const WORKLOAD_ROLE = 'nodefence-workload-clusters';

/** A kubeconfig of Cluster API is an administrator's: where it is not installed with its binding, a person binds it namespace by namespace. */
export const WORKLOAD_CLUSTERS_ROLE: Role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: WORKLOAD_ROLE, labels: LABELS },
  rules: [rule('', ['secrets'], ['get'])],
};

/** A Cluster of Cluster API: where its kubeconfig is. */
export interface WorkloadCluster {
  namespace: string;
  name: string;
}

/** The kubeconfigs of these clusters and of no others: one Role for each namespace, which names its Secrets. */
export function workloadAccess(clusters: readonly WorkloadCluster[]): (Role | Binding)[] {
  const namespaces = [...new Set(clusters.map(({ namespace }) => namespace))].sort();
  return namespaces.flatMap((namespace) => {
    const resourceNames = clusters.filter((cluster) => cluster.namespace === namespace).map(({ name }) => `${name}-kubeconfig`);
    const role: Role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: WORKLOAD_ROLE, namespace, labels: LABELS },
      rules: [{ ...rule('', ['secrets'], ['get']), resourceNames: [...new Set(resourceNames)].sort() }],
    };
    return [role, binding(role)];
  });
}

/** All of them, in a folder of its own (`kubectl apply -k config/workload-clusters`): whoever reads all Secrets can do everything. */
export const WORKLOAD_CLUSTERS_ACCESS: readonly (Role | Binding)[] = [WORKLOAD_CLUSTERS_ROLE, binding(WORKLOAD_CLUSTERS_ROLE)];
