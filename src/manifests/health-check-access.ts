import { CLUSTER_API_GROUP, OPENSHIFT_GROUP } from '../ports/cluster-api.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../ports/remediation.ts';
import { binding, LABELS, READ, rule } from './access.ts';
import type { Binding, Role } from './access.ts';
import { WORKLOAD_CLUSTERS_ROLE } from './workload-access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
/** By which Cluster API's controller and OpenShift's elect their leaders. */
export const OTHER_LEASES: readonly string[] = ['controller-leader-election-capi', 'cluster-api-provider-healthcheck-leader'];
export const OTHER_DEPLOYMENTS: readonly string[] = ['capi-controller-manager', 'machine-api-controllers'];
const DEFINITIONS = [CLUSTER_API_GROUP, OPENSHIFT_GROUP].flatMap((group) => [`machinehealthchecks.${group}`, `machines.${group}`]);
const GROUPS = [CLUSTER_API_GROUP, OPENSHIFT_GROUP];
/** Requests and templates that we serve, and those of metal3. */
const REMEDIATIONS = [
  ...[NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION].map(({ requests, templates }) => ({
    group: requests.group,
    kinds: [requests.plural, templates.plural],
  })),
  { group: 'infrastructure.cluster.x-k8s.io', kinds: ['metal3remediations', 'metal3remediationtemplates'] },
];

function clusterRole(name: string, rules: Role['rules']): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules };
}

const CHECKS_ROLE = clusterRole('nodefence-health-checks', [
  ...GROUPS.flatMap((group) => [
    rule(group, ['machinehealthchecks'], [...READ, 'patch']),
    rule(group, ['machinehealthchecks/status'], ['patch']),
    rule(group, ['machines'], READ),
  ]),
  rule(CLUSTER_API_GROUP, ['clusters'], READ),
  rule(CLUSTER_API_GROUP, ['machines/status'], ['patch']),
  // OpenShift: the request to power-cycle is an annotation, and a Machine without a template is deleted for its owner to make another.
  rule(OPENSHIFT_GROUP, ['machines'], ['patch', 'delete']),
  ...REMEDIATIONS.map(({ group, kinds }) => rule(group, kinds, [...READ, 'create', 'delete'])),
  { ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']), resourceNames: DEFINITIONS },
  { ...rule('apps', ['deployments'], ['list']), resourceNames: [...OTHER_DEPLOYMENTS] },
  { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: [...OTHER_LEASES] },
]);

/** Installed beside the rest where MachineHealthChecks are ours (`kubectl apply -k config/machine-health-check`). */
export const HEALTH_CHECK_ACCESS: readonly (Role | Binding)[] = [CHECKS_ROLE, binding(CHECKS_ROLE), WORKLOAD_CLUSTERS_ROLE];
