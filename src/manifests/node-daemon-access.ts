import { NODE_ACCOUNT } from '../domain/node-daemon/account.ts';
import { ATTESTATION, attestationName } from '../domain/node-daemon/attestation.ts';
import { CONTROLLERS_TOLD } from '../domain/node-daemon/controllers.ts';
import type { KubeObject } from '../ports/objects.ts';
import { LABELS, NAMESPACE, rule } from './access.ts';
import type { Role } from './access.ts';
import { FORBIDDEN, guard, isAccount, resourceRules, sameBut } from './guard.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
const GUARD = 'nodefence-node';

const ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: NODE_ACCOUNT, namespace: NAMESPACE, labels: LABELS },
  rules: [
    // Of which node is decided by the policy below: RBAC knows one account for all nodes.
    rule('coordination.k8s.io', ['leases'], ['get', 'create', 'patch']),
    { ...rule('', ['configmaps'], ['get']), resourceNames: [CONTROLLERS_TOLD] },
  ],
};

const BINDING: KubeObject & { roleRef: object; subjects: object[] } = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'RoleBinding',
  metadata: { name: NODE_ACCOUNT, namespace: NAMESPACE, labels: LABELS },
  roleRef: { apiGroup: AUTHORIZATION, kind: ROLE.kind, name: NODE_ACCOUNT },
  subjects: [{ kind: 'ServiceAccount', name: NODE_ACCOUNT, namespace: NAMESPACE }],
};

const ACCOUNT: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NODE_ACCOUNT, namespace: NAMESPACE, labels: LABELS } };

export const IS_DAEMON = isAccount(NODE_ACCOUNT);
const NODE_NAME = 'authentication.kubernetes.io/node-name';

/** The node on which the token is used; empty: nobody knows. */
export const BOUND_NODE = {
  name: 'node',
  expression: `has(request.userInfo.extra) && '${NODE_NAME}' in request.userInfo.extra ? request.userInfo.extra['${NODE_NAME}'][0] : ''`,
};

function unchanged(what: string): string {
  return `oldObject == null ? object.?metadata.${what}.orValue([]).size() == 0 : object.?metadata.${what} == oldObject.?metadata.${what}`;
}

/**
 * A daemon's token writes the attestation of that node, and of every other Lease nothing: whoever broke into one node must not speak for another, nor take
 * the controllers' Lease. Kubernetes 1.30 and newer; without it the daemon's account must not be used.
 */
export const NODE_DAEMON_GUARD: readonly KubeObject[] = guard(GUARD, {
  matchConstraints: {
    resourceRules: [resourceRules('coordination.k8s.io', ['leases'], ['CREATE', 'UPDATE', 'DELETE'])],
  },
  matchConditions: [{ name: 'by-a-daemon', expression: IS_DAEMON }],
  variables: [
    BOUND_NODE,
    { name: 'after', expression: 'object == null ? {} : object.?metadata.annotations.orValue({})' },
    { name: 'before', expression: 'oldObject == null ? {} : oldObject.?metadata.annotations.orValue({})' },
  ],
  validations: [
    {
      expression: `variables.node != '' && object != null && object.metadata.name == '${attestationName('')}' + variables.node`,
      message: "a node's daemon writes the attestation of its own node only; its token must be bound to that Node, or to a pod on it",
      ...FORBIDDEN,
    },
    {
      expression: sameBut(`key == '${ATTESTATION}'`, 'variables.after', 'variables.before'),
      message: `a node's daemon writes annotation ${ATTESTATION} only: peers and ended grants are the controller's`,
      ...FORBIDDEN,
    },
    {
      expression: ['finalizers', 'ownerReferences'].map((what) => `(${unchanged(what)})`).join(' && '),
      message: "a node's daemon changes no finalizers and no owners",
      ...FORBIDDEN,
    },
  ],
});

/** What daemons on nodes need, and what keeps each to its own node (`kubectl apply -k config/node-daemon`). */
export const NODE_DAEMON_ACCESS: readonly KubeObject[] = [ACCOUNT, ROLE, BINDING];
