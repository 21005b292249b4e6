import { ApiClient } from '../kube/client.ts';
import { WORKLOAD_ROLE } from '../manifests/workload-access.ts';
import { ApiStatusError } from '../ports/api-transport.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Secret } from '../ports/objects.ts';
import { SECRETS } from '../ports/resources.ts';

/** A cluster by the text of its kubeconfig; nothing is sent yet. Rejects with what is wrong in the text, never with a value of it. */
export type Reach = (kubeconfig: string) => Promise<{ transport: ApiTransport; close: () => void }>;

export interface WorkloadConnection {
  cluster: Cluster;
  transport: ApiTransport;
}

interface Entry {
  /** uid and version of the Secret that it was made from. */
  version: string;
  connection: WorkloadConnection;
  close: () => void;
}

export interface SecretName {
  namespace: string;
  name: string;
}

/** Connections that nobody keeps and that stay open all the same. */
const IDLE_MAX = 32;
/** Key of the Secret that Cluster API writes. */
const KUBECONFIG_KEY = 'value';

/**
 * Workload clusters by the Secret `<cluster>-kubeconfig` that Cluster API keeps for each, one connection for all who ask: made when one is asked for, anew when
 * its Secret has changed, and ended with it. Nothing of a kubeconfig is kept but the connection.
 */
export class WorkloadPool {
  readonly #cluster: Pick<Cluster, 'get'>;
  readonly #reach: Reach;
  /** By the Secret's namespace and name; the one that was used last is the last. */
  readonly #entries = new Map<string, Entry>();
  /** How many watch it. */
  readonly #kept = new Map<string, number>();

  /** `cluster`: where the Secrets are. */
  constructor(cluster: Pick<Cluster, 'get'>, reach: Reach = nowhere) {
    this.#cluster = cluster;
    this.#reach = reach;
  }

  /** By what its Secret says now; the same as before while that is the same. undefined: there is no such Secret. Rejects when it cannot be read or used. */
  async find(secret: SecretName): Promise<WorkloadConnection | undefined> {
    const key = keyOf(secret);
    const found = await this.#read(secret);
    const version = `${found?.metadata.uid ?? ''} ${found?.metadata.resourceVersion ?? ''}`;
    const known = this.#entries.get(key);
    if (found !== undefined && known?.version === version) return this.#use(key, known);
    this.#end(key);
    if (found === undefined) return undefined;
    const kubeconfig = found.data?.[KUBECONFIG_KEY];
    if (kubeconfig === undefined) throw new Error(`Secret ${key} has no key ${KUBECONFIG_KEY}`);
    const { transport, close } = await this.#reach(Buffer.from(kubeconfig, 'base64').toString('utf8'));
    // Somebody else may have connected meanwhile: one connection for all.
    const since = this.#entries.get(key);
    if (since?.version === version) {
      close();
      return this.#use(key, since);
    }
    this.#end(key);
    return this.#use(key, { version, close, connection: { transport, cluster: new ApiClient({ transport, isForeign: true }) } });
  }

  /** For those who need no more than the cluster. */
  readonly clusterOf = async (secret: SecretName): Promise<Cluster | undefined> => (await this.find(secret))?.cluster;

  /** It has not been ended since it was found. */
  isOpen(connection: WorkloadConnection): boolean {
    return [...this.#entries.values()].some((entry) => entry.connection === connection);
  }

  /** It is watched: not ended to make room for others. */
  keep(secret: SecretName): void {
    this.#kept.set(keyOf(secret), (this.#kept.get(keyOf(secret)) ?? 0) + 1);
  }

  /** One watches it no more. */
  letGo(secret: SecretName): void {
    const left = (this.#kept.get(keyOf(secret)) ?? 0) - 1;
    if (left > 0) this.#kept.set(keyOf(secret), left);
    else this.#kept.delete(keyOf(secret));
    this.#makeRoom();
  }

  close(): void {
    for (const key of [...this.#entries.keys()]) this.#end(key);
  }

  async #read(secret: SecretName): Promise<Secret | undefined> {
    try {
      return await this.#cluster.get<Secret>(SECRETS, secret.name, secret.namespace);
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 401 && error.status !== 403)) throw error;
      // What may no longer be read is used no longer.
      this.#end(keyOf(secret));
      throw new Error(`Secret ${keyOf(secret)} may not be read; bind ClusterRole ${WORKLOAD_ROLE} in namespace ${secret.namespace}`, {
        cause: error,
      });
    }
  }

  #use(key: string, entry: Entry): WorkloadConnection {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#makeRoom();
    return entry.connection;
  }

  #makeRoom(): void {
    const idle = [...this.#entries.keys()].filter((key) => !this.#kept.has(key));
    for (const key of idle.slice(0, Math.max(0, idle.length - IDLE_MAX))) this.#end(key);
  }

  #end(key: string): void {
    this.#entries.get(key)?.close();
    this.#entries.delete(key);
  }
}

function keyOf({ namespace, name }: SecretName): string {
  return `${namespace}/${name}`;
}

function nowhere(): Promise<never> {
  return Promise.reject(new Error('no other cluster can be reached from here'));
}
