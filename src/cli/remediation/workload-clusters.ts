import type { WorkloadClusters } from '../../controllers/shared/remediation/place.ts';
import type { ConnectedCluster } from '../../ports/agents.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { SECRETS } from '../../ports/resources.ts';

interface Connection {
  /** uid and version of the Secret. */
  version: string;
  cluster: ConnectedCluster;
}

/** Clusters that are kept connected at the same time. */
const CONNECTIONS_MAX = 32;
/** Key of the Secret that Cluster API writes. */
const KUBECONFIG_KEY = 'value';

/** Workload clusters by the Secret that Cluster API keeps for each; connected when one is asked for, anew when its Secret has changed, and ended with it. */
export class ConnectedWorkloads {
  readonly #cluster: Pick<Cluster, 'get'>;
  readonly #connect: (kubeconfig: string) => Promise<ConnectedCluster>;
  /** By the Secret's namespace and name; the one that was used last is the last. */
  readonly #connections = new Map<string, Connection>();

  constructor(cluster: Pick<Cluster, 'get'>, connect: (kubeconfig: string) => Promise<ConnectedCluster>) {
    this.#cluster = cluster;
    this.#connect = connect;
  }

  readonly find: WorkloadClusters = async ({ namespace, name }) => {
    const key = `${namespace}/${name}`;
    const secret = await this.#cluster.get(SECRETS, name, namespace);
    const kubeconfig = secret?.data?.[KUBECONFIG_KEY];
    const version = `${secret?.metadata.uid ?? ''} ${secret?.metadata.resourceVersion ?? ''}`;
    const known = this.#connections.get(key);
    if (kubeconfig !== undefined && known?.version === version) return this.#keep(key, known);
    this.#end(key);
    if (secret === undefined) return undefined;
    if (kubeconfig === undefined) throw new Error(`Secret ${key} has no key ${KUBECONFIG_KEY}`);
    const cluster = await this.#connect(Buffer.from(kubeconfig, 'base64').toString('utf8'));
    // Somebody else may have connected meanwhile.
    this.#end(key);
    return this.#keep(key, { version, cluster });
  };

  close(): void {
    for (const key of [...this.#connections.keys()]) this.#end(key);
  }

  #keep(key: string, connection: Connection): ConnectedCluster {
    this.#connections.delete(key);
    this.#connections.set(key, connection);
    const [oldest] = this.#connections.keys();
    if (this.#connections.size > CONNECTIONS_MAX && oldest !== undefined) this.#end(oldest);
    return connection.cluster;
  }

  #end(key: string): void {
    this.#connections.get(key)?.cluster.close();
    this.#connections.delete(key);
  }
}
