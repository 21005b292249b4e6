import type { FoundNodes, WorkloadClusters, WorkloadNodes } from '../../controllers/machine-health-check/dependencies.ts';
import { secretOf } from '../../controllers/shared/remediation/place.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { Node } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import type { WatchBase } from '../watching.ts';
import type { SecretName, WorkloadConnection, WorkloadPool } from '../workload-pool.ts';

interface Watch extends WorkloadNodes {
  connection: WorkloadConnection;
  close: () => void;
  lastError: () => Error | undefined;
}

interface Entry {
  watch?: Watch;
  isWithout: boolean;
  problem?: string;
  cancel?: () => void;
}

/** Each is one connection and one watch of its Nodes. */
const CLUSTERS_MAX = 64;
const RESYNC_MS = 30_000;

/** The Nodes of workload clusters: one watch each over the connection that all share, closed when the Secret goes or nobody wants them. */
export class WatchedWorkloads implements WorkloadClusters {
  readonly #base: WatchBase;
  readonly #pool: WorkloadPool;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();
  #tooMany = 0;

  constructor(base: WatchBase, pool: WorkloadPool) {
    this.#base = base;
    this.#pool = pool;
  }

  want(clusters: ReadonlySet<string>): void {
    for (const [name, entry] of [...this.#entries]) {
      if (clusters.has(name)) continue;
      entry.cancel?.();
      this.#entries.delete(name);
      this.#end(entry);
      this.#pool.letGo(secretNameOf(name));
    }
    for (const name of clusters) {
      if (this.#entries.has(name) || this.#entries.size >= CLUSTERS_MAX) continue;
      const entry: Entry = { isWithout: false };
      this.#entries.set(name, entry);
      this.#pool.keep(secretNameOf(name));
      void this.#reconcile(name, entry);
    }
    this.#tooMany = clusters.size - this.#entries.size;
  }

  of(cluster: string): FoundNodes {
    const entry = this.#entries.get(cluster);
    return entry?.watch ?? (entry?.isWithout === true ? 'no-kubeconfig' : 'unreachable');
  }

  whyNot(cluster: string): string | undefined {
    const { problem, watch } = this.#entries.get(cluster) ?? {};
    return problem ?? (watch?.lister.synced === false ? watch.lastError()?.message : undefined);
  }

  problems(): readonly string[] {
    const told = [...this.#entries.keys()].flatMap((name) => {
      const why = this.whyNot(name);
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

  async #reconcile(name: string, entry: Entry): Promise<void> {
    const before = [this.of(name), entry.problem];
    try {
      const connection = await this.#pool.find(secretNameOf(name));
      delete entry.problem;
      entry.isWithout = connection === undefined;
      if (entry.watch?.connection !== connection) this.#watch(entry, connection);
    } catch (error) {
      // What stands is kept through a silence of the API server, not against its no, by which the connection has ended.
      if (entry.watch !== undefined && !this.#pool.isOpen(entry.watch.connection)) this.#end(entry);
      entry.isWithout = false;
      entry.problem = error instanceof Error ? error.message : String(error);
    }
    if (this.#entries.get(name) !== entry) {
      this.#end(entry);
      return;
    }
    entry.cancel = this.#base.clock.after(RESYNC_MS, () => void this.#reconcile(name, entry));
    const [found, problem] = before;
    if (this.of(name) !== found || entry.problem !== problem) for (const listener of this.#listeners) listener();
  }

  #watch(entry: Entry, connection: WorkloadConnection | undefined): void {
    this.#end(entry);
    if (connection === undefined) return;
    const { transport, cluster } = connection;
    const reflector = new Reflector<Node>({ ...this.#base, transport, resource: NODES });
    reflector.start();
    const close = (): void => {
      reflector.close();
    };
    entry.watch = { connection, lister: reflector.lister, cluster, close, lastError: () => reflector.lastError };
  }

  #end(entry: Entry): void {
    entry.watch?.close();
    delete entry.watch;
  }
}

/** For a Cluster `namespace/name`. */
function secretNameOf(cluster: string): SecretName {
  const [namespace = '', name = ''] = cluster.split('/');
  return { namespace, name: secretOf(name) };
}
