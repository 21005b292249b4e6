import { LEADER_LEASE } from '../../manager/composition.ts';
import { HOST_DEFINITIONS, HOSTS_NAMESPACE } from '../../testbed/operators/host-fleet.ts';
import { CONTROLLER_ACCOUNT, MEDIK8S_LEASE_NAMESPACE, NAMESPACE } from '../../manifests/access.ts';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import { WORKLOAD_ROLE } from '../../manifests/workload-access.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import { CONFIG_MAPS, NODE_FENCES, NODE_LEASE_NAMESPACE, SECRETS } from '../../ports/resources.ts';
import { sendShipped } from '../../testbed/shipped/send.ts';
import type { ClusterSession } from './cluster-session.ts';
import type { fenceConfiguration } from './scene-configuration.ts';

const DEADLINE_MS = 10_000;

/** Folders of config/ that every controller needs that runs beside the cluster. */
const SHIPPED = ['crd', 'rbac'];
/** Of what preservation takes beside: Machines, and the rights to see them; in its own hands also those to keep them. */
const OBSERVED = ['machine-crd', 'preservation-observe'];
const OWN = ['machine-crd', 'preservation-own'];

/**
 * A cluster that was made a moment ago has no leader who could believe in a Lease that is gone. The administrator, who knows it, leaves one that
 * is free; without it the first controller waits a whole lease.
 */
const FREE_LEASE: KubeObject & Pick<Lease, 'spec'> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: LEADER_LEASE, namespace: NAMESPACE },
  spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 },
};

/** The operator's access to a cluster, and the nodes that Machines stand for there. */
export type Installed = Pick<ClusterSession, 'transport' | 'cluster'> &
  Partial<Pick<ClusterSession, 'fleet' | 'manager' | 'hosts' | 'kdump' | 'hasRemedies'>>;

/** Installs folders of config/, in this order. */
export type Installer = (folders: readonly string[]) => Promise<void>;

/** Paths of what the drill brings itself. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  Lease: '/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/rolebindings',
};

/**
 * Installs what ships, as the README says for a controller beside the cluster: `kubectl apply -k config/crd` and `config/rbac`, and the folders of
 * what is played. Without an `installer` the same files are sent as bodies of YAML.
 */
export async function install(session: Installed, installer: Installer = (folders) => sendShipped(session.transport, folders)): Promise<void> {
  const { hosts, kdump, fleet = [] } = session;
  for (const name of ['default', 'kube-system', NODE_LEASE_NAMESPACE, ...(hosts === undefined ? [] : [MEDIK8S_LEASE_NAMESPACE])]) {
    await post(session.transport, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const definition of hosts === undefined ? [] : HOST_DEFINITIONS) await post(session.transport, definition);
  const preservation = fleet.length === 0 ? [] : session.manager === undefined ? OWN : OBSERVED;
  await installer([
    ...SHIPPED,
    ...preservation,
    ...(hosts?.folders ?? []),
    ...(kdump === undefined ? [] : ['kdump']),
    ...(session.hasRemedies === true ? ['remedies'] : []),
  ]);
  await established(session);
  await post(session.transport, FREE_LEASE);
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
      // Its paths are installed one after the other: until then a 404 that names nothing comes back.
      const isStarting = error instanceof ApiStatusError || (error instanceof TransportError && error.kind === 'garbled');
      if (!isStarting || tries >= 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
