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

/** All of them, in a folder of its own (`kubectl apply -k config/workload-clusters`): whoever reads all Secrets can do everything. */
export const WORKLOAD_CLUSTERS_ACCESS: readonly (Role | Binding)[] = [WORKLOAD_CLUSTERS_ROLE, binding(WORKLOAD_CLUSTERS_ROLE)];
