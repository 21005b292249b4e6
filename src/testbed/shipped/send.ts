import type { ApiTransport } from '../../ports/api-transport.ts';
import { shippedIn } from './manifests.ts';
import type { ShippedObject } from './manifests.ts';

const DEADLINE_MS = 10_000;
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** Where the shipped kinds are created. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ClusterRole: `${RBAC}/clusterroles`,
  ClusterRoleBinding: `${RBAC}/clusterrolebindings`,
  Role: `${RBAC}/namespaces/NAMESPACE/roles`,
  RoleBinding: `${RBAC}/namespaces/NAMESPACE/rolebindings`,
  Service: '/api/v1/namespaces/NAMESPACE/services',
  ServiceAccount: '/api/v1/namespaces/NAMESPACE/serviceaccounts',
  ValidatingAdmissionPolicy: `${ADMISSION}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${ADMISSION}/validatingadmissionpolicybindings`,
  MutatingAdmissionPolicy: `${ADMISSION}/mutatingadmissionpolicies`,
  MutatingAdmissionPolicyBinding: `${ADMISSION}/mutatingadmissionpolicybindings`,
};

/** Sends what these folders of config/ hold, each object as it stands in its file; what the server has already is left as it is. `without`: kinds that it does not serve. */
export async function sendShipped(transport: ApiTransport, folders: readonly string[], without: readonly string[] = []): Promise<void> {
  for (const folder of folders) for (const object of shippedIn(folder)) if (!without.includes(object.kind)) await send(transport, object);
}

async function send(transport: ApiTransport, { kind, name, namespace = 'default', text }: ShippedObject): Promise<void> {
  const path = COLLECTIONS[kind]?.replace('NAMESPACE', namespace);
  if (path === undefined) throw new Error(`nobody knows where ${kind} ${name} belongs`);
  const response = await transport.request({ method: 'POST', path, body: text, contentType: 'application/yaml', deadlineMs: DEADLINE_MS });
  if (response.status < 300 || response.status === 409) return;
  throw new Error(`${kind} ${name} was refused (${response.status}): ${JSON.stringify(response.body)}`);
}
