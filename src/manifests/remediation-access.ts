import { NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION } from '../ports/remediation.ts';
import { binding, LABELS, READ, rule } from './access.ts';
import type { Binding, Role } from './access.ts';
import { WORKLOAD_CLUSTERS_ROLE } from './workload-access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
const KINDS = [NODE_FENCE_REMEDIATION, PROPOSED_REMEDIATION];

function clusterRole(name: string, rules: Role['rules'], labels: Readonly<Record<string, string>> = {}): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name, labels: { ...LABELS, ...labels } }, rules };
}

/** Requests are followed and told how far they are; never made or deleted. */
const REMEDIATION_ROLE = clusterRole('nodefence-remediation', [
  ...KINDS.flatMap(({ requests, templates }) => [
    rule(requests.group, [requests.plural, templates.plural], [...READ, 'patch']),
    rule(requests.group, [`${requests.plural}/status`], ['patch']),
  ]),
  // Whose Machine it is, whether it is paused, and that it was remediated.
  rule('cluster.x-k8s.io', ['clusters'], ['get']),
  rule('cluster.x-k8s.io', ['machines'], ['get', 'patch']),
  rule('cluster.x-k8s.io', ['machines/status'], ['patch']),
  rule('machine.openshift.io', ['machines'], ['get', 'patch']),
  // onExhaustion: Retire.
  rule('infrastructure.cluster.x-k8s.io', ['metal3machines'], ['get']),
  rule('metal3.io', ['baremetalhosts'], ['get', 'patch']),
  // nodeRemoval: DeleteNode.
  rule('', ['nodes'], ['delete']),
]);

const OWN_KINDS = [NODE_FENCE_REMEDIATION.requests.plural, NODE_FENCE_REMEDIATION.templates.plural];
const MAKE = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** What health checks need to make requests from templates; each finds the role by its own label. */
const REQUESTER_ROLES = [
  clusterRole('nodefence-remediation-cluster-api', [rule(NODE_FENCE_REMEDIATION.requests.group, OWN_KINDS, MAKE)], {
    'cluster.x-k8s.io/aggregate-to-manager': 'true',
  }),
  // NodeHealthCheck of medik8s, and the MachineHealthCheck of OpenShift.
  clusterRole(
    'nodefence-remediation-medik8s',
    [
      rule(NODE_FENCE_REMEDIATION.templates.group, [NODE_FENCE_REMEDIATION.templates.plural], READ),
      rule(NODE_FENCE_REMEDIATION.requests.group, [NODE_FENCE_REMEDIATION.requests.plural], MAKE),
    ],
    { 'rbac.ext-remediation/aggregate-to-ext-remediation': 'true' },
  ),
];

/** Requests are no secret: whoever may look at the cluster sees them. */
const VIEW_ROLE = clusterRole('nodefence-remediation-view', [rule(NODE_FENCE_REMEDIATION.requests.group, OWN_KINDS, READ)], {
  [`${AUTHORIZATION}/aggregate-to-view`]: 'true',
});

/** Installed beside the rest where health checks drive remediation (`kubectl apply -k config/remediation`). */
export const REMEDIATION_ACCESS: readonly (Role | Binding)[] = [
  REMEDIATION_ROLE,
  binding(REMEDIATION_ROLE),
  ...REQUESTER_ROLES,
  VIEW_ROLE,
  WORKLOAD_CLUSTERS_ROLE,
];
