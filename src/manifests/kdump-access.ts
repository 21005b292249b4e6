import { KDUMP_LEASE } from '../domain/kdump/record.ts';
import { binding, LABELS, NAMESPACE, rule } from './access.ts';
import type { Binding, Role } from './access.ts';

const PORT = 7_410;
/** On the node's own network the usual 8080 may be somebody else's. */
const HTTP_PORT = 7_409;
const POD = '/spec/template/spec';
const CONTAINER = `${POD}/containers/0`;

/** To tell the other replicas what was heard; with `--kdump-address` only. The Lease is made by a right that every controller has. */
const KDUMP_ROLE: Role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'nodefence-kdump', namespace: NAMESPACE, labels: LABELS },
  rules: [{ ...rule('coordination.k8s.io', ['leases'], ['patch']), resourceNames: [KDUMP_LEASE] }],
};

/** Installed beside the rest where dumps are waited for (`kubectl apply -k config/kdump`). */
export const KDUMP_ACCESS: readonly (Role | Binding)[] = [KDUMP_ROLE, binding(KDUMP_ROLE)];

/** In the Deployment of the controllers: on the node's own network, because any Service may hide who sent a message. */
export const HEARING_KDUMP = [
  { op: 'add', path: `${POD}/hostNetwork`, value: true },
  { op: 'add', path: `${POD}/dnsPolicy`, value: 'ClusterFirstWithHostNet' },
  { op: 'replace', path: `${CONTAINER}/ports/0/containerPort`, value: HTTP_PORT },
  ...['--http-address', `:${HTTP_PORT}`, '--kdump-address', `:${PORT}`].map((value) => ({ op: 'add', path: `${CONTAINER}/args/-`, value })),
  { op: 'add', path: `${CONTAINER}/ports/-`, value: { name: 'kdump', containerPort: PORT, protocol: 'UDP' } },
];
