import { CLUSTER_API_GROUP, OPENSHIFT_GROUP } from '../ports/cluster-api.ts';
import { METAL3_REMEDIATION_VERSIONS, metal3Remediations } from '../ports/metal3.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../ports/remediation.ts';
import { GROUP, NODE_LEASE_NAMESPACE } from '../ports/resources.ts';
import { AUTHORSHIP_RULES, LABELS, LEADER_LEASE_RULE, MEDIK8S_LEASE_NAMESPACE, MEDIK8S_RULE, NAMESPACE, OWN_DEFINITIONS } from './access.ts';
import type { Role } from './access.ts';
import { HEALTH_CHECK_DRIVER_RULES } from './health-check-access.ts';

/** Name of the ClusterRole, and of the Roles in the namespaces of what they read, for the people who watch over fences. */
export const OPERATOR_ROLE = 'nodefence-operator';
/** And of the ClusterRole for those who acknowledge and ask for fences. */
export const FENCER_ROLE = 'nodefence-fencer';

const READ = ['get', 'list', 'watch'];
const REMEDIATIONS = [NODE_FENCE_REMEDIATION.requests, PROPOSED_REMEDIATION.requests, metal3Remediations(METAL3_REMEDIATION_VERSIONS[0]).requests];
const AUTHORIZATION = 'rbac.authorization.k8s.io';
const OWN_KINDS = ['nodefences', 'nodefencereports', 'nodefencestops', 'nodefenceacknowledgements'];

/** Fences are no secret: whoever may look at the cluster sees them. */
const VIEW_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-view', labels: { ...LABELS, [`${AUTHORIZATION}/aggregate-to-view`]: 'true' } },
  rules: [{ apiGroups: [GROUP], resources: OWN_KINDS, verbs: READ }, ...AUTHORSHIP_RULES],
};

/** What `status`, `explain`, `plan`, `stop` and `resume` take: to look and to stop; never to have a machine fenced, nor its workload released. Bound by an administrator. */
const OPERATOR_CLUSTER_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: OPERATOR_ROLE, labels: LABELS },
  rules: [
    { apiGroups: [GROUP], resources: OWN_KINDS, verbs: READ },
    { apiGroups: [GROUP], resources: ['nodefencestops'], verbs: ['create', 'delete'] },
    // Its spec alone, in which a person lets a node be fenced again: the status is a resource of its own.
    { apiGroups: [GROUP], resources: ['nodefencereports'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['nodes', 'pods'], verbs: READ },
    { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: READ },
    LEADER_LEASE_RULE,
    MEDIK8S_RULE,
    ...AUTHORSHIP_RULES,
    // Whether they are as this program writes by.
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get'], resourceNames: [...OWN_DEFINITIONS] },
    // Who drives health checks, and who else has a node, where these are installed.
    ...HEALTH_CHECK_DRIVER_RULES,
    ...REMEDIATIONS.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: ['list'] })),
    ...[CLUSTER_API_GROUP, OPENSHIFT_GROUP].map((group) => ({ apiGroups: [group], resources: ['machines', 'machinehealthchecks'], verbs: ['list'] })),
  ],
};

/**
 * Beside the operator's: to acknowledge that a machine is down, by which its workload is released, and to ask for a fence. A wrong word loses data: an
 * administrator of namespaces has it not.
 */
const FENCER_CLUSTER_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: FENCER_ROLE, labels: LABELS },
  rules: [
    { apiGroups: [GROUP], resources: ['nodefenceacknowledgements'], verbs: ['create', 'delete'] },
    // Where config/remediation is installed.
    { apiGroups: [NODE_FENCE_REMEDIATION.requests.group], resources: [NODE_FENCE_REMEDIATION.requests.plural], verbs: ['create', 'delete'] },
  ],
};

/** Leases of one namespace are read there alone. */
function readerIn(namespace: string, rules: Role['rules']): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'Role', metadata: { name: OPERATOR_ROLE, namespace, labels: LABELS }, rules };
}

const LEASES = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };

/** The configuration, without Secrets, and what the controllers say of themselves. */
const OPERATOR_NAMESPACE_ROLE = readerIn(NAMESPACE, [
  { apiGroups: [''], resources: ['configmaps'], verbs: READ },
  { ...LEASES, verbs: READ },
  // By what the table of remedies decides.
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get'] },
]);

/** The heartbeats of kubelets. */
export const OPERATOR_HEARTBEAT_ROLE = readerIn(NODE_LEASE_NAMESPACE, [{ ...LEASES, verbs: ['get', 'list'] }]);

/** Whose a node is, where medik8s is: installed with the controller's own right there. */
export const OPERATOR_NODE_LEASE_ROLE = readerIn(MEDIK8S_LEASE_NAMESPACE, [{ ...LEASES, verbs: ['list'] }]);

/** Roles for people; who gets them is bound by an administrator. */
export const OPERATOR_ACCESS: readonly Role[] = [
  VIEW_ROLE,
  OPERATOR_CLUSTER_ROLE,
  FENCER_CLUSTER_ROLE,
  OPERATOR_NAMESPACE_ROLE,
  OPERATOR_HEARTBEAT_ROLE,
];
