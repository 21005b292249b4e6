import type { FoundNodes, WorkloadClusters, WorkloadNodes } from '../../controllers/machine-health-check/dependencies.ts';
import { ApiClient } from '../../kube/client.ts';
import { Reflector } from '../../kube/reflector.ts';
import { WORKLOAD_ROLE } from '../../manifests/health-check-access.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node, Secret } from '../../ports/objects.ts';
import { NODES, SECRETS } from '../../ports/resources.ts';
import type { WatchBase } from './watched-kinds.ts';

/** A cluster by the text of its kubeconfig; nothing is sent yet. Rejects with what is wrong in the text, never with a value of it. */
export type Reach = (kubeconfig: string) => Promise<{ transport: ApiTransport; close: () => void }>;

interface Connection extends WorkloadNodes {
  /** uid and version of the Secret that it was made from. */
  secret: string;
  close: () => void;
  lastError: () => Error | undefined;
}

interface Entry {
  connection?: Connection;
  isWithout: boolean;
  problem?: string;
  cancel?: () => void;
}

/** Each is one connection and one watch of its Nodes. */
const CLUSTERS_MAX = 64;
const LOOK_MS = 30_000;

/**
 * Workload clusters by the Secret `<cluster>-kubeconfig` of Cluster API: one client and one watch of Nodes each, closed when the Secret goes or nobody wants
 * them. Nothing of a kubeconfig is kept but the connection.
 */
export class SecretWorkloads implements WorkloadClusters {
  readonly #base: WatchBase;
  readonly #cluster: Pick<Cluster, 'get'>;
  readonly #reach: Reach;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();
  #tooMany = 0;

  /** `cluster`: where the Secrets are. */
  constructor(base: WatchBase, cluster: Pick<Cluster, 'get'>, reach: Reach) {
    this.#base = base;
    this.#cluster = cluster;
    this.#reach = reach;
  }

  want(clusters: ReadonlySet<string>): void {
    for (const [name, entry] of [...this.#entries]) {
      if (clusters.has(name)) continue;
      entry.cancel?.();
      this.#entries.delete(name);
      this.#disconnect(entry);
    }
    for (const name of clusters) {
      if (this.#entries.has(name) || this.#entries.size >= CLUSTERS_MAX) continue;
      const entry: Entry = { isWithout: false };
      this.#entries.set(name, entry);
      void this.#look(name, entry);
    }
    this.#tooMany = clusters.size - this.#entries.size;
  }

  of(cluster: string): FoundNodes {
    const entry = this.#entries.get(cluster);
    return entry?.connection ?? (entry?.isWithout === true ? 'no-kubeconfig' : 'unreachable');
  }

  problems(): readonly string[] {
    const told = [...this.#entries].flatMap(([name, { problem, connection }]) => {
      const why = problem ?? (connection?.lister.synced === false ? connection.lastError()?.message : undefined);
      return why === undefined ? [] : [`the Nodes of Cluster ${name} can not be read: ${why}`];
    });
    if (this.#tooMany > 0)
      told.push(`${this.#tooMany} Clusters are not reached, for ${CLUSTERS_MAX} are reached at most: nothing is concluded of their Nodes`);
    return told;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #look(name: string, entry: Entry): Promise<void> {
    const before = this.of(name);
    try {
      await this.#renew(name, entry);
    } catch (error) {
      // A connection that stands is kept through a silence of the API server, not against its no.
      if (error instanceof ApiStatusError) this.#disconnect(entry);
      entry.isWithout = false;
      entry.problem = wordsOf(name, error);
    }
    if (this.#entries.get(name) !== entry) {
      this.#disconnect(entry);
      return;
    }
    entry.cancel = this.#base.clock.after(LOOK_MS, () => void this.#look(name, entry));
    if (this.of(name) !== before) for (const listener of this.#listeners) listener();
  }

  async #renew(name: string, entry: Entry): Promise<void> {
    const [namespace = '', cluster = ''] = name.split('/');
    const secret = await this.#cluster.get<Secret>(SECRETS, `${cluster}-kubeconfig`, namespace);
    delete entry.problem;
    entry.isWithout = secret === undefined;
    if (secret === undefined) {
      this.#disconnect(entry);
      return;
    }
    const identity = `${secret.metadata.uid ?? ''} ${secret.metadata.resourceVersion ?? ''}`;
    if (entry.connection?.secret === identity) return;
    this.#disconnect(entry);
    const { transport, close } = await this.#reach(Buffer.from(secret.data?.['value'] ?? '', 'base64').toString('utf8'));
    const reflector = new Reflector<Node>({ ...this.#base, transport, resource: NODES });
    reflector.start();
    const end = (): void => {
      reflector.close();
      close();
    };
    const connected = { lister: reflector.lister, cluster: new ApiClient({ transport }) };
    entry.connection = { ...connected, secret: identity, close: end, lastError: () => reflector.lastError };
  }

  #disconnect(entry: Entry): void {
    entry.connection?.close();
    delete entry.connection;
  }
}

function wordsOf(name: string, error: unknown): string {
  if (error instanceof ApiStatusError && error.status === 403) {
    const [namespace = '', cluster = ''] = name.split('/');
    return `Secret ${namespace}/${cluster}-kubeconfig may not be read; bind ClusterRole ${WORKLOAD_ROLE} in namespace ${namespace}`;
  }
  return error instanceof Error ? error.message : String(error);
}
