import { REMEDY_ACCOUNT } from '../controllers/remedies/job/spec.ts';
import type { KubeObject } from '../ports/objects.ts';
import { binding, LABELS, NAMESPACE, rule, WATCH } from './access.ts';
import type { Binding, Role } from './access.ts';

/** To run remedies as Jobs: a folder of its own, for whoever creates pods may use any account of that namespace. */
const REMEDIES_ROLE: Role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'nodefence-remedies', namespace: NAMESPACE, labels: LABELS },
  rules: [rule('batch', ['jobs'], ['create', 'get', ...WATCH, 'delete']), rule('', ['pods/log'], ['get'])],
};

/** Of remedy pods that name no account: without any right. */
const ACCOUNT: KubeObject & { automountServiceAccountToken: boolean } = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: REMEDY_ACCOUNT, namespace: NAMESPACE, labels: LABELS },
  automountServiceAccountToken: false,
};

/** Installed beside the rest where remedies run pods (`kubectl apply -k config/remedies`). */
export const REMEDIES_ACCESS: readonly (Role | Binding | KubeObject)[] = [REMEDIES_ROLE, binding(REMEDIES_ROLE), ACCOUNT];
