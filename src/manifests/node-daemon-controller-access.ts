import { CONTROLLERS_TOLD, EXCHANGE_KEY_SECRET } from '../domain/node-daemon/controllers.ts';
import { binding, LABELS, NAMESPACE, rule } from './access.ts';
import type { Binding, Role } from './access.ts';

/** To tell node daemons of the controllers and of their peers, and to end grants; with `--node-daemons` only. */
const NODE_DAEMON_CONTROLLER_ROLE: Role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'nodefence-node-daemon-controller', namespace: NAMESPACE, labels: LABELS },
  rules: [
    // A name cannot be asked for where an object is made.
    rule('', ['configmaps', 'secrets'], ['create']),
    { ...rule('', ['configmaps'], ['patch']), resourceNames: [CONTROLLERS_TOLD] },
    { ...rule('', ['secrets'], ['patch']), resourceNames: [EXCHANGE_KEY_SECRET] },
    // The attestations, each named after its node; those of nodes that are gone are removed.
    rule('coordination.k8s.io', ['leases'], ['patch', 'delete']),
  ],
};

/** Installed beside the rest where node daemons run (`kubectl apply -k config/node-daemon-controller`). */
export const NODE_DAEMON_CONTROLLER_ACCESS: readonly (Role | Binding)[] = [NODE_DAEMON_CONTROLLER_ROLE, binding(NODE_DAEMON_CONTROLLER_ROLE)];
