import { NAMESPACE } from '../../manifests/access.ts';
import { CONTROLLER_USER } from '../run/cluster-session.ts';
import { RACKS } from './times.ts';

/** Who takes part, by the names that the network and the API server have for them. */
export const API = 'api';
export const CONTROLLERS = ['ctl-1', 'ctl-2'] as const;
export const NODES: readonly string[] = RACKS.map((_rack, index) => `worker-${String(index + 1)}`);
export const OPERATOR = 'operator';
export const CLUSTER_CONTROLLERS = 'system:kube-controller-manager';
export const DAEMON_USER = `system:serviceaccount:${NAMESPACE}:nodefence-node`;
const ACCOUNT_GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];

/** Folders of config/ that are installed; of what they hold, the embedded API server has no admission policies. */
export const SHIPPED = ['crd', 'rbac', 'node-daemon', 'node-daemon-controller'];
export const NOT_SERVED = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];

/** All that are in the network. */
export const EVERYBODY: readonly string[] = [API, ...CONTROLLERS, ...NODES];

/** Users of the API server, who have the rights that ship. */
export function usersOfDrill(token: (user: string) => string): { name: string; groups: string[]; token: string }[] {
  const masters = [OPERATOR, CLUSTER_CONTROLLERS, ...NODES.map((node) => `system:node:${node}`)];
  return [
    ...masters.map((name) => ({ name, groups: ['system:masters'], token: token(name) })),
    ...[CONTROLLER_USER, DAEMON_USER].map((name) => ({ name, groups: ACCOUNT_GROUPS, token: token(name) })),
  ];
}
