import { NODE_ACCOUNT, TOKEN_SECONDS_MAX } from '../domain/node-daemon/account.ts';
import type { KubeObject } from '../ports/objects.ts';
import { LABELS, NAMESPACE, rule } from './access.ts';
import type { Role } from './access.ts';
import { FORBIDDEN, guard, resourceRules } from './guard.ts';
import { BOUND_NODE, IS_DAEMON } from './node-daemon-access.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
const NAME = 'nodefence-node-token';
const POD_NAME = 'authentication.kubernetes.io/pod-name';

const ROLE: Role = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'Role',
  metadata: { name: NAME, namespace: NAMESPACE, labels: LABELS },
  // For which node, and for how long, is decided by the policy below.
  rules: [{ ...rule('', ['serviceaccounts/token'], ['create']), resourceNames: [NODE_ACCOUNT] }],
};

const BINDING: KubeObject & { roleRef: object; subjects: object[] } = {
  apiVersion: `${AUTHORIZATION}/v1`,
  kind: 'RoleBinding',
  metadata: { name: NAME, namespace: NAMESPACE, labels: LABELS },
  roleRef: { apiGroup: AUTHORIZATION, kind: ROLE.kind, name: NAME },
  subjects: [{ kind: 'ServiceAccount', name: NODE_ACCOUNT, namespace: NAMESPACE }],
};

/** Whoever has the token of one node gets none of another node, none that is bound to nothing, and none that outlives a pod. */
export const NODE_TOKEN_GUARD: readonly KubeObject[] = guard(NAME, {
  matchConstraints: { resourceRules: [resourceRules('', ['serviceaccounts/token'], ['CREATE'])] },
  matchConditions: [{ name: 'by-a-daemon', expression: IS_DAEMON }],
  variables: [
    BOUND_NODE,
    // Where nothing is known of a token, its node is not either.
    { name: 'isOfPod', expression: `'${POD_NAME}' in request.userInfo.extra` },
    { name: 'kind', expression: "object.spec.?boundObjectRef.kind.orValue('')" },
    { name: 'bound', expression: "object.spec.?boundObjectRef.name.orValue('')" },
  ],
  validations: [
    {
      expression: "variables.node != '' && variables.kind == 'Node' && variables.bound == variables.node",
      message: "a node's daemon gets a token that is bound to its own Node only, by one that is bound to it",
      ...FORBIDDEN,
    },
    {
      expression: '!variables.isOfPod',
      message: "a daemon in a pod gets no token: its kubelet renews the pod's, which ends with the pod",
      ...FORBIDDEN,
    },
    {
      expression: `object.spec.?expirationSeconds.orValue(0) <= ${TOKEN_SECONDS_MAX}`,
      message: `a node's daemon gets no token for longer than ${TOKEN_SECONDS_MAX} s`,
      ...FORBIDDEN,
    },
  ],
});

/** For daemons by systemd, which no kubelet gives a token (`kubectl apply -k config/node-daemon-token`). */
export const NODE_TOKEN_ACCESS: readonly KubeObject[] = [ROLE, BINDING];
