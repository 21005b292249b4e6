import { CLUSTER_API_GROUP, OPENSHIFT_GROUP } from '../ports/cluster-api.ts';
import { METAL3_REMEDIATION_VERSIONS, metal3Remediations } from '../ports/metal3.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../ports/remediation.ts';
import { binding, LABELS, READ, rule, WATCH } from './access.ts';
import type { Binding, Role } from './access.ts';
import { WORKLOAD_CLUSTERS_ROLE } from './workload-access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
/** By which Cluster API's controller and OpenShift's elect their leaders. */
export const OTHER_LEASES: readonly string[] = ['controller-leader-election-capi', 'cluster-api-provider-healthcheck-leader'];
export const OTHER_DEPLOYMENTS: readonly string[] = ['capi-controller-manager', 'machine-api-controllers'];
const DEFINITIONS = [CLUSTER_API_GROUP, OPENSHIFT_GROUP].flatMap((group) => [`machinehealthchecks.${group}`, `machines.${group}`]);
const GROUPS = [CLUSTER_API_GROUP, OPENSHIFT_GROUP];
/** Requests and templates that we serve, and those of metal3. */
const REMEDIATIONS = [NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION, metal3Remediations(METAL3_REMEDIATION_VERSIONS[0])];

/** By which it is told whether another controller drives them. */
export const HEALTH_CHECK_DRIVER_RULES: Role['rules'] = [
  { ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']), resourceNames: DEFINITIONS },
  { ...rule('apps', ['deployments'], ['list']), resourceNames: [...OTHER_DEPLOYMENTS] },
  { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: [...OTHER_LEASES] },
];

function clusterRole(name: string, rules: Role['rules']): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules };
}

const CHECKS_ROLE = clusterRole('nodefence-health-checks', [
  ...GROUPS.flatMap((group) => [
    rule(group, ['machinehealthchecks'], WATCH),
    rule(group, ['machinehealthchecks/status'], ['patch']),
    rule(group, ['machines'], READ),
  ]),
  // Label and owner, by which clusterctl finds it.
  rule(CLUSTER_API_GROUP, ['machinehealthchecks'], ['patch']),
  rule(CLUSTER_API_GROUP, ['clusters'], WATCH),
  rule(CLUSTER_API_GROUP, ['machines/status'], ['patch']),
  // OpenShift: the request to power-cycle is an annotation, and a Machine without a template is deleted for its owner to make another.
  rule(OPENSHIFT_GROUP, ['machines'], ['patch', 'delete']),
  ...REMEDIATIONS.flatMap(({ requests, templates }) => [
    rule(requests.group, [requests.plural], [...WATCH, 'create', 'delete']),
    rule(templates.group, [templates.plural], WATCH),
  ]),
  ...HEALTH_CHECK_DRIVER_RULES,
]);

/** Installed beside the rest where MachineHealthChecks are ours (`kubectl apply -k config/machine-health-check`). */
export const HEALTH_CHECK_ACCESS: readonly (Role | Binding)[] = [CHECKS_ROLE, binding(CHECKS_ROLE), WORKLOAD_CLUSTERS_ROLE];
