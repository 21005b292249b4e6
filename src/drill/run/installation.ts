import { HOST_DEFINITIONS, HOSTS_NAMESPACE } from '../fleet/host-fleet.ts';
import { CONTROLLER_ACCOUNT, MEDIK8S_LEASE_NAMESPACE, NAMESPACE } from '../../manifests/access.ts';
import { MANIFEST_FILES, OPTIONAL_FILES } from '../../manifests/installation.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { WORKLOAD_ROLE } from '../../manifests/workload-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { CONFIG_MAPS, NODE_FENCES, NODE_LEASE_NAMESPACE, SECRETS } from '../../ports/resources.ts';
import type { ClusterSession } from './cluster-session.ts';
import type { fenceConfiguration } from './scene-configuration.ts';

const DEADLINE_MS = 10_000;

/** Folders of what preservation takes beside: Machines, and the rights to see them; in its own hands also those to keep them. */
const OBSERVED: readonly string[] = ['machine-crd/', 'preservation-observe/'];
const OWN = [...OBSERVED, 'preservation-own/'];

/** The operator's access to a cluster, and the nodes that Machines stand for there. */
export type Installed = Pick<ClusterSession, 'transport' | 'cluster'> & Partial<Pick<ClusterSession, 'fleet' | 'manager' | 'hosts'>>;

/** Paths of the kinds that the manifests contain. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/rolebindings',
  ServiceAccount: '/api/v1/namespaces/NAMESPACE/serviceaccounts',
};

/** Applies the shipped CRDs and RBAC, as `kubectl apply -k config/enforce` would, without the Deployment: the drill starts the controller itself. */
export async function install(session: Installed): Promise<void> {
  const { hosts, fleet = [] } = session;
  for (const name of ['default', 'kube-system', NODE_LEASE_NAMESPACE, ...(hosts === undefined ? [] : [MEDIK8S_LEASE_NAMESPACE])]) {
    await post(session.transport, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  const preservation = fleet.length === 0 ? [] : session.manager === undefined ? OWN : OBSERVED;
  const wanted = [...preservation, ...(hosts?.folders ?? [])];
  const files = [...MANIFEST_FILES, ...OPTIONAL_FILES.filter(({ path }) => wanted.some((folder) => path.startsWith(folder)))];
  const shipped = files.flatMap((file) => file.objects as readonly KubeObject[]);
  const objects = [...(hosts === undefined ? [] : HOST_DEFINITIONS), ...shipped].filter((object) => COLLECTIONS[object.kind ?? ''] !== undefined);
  for (const object of objects) await post(session.transport, object);
  await established(session);
}

/** Loads the ConfigMaps and Secrets that say how nodes are fenced. */
export async function configure(session: ClusterSession, configuration: ReturnType<typeof fenceConfiguration>): Promise<void> {
  for (const secret of configuration.secrets) await session.cluster.create(SECRETS, secret);
  for (const configMap of configuration.configMaps) await session.cluster.create(CONFIG_MAPS, configMap);
}

/** What an administrator does where Clusters are: the controller may look whether their Nodes are behind a kubeconfig. */
export async function bindWorkloads({ transport }: Pick<Installed, 'transport'>): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: WORKLOAD_ROLE, namespace: HOSTS_NAMESPACE },
    roleRef: { apiGroup, kind: 'ClusterRole', name: WORKLOAD_ROLE },
    subjects: [{ kind: 'ServiceAccount', name: CONTROLLER_ACCOUNT, namespace: NAMESPACE }],
  };
  await post(transport, binding);
}

async function post(transport: ApiTransport, object: KubeObject): Promise<void> {
  const path = (COLLECTIONS[object.kind ?? ''] ?? '').replace('NAMESPACE', object.metadata.namespace ?? 'default');
  const response = await transport.request({ method: 'POST', path, body: object, deadlineMs: DEADLINE_MS });
  if (response.status >= 300 && response.status !== 409) {
    throw new Error(`${object.kind} ${object.metadata.name} was refused (${response.status}): ${JSON.stringify(response.body)}`);
  }
}

async function established(session: Installed): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await session.cluster.list(NODE_FENCES);
      return;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || tries >= 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
