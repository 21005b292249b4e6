import { AUTHORSHIP_GUARD } from '../ports/authorship.ts';
import { CLUSTER_API_GROUP } from '../ports/cluster-api.ts';
import { METAL3_REMEDIATION_VERSIONS, metal3Remediations } from '../ports/metal3.ts';
import type { KubeObject } from '../ports/objects.ts';
import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../ports/remediation.ts';
import { GROUP, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_REPORTS, NODE_FENCE_STOPS, NODE_FENCES, NODE_LEASE_NAMESPACE } from '../ports/resources.ts';

export const NAMESPACE = 'nodefence-system';
export const CONTROLLER_ACCOUNT = 'nodefence-controller';
/** Where medik8s keeps a Lease for each node in hand. */
export const MEDIK8S_LEASE_NAMESPACE = 'medik8s-leases';
const CLUSTER_ROLE = 'nodefence-controller';
const NAMESPACE_ROLE = 'nodefence-controller';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

export interface Role extends KubeObject {
  kind: 'ClusterRole' | 'Role';
  rules: Rule[];
}

export interface Binding extends KubeObject {
  kind: 'ClusterRoleBinding' | 'RoleBinding';
  roleRef: { apiGroup: string; kind: Role['kind']; name: string };
  subjects: { kind: 'ServiceAccount'; name: string; namespace: string }[];
}

const AUTHORIZATION = 'rbac.authorization.k8s.io';
export const LABELS = { 'app.kubernetes.io/name': 'nodefence', 'app.kubernetes.io/part-of': 'nodefence' };
/** What a watch takes. */
export const WATCH = ['list', 'watch'];
/** And a look at one object. */
export const READ = ['get', ...WATCH];

const PARTS = [NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION, metal3Remediations(METAL3_REMEDIATION_VERSIONS[0])];
const OWN_KINDS = [
  ...[NODE_FENCES, NODE_FENCE_STOPS, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_REPORTS],
  ...PARTS.flatMap(({ requests, templates }) => [requests, templates]),
];
/** The names of all definitions that this program can have installed. */
export const OWN_DEFINITIONS: readonly string[] = [
  ...OWN_KINDS.map(({ plural, group }) => `${plural}.${group}`),
  `machinehealthchecks.${CLUSTER_API_GROUP}`,
];

/** These verbs on these resources of one group. */
export function rule(apiGroup: string, resources: string[], verbs: string[]): Rule {
  return { apiGroups: [apiGroup], resources, verbs };
}

/** To see whether the guard of authors stands. */
export const AUTHORSHIP_RULES: readonly Rule[] = [
  {
    ...rule('admissionregistration.k8s.io', ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'], ['get']),
    resourceNames: [AUTHORSHIP_GUARD],
  },
];

/** Whether another installation leads, in whatever namespace. */
export const LEADER_LEASE_RULE: Rule = { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: ['nodefence-controller'] };

/** Whether there are Leases of medik8s to be honoured. */
export const MEDIK8S_RULE: Rule = { ...rule('', ['namespaces'], ['get']), resourceNames: [MEDIK8S_LEASE_NAMESPACE] };

/** What the controller may do in the whole cluster: exactly what fencing takes. */
export const CONTROLLER_CLUSTER_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: CLUSTER_ROLE, labels: LABELS },
  rules: [
    rule('', ['nodes'], [...READ, 'patch']),
    rule('', ['pods'], [...WATCH, 'delete']),
    rule('', ['pods/eviction'], ['create']),
    // On which storage a pod's volumes are, once a storage was revoked.
    rule('', ['persistentvolumeclaims', 'persistentvolumes'], ['get']),
    rule('', ['events'], ['create', 'patch']),
    rule('storage.k8s.io', ['volumeattachments'], [...WATCH, 'delete']),
    // Who else has a node in hand, where they are installed.
    rule('nodemaintenance.medik8s.io', ['nodemaintenances'], ['list']),
    { ...rule('apps', ['daemonsets'], ['get']), resourceNames: ['kured'] },
    LEADER_LEASE_RULE,
    MEDIK8S_RULE,
    // Whether they are as this program writes by.
    { ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']), resourceNames: [...OWN_DEFINITIONS] },
    rule(GROUP, ['nodefences'], [...READ, 'create', 'patch', 'delete']),
    rule(GROUP, ['nodefences/status'], ['update']),
    // Those of Nodes that are gone are removed in the end.
    rule(GROUP, ['nodefencereports'], [...READ, 'create', 'delete']),
    rule(GROUP, ['nodefencereports/status'], ['update']),
    // A person's words: read, and an acknowledgement deleted once it is settled and its incident over; never written by the controller.
    rule(GROUP, ['nodefencestops'], WATCH),
    rule(GROUP, ['nodefenceacknowledgements'], [...READ, 'delete']),
    rule(GROUP, ['nodefenceacknowledgements/status'], ['update']),
  ],
};

/** To honour and to take such a Lease, where there is that namespace: a folder of its own, for it cannot be installed where there is none. */
const NODE_LEASE_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: 'nodefence-node-leases', namespace: MEDIK8S_LEASE_NAMESPACE, labels: LABELS },
  rules: [rule('coordination.k8s.io', ['leases'], [...READ, 'create', 'patch', 'delete'])],
};

/** The heartbeats of kubelets. */
const HEARTBEAT_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: 'nodefence-heartbeats', namespace: NODE_LEASE_NAMESPACE, labels: LABELS },
  rules: [rule('coordination.k8s.io', ['leases'], READ)],
};

/** Configuration, credentials and the leader's lease: in our own namespace only. */
const OWN_NAMESPACE_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: NAMESPACE_ROLE, namespace: NAMESPACE, labels: LABELS },
  rules: [
    rule('', ['configmaps'], WATCH),
    rule('', ['secrets'], READ),
    rule('coordination.k8s.io', ['leases'], [...READ, 'create']),
    { ...rule('coordination.k8s.io', ['leases'], ['update']), resourceNames: ['nodefence-controller'] },
    // A replica that does not lead says there that it could.
    { ...rule('coordination.k8s.io', ['leases'], ['patch']), resourceNames: ['nodefence-candidates'] },
  ],
};

/** To run an agent as a Job, where somebody wants that: a folder of its own, for whoever creates pods may use any account of that namespace. */
const JOBS_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: 'nodefence-jobs', namespace: NAMESPACE, labels: LABELS },
  rules: [rule('batch', ['jobs'], ['create', 'get', 'list', 'delete']), rule('', ['pods/log'], ['get'])],
};

/** For `agent_name=metal3` where its hosts are described in this cluster: a folder of its own, for whoever patches a BareMetalHost reboots machines. */
const METAL3_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-metal3', labels: LABELS },
  rules: [
    rule('metal3.io', ['baremetalhosts'], ['get', 'list', 'patch']),
    // Which host is whose, where no providerID tells.
    rule('cluster.x-k8s.io', ['machines'], ['get']),
    rule('machine.openshift.io', ['machines'], ['get']),
    rule('infrastructure.cluster.x-k8s.io', ['metal3machines'], ['get']),
  ],
};

/** For `agent_name=ceph` by csi-addons. */
const CEPH_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-ceph', labels: LABELS },
  rules: [rule('csiaddons.openshift.io', ['networkfences'], ['get', 'create', 'patch'])],
};

/** Addresses of the API servers themselves: who reaches none of them judges nobody. */
const API_PEERS_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: 'nodefence-api-peers', namespace: 'default', labels: LABELS },
  rules: [rule('discovery.k8s.io', ['endpointslices'], ['list'])],
};

/** Gives a role to the controller's account, where the role is. */
export function binding(role: Role): Binding {
  const isCluster = role.kind === 'ClusterRole';
  return {
    apiVersion: `${AUTHORIZATION}/v1`,
    kind: isCluster ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { ...role.metadata },
    roleRef: { apiGroup: AUTHORIZATION, kind: role.kind, name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: CONTROLLER_ACCOUNT, namespace: NAMESPACE }],
  };
}

/** Whether the author that an acknowledgement names is whom the API server authenticated: comes with the guard, for without one it is not asked for. */
const AUTHORSHIP_ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-authorship', labels: LABELS },
  rules: [...AUTHORSHIP_RULES],
};

/** Installed with the guards of authors (`kubectl apply -k config/guards`). */
export const AUTHORSHIP_ACCESS: readonly (Role | Binding)[] = [AUTHORSHIP_ROLE, binding(AUTHORSHIP_ROLE)];

function bound(roles: readonly Role[]): (Role | Binding)[] {
  return roles.flatMap((role) => [role, binding(role)]);
}

/** Roles and bindings of the controller's service account in the cluster and in its own namespace. */
export const OWN_ACCESS: readonly (Role | Binding)[] = bound([CONTROLLER_CLUSTER_ROLE, OWN_NAMESPACE_ROLE]);

/** And in namespaces of others; by themselves for whatever installs no roles there (`kubectl apply -k config/other-namespaces`). */
export const ELSEWHERE_ACCESS: readonly (Role | Binding)[] = bound([HEARTBEAT_ROLE, API_PEERS_ROLE]);

/** All that the controller's account has wherever it is installed. */
export const CONTROLLER_ACCESS: readonly (Role | Binding)[] = [...OWN_ACCESS, ...ELSEWHERE_ACCESS];

/** Installed beside the above where medik8s is (`kubectl apply -k config/medik8s`). */
export const NODE_LEASE_ACCESS: readonly (Role | Binding)[] = [NODE_LEASE_ROLE, binding(NODE_LEASE_ROLE)];

/** Installed beside the above where a method has `agent_name=job` (`kubectl apply -k config/jobs`). */
export const JOB_ACCESS: readonly (Role | Binding)[] = [JOBS_ROLE, binding(JOBS_ROLE)];

/** Installed beside the above where a method has `agent_name=metal3` and no kubeconfig of its own (`kubectl apply -k config/metal3`). */
export const METAL3_ACCESS: readonly (Role | Binding)[] = [METAL3_ROLE, binding(METAL3_ROLE)];

/** Installed beside the above where a method has `agent_name=ceph` with `via=networkfence` (`kubectl apply -k config/ceph`). */
export const CEPH_ACCESS: readonly (Role | Binding)[] = [CEPH_ROLE, binding(CEPH_ROLE)];
