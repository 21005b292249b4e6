import { NODE_ACCOUNT } from '../domain/node-daemon/account.ts';
import { NODE_CONDITION_TYPES } from '../domain/node-daemon/conditions.ts';
import type { KubeObject } from '../ports/objects.ts';
import { LABELS, NAMESPACE, rule } from './access.ts';
import type { Role } from './access.ts';
import { FORBIDDEN, guard, resourceRules, sameBut, sameConditionsBut, sameMetadata } from './guard.ts';
import { BOUND_NODE, IS_DAEMON } from './node-daemon-access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
const NAME = 'nodefence-node-conditions';

const ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRole',
  metadata: { name: NAME, labels: LABELS },
  // Of which node, and what of it, is decided by the policy below.
  rules: [rule('', ['nodes/status'], ['patch'])],
};

const BINDING: KubeObject & { roleRef: object; subjects: object[] } = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: NAME, labels: LABELS },
  roleRef: { apiGroup: AUTHORIZATION, kind: ROLE.kind, name: NAME },
  subjects: [{ kind: 'ServiceAccount', name: NODE_ACCOUNT, namespace: NAMESPACE }],
};

/** A daemon writes five types of conditions of its own Node. A status update could change labels and annotations too. */
export const NODE_CONDITIONS_GUARD: readonly KubeObject[] = guard(NAME, {
  matchConstraints: {
    resourceRules: [resourceRules('', ['nodes', 'nodes/*'], ['CREATE', 'UPDATE', 'DELETE'])],
  },
  matchConditions: [{ name: 'by-a-daemon', expression: IS_DAEMON }],
  variables: [
    BOUND_NODE,
    { name: 'after', expression: 'object == null ? {} : object.?status.orValue({})' },
    { name: 'before', expression: 'oldObject == null ? {} : oldObject.?status.orValue({})' },
    { name: 'conditionsAfter', expression: 'object == null ? [] : object.?status.conditions.orValue([])' },
    { name: 'conditionsBefore', expression: 'oldObject == null ? [] : oldObject.?status.conditions.orValue([])' },
  ],
  validations: [
    {
      expression: "request.?subResource.orValue('') == 'status' && variables.node != '' && object != null && object.metadata.name == variables.node",
      message: "a node's daemon writes the status of its own Node only; its token must be bound to that Node, or to a pod on it",
      ...FORBIDDEN,
    },
    {
      expression: sameConditionsBut(NODE_CONDITION_TYPES, 'variables.conditionsAfter', 'variables.conditionsBefore'),
      message: `a node's daemon writes conditions ${NODE_CONDITION_TYPES.join(', ')} only`,
      ...FORBIDDEN,
    },
    {
      expression: sameBut("key == 'conditions'", 'variables.after', 'variables.before'),
      message: "a node's daemon changes nothing of the status but conditions",
      ...FORBIDDEN,
    },
    {
      expression: sameMetadata(['labels', 'annotations', 'finalizers', 'ownerReferences']),
      message: "a node's daemon changes no labels, annotations, finalizers and owners of its Node",
      ...FORBIDDEN,
    },
  ],
});

/** For daemons that run with `--conditions` (`kubectl apply -k config/node-daemon-conditions`). */
export const NODE_CONDITIONS_ACCESS: readonly KubeObject[] = [ROLE, BINDING];
