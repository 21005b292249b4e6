import { CLUSTER_API_GROUP, OPENSHIFT_GROUP } from '../ports/cluster-api.ts';
import { REQUEST } from '../controllers/machine-remediation/names.ts';
import { BARE_METAL_HOSTS, INFRASTRUCTURE_GROUP } from '../ports/metal3.ts';
import type { KubeObject } from '../ports/objects.ts';
import { FORBIDDEN, guard, resourceRules } from './guard.ts';
import { RESTORE } from './node-guard.ts';
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
/** Verb on Machines, of those who may write the request; only what `MACHINE_REMEDIATION_GUARD` installs asks for it. */
const REMEDIATE = 'remediate';

function clusterRole(name: string, rules: Role['rules']): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules };
}

const REMEDIATION_ROLE = clusterRole('nodefence-machine-remediation', [
  // The request and our marks are annotations; a Machine whose node does not come back is deleted for its owner to make another.
  ...GROUPS.map((group) => rule(group, ['machines'], [...READ, 'patch', 'delete', REMEDIATE])),
  // Until when a node may take to start.
  ...GROUPS.map((group) => rule(group, ['machinehealthchecks'], ['list'])),
  rule(CLUSTER_API_GROUP, ['clusters'], ['get']),
  rule(INFRASTRUCTURE_GROUP, ['metal3machines'], ['get']),
  rule(BARE_METAL_HOSTS.group, [BARE_METAL_HOSTS.plural], [...READ, 'patch']),
  // Also to give a Node that is registered anew the labels and annotations of the old one, which config/guards asks for.
  rule('', ['nodes'], ['delete', RESTORE]),
  { ...rule('apps', ['deployments'], ['list']), resourceNames: [...OTHER_DEPLOYMENTS, ...OPERATOR_DEPLOYMENTS] },
  { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: [...OTHER_LEASES, ...OPERATOR_LEASES] },
]);

/** For health checks and for named persons; who gets it is bound by an administrator. */
const REQUESTER_ROLE = clusterRole(
  'nodefence-machine-remediation-requester',
  GROUPS.map((group) => rule(group, ['machines'], ['get', 'patch', REMEDIATE])),
);

/** Installed beside the rest where Machines are remediated (`kubectl apply -k config/machine-remediation`). */
export const MACHINE_REMEDIATION_ACCESS: readonly (Role | Binding)[] = [REMEDIATION_ROLE, binding(REMEDIATION_ROLE), REQUESTER_ROLE];

const GUARD = 'nodefence-machine-remediation';

function stands(object: string): string {
  return `has(${object}.metadata.annotations) && '${REQUEST}' in ${object}.metadata.annotations`;
}

/**
 * RBAC knows no annotations: whoever may patch Machines may ask. With this nobody writes or takes away the request who has not the verb `remediate` on that
 * Machine. Kubernetes 1.30 and newer (`kubectl apply -k config/machine-remediation-guard`).
 */
export const MACHINE_REMEDIATION_GUARD: readonly (KubeObject & { spec: object })[] = guard(GUARD, {
  matchConstraints: { resourceRules: GROUPS.map((group) => resourceRules(group, ['machines'])) },
  variables: [
    { name: 'isAsked', expression: stands('object') },
    { name: 'wasAsked', expression: `oldObject != null && ${stands('oldObject')}` },
    {
      name: 'mayAsk',
      expression: `authorizer.group(request.resource.group).resource('machines').namespace(object.metadata.namespace).name(object.metadata.name).check('${REMEDIATE}').allowed()`,
    },
  ],
  validations: [
    {
      expression: 'variables.isAsked == variables.wasAsked || variables.mayAsk',
      message: `annotation ${REQUEST} switches the machine off: only who has the verb ${REMEDIATE} on it may write or remove it`,
      ...FORBIDDEN,
    },
  ],
});
