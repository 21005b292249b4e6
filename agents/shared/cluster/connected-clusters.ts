import { createHash } from 'node:crypto';

import type { AgentContext, ConnectedCluster } from '../../../src/ports/agents.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';

/** As many clusters as one agent may be told to reach at a time; the one that was reached first goes. */
const CLUSTERS_MAX = 16;

/** The own cluster, and others by the text of a kubeconfig: one connection for each text, kept until `close`. */
export class ConnectedClusters {
  readonly #context: AgentContext;
  readonly #others = new Map<string, Promise<ConnectedCluster>>();

  constructor(context: AgentContext) {
    this.#context = context;
  }

  /** `kubeconfig` undefined: the own cluster. Rejects with an `Error` in words, without a value of the text. */
  async reach(kubeconfig: string | undefined): Promise<Cluster> {
    if (kubeconfig === undefined) return this.#context.cluster;
    if (this.#context.connect === undefined) throw new Error('parameter kubeconfig: no other cluster can be reached from here');
    const key = createHash('sha256').update(kubeconfig).digest('hex');
    const known = this.#others.get(key) ?? this.#context.connect(kubeconfig);
    this.#others.set(key, known);
    await this.#keepFew();
    try {
      return await known;
    } catch (error) {
      this.#others.delete(key);
      throw error;
    }
  }

  async close(): Promise<void> {
    const open = [...this.#others.values()];
    this.#others.clear();
    for (const end of await Promise.allSettled(open)) if (end.status === 'fulfilled') end.value.close();
  }

  async #keepFew(): Promise<void> {
    const [first] = this.#others;
    if (first === undefined || this.#others.size <= CLUSTERS_MAX) return;
    const [key, cluster] = first;
    this.#others.delete(key);
    for (const end of await Promise.allSettled([cluster])) if (end.status === 'fulfilled') end.value.close();
  }
}
