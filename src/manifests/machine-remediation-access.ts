import { CLUSTER_API_GROUP, OPENSHIFT_GROUP } from '../ports/cluster-api.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP } from '../ports/metal3.ts';
import { binding, LABELS, READ, rule } from './access.ts';
import type { Binding, Role } from './access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
/** By which controllers that obey the same annotation elect their leaders, and what they are installed as: OpenShift's actuator for bare metal, and its parent. */
export const OTHER_LEASES: readonly string[] = ['controller-leader-election-capbm'];
export const OTHER_DEPLOYMENTS: readonly string[] = ['machine-api-controllers', 'capbm-controller-manager'];
/** The same of the operator of BareMetalHosts. */
export const OPERATOR_LEASES: readonly string[] = ['baremetal-operator'];
export const OPERATOR_DEPLOYMENTS: readonly string[] = [
  'baremetal-operator-controller-manager',
  'capm3-baremetal-operator-controller-manager',
  'metal3',
  'metal3-baremetal-operator',
];

const GROUPS = [CLUSTER_API_GROUP, OPENSHIFT_GROUP];

function clusterRole(name: string, rules: Role['rules']): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules };
}

const REMEDIATION_ROLE = clusterRole('nodefence-machine-remediation', [
  // The request and our marks are annotations; a Machine whose node does not come back is deleted for its owner to make another.
  ...GROUPS.map((group) => rule(group, ['machines'], [...READ, 'patch', 'delete'])),
  // Until when a node may take to start.
  ...GROUPS.map((group) => rule(group, ['machinehealthchecks'], ['list'])),
  rule(CLUSTER_API_GROUP, ['clusters'], ['get']),
  rule(INFRASTRUCTURE_GROUP, ['metal3machines'], ['get']),
  rule(BARE_METAL_HOSTS.group, [BARE_METAL_HOSTS.plural], [...READ, 'patch']),
  rule('', ['nodes'], ['delete']),
  { ...rule('apps', ['deployments'], ['list']), resourceNames: [...OTHER_DEPLOYMENTS, ...OPERATOR_DEPLOYMENTS] },
  { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: [...OTHER_LEASES, ...OPERATOR_LEASES] },
]);

/** Installed beside the rest where Machines are remediated (`kubectl apply -k config/machine-remediation`). */
export const MACHINE_REMEDIATION_ACCESS: readonly (Role | Binding)[] = [REMEDIATION_ROLE, binding(REMEDIATION_ROLE)];
