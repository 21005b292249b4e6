import { MACHINE_GROUP, MACHINES } from '../ports/machines.ts';
import { GROUP } from '../ports/resources.ts';
import { binding, LABELS, READ, rule } from './access.ts';
import type { Binding, Role } from './access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
export const MACHINE_CRD = `${MACHINES.plural}.${MACHINE_GROUP}`;
/** How MCM calls its Deployment and the Leases by which it elects its leader. */
export const MANAGER_NAMES: readonly string[] = ['machine-controller-manager', 'machine-controller'];
const KINDS = ['machines', 'machinesets', 'machinedeployments'];

function clusterRole(name: string, rules: Role['rules']): Role {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules };
}

const MANAGER_RULES = [
  { ...rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get']), resourceNames: [MACHINE_CRD] },
  { ...rule('apps', ['deployments'], ['list']), resourceNames: [...MANAGER_NAMES] },
  { ...rule('coordination.k8s.io', ['leases'], ['list']), resourceNames: [...MANAGER_NAMES] },
];

/** What people see who may look: one Machine by its name too. */
const OBSERVE_RULES = [rule(MACHINE_GROUP, KINDS, READ), ...MANAGER_RULES];

/** Machines are watched, and whether an MCM is at work; in the cluster of the Machines. */
const OBSERVE_ROLE = clusterRole('nodefence-machines-observe', [rule(MACHINE_GROUP, KINDS, ['list', 'watch']), ...MANAGER_RULES]);

/** MCM's part, in the cluster of the Machines: annotations, phase and expiry, counts, and the end of a Machine that is proven off. */
const OWN_MACHINES_ROLE = clusterRole('nodefence-machines-own', [
  rule(MACHINE_GROUP, ['machines'], ['patch', 'delete']),
  rule('', ['events'], ['create', 'patch']),
  rule(
    MACHINE_GROUP,
    KINDS.map((kind) => `${kind}/status`),
    ['patch'],
  ),
]);

/** MCM's part on Nodes: the condition `Preserved`. Annotations, taint and cordon are in the rights of fencing already. */
const OWN_NODES_ROLE = clusterRole('nodefence-preservation-own', [rule('', ['nodes/status'], ['patch'])]);

/** Name of the ClusterRole of people who preserve. */
export const PRESERVER_ROLE = 'nodefence-preserver';

/** For people who preserve: the annotation on Nodes and Machines, the expiry of Machines. Bound by an administrator: who patches a Node can do much. */
const PRESERVER = clusterRole(PRESERVER_ROLE, [
  ...OBSERVE_RULES,
  rule(MACHINE_GROUP, ['machines', 'machines/status'], ['patch']),
  rule('', ['nodes'], [...READ, 'patch']),
  rule(GROUP, ['nodefences'], READ),
]);

/** Machines are no secret: whoever may look at the cluster sees what is preserved. */
const VIEW_ROLE: Role = {
  ...clusterRole('nodefence-machines-view', OBSERVE_RULES),
  metadata: { name: 'nodefence-machines-view', labels: { ...LABELS, [`${AUTHORIZATION}/aggregate-to-view`]: 'true' } },
};

/** Installed beside the rest where there are Machines (`kubectl apply -k config/preservation-observe`). */
export const PRESERVATION_OBSERVE_ACCESS: readonly (Role | Binding)[] = [OBSERVE_ROLE, binding(OBSERVE_ROLE), VIEW_ROLE, PRESERVER];

/** Installed beside the above where no MCM is and its part is ours (`kubectl apply -k config/preservation-own`, which has the above in it). */
export const PRESERVATION_OWN_ACCESS: readonly (Role | Binding)[] = [
  OWN_MACHINES_ROLE,
  binding(OWN_MACHINES_ROLE),
  OWN_NODES_ROLE,
  binding(OWN_NODES_ROLE),
];
