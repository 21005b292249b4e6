import { BY_CLUSTER } from './indexes.ts';
import type { HealthCheckDependencies } from './dependencies.ts';
import { nodeNameOf } from './read/machine.ts';
import { loosely } from './read/objects.ts';

/** Where the Nodes of each Cluster are: in this cluster, named `''`, or behind its kubeconfig, named as the Cluster. */
export class NodePlaces {
  readonly #sources: Pick<HealthCheckDependencies, 'workloads' | 'nodes' | 'machines'>;
  /** Clusters of whose Machines one was found on a Node of this cluster. */
  readonly #home = new Set<string>();

  constructor(sources: Pick<HealthCheckDependencies, 'workloads' | 'nodes' | 'machines'>) {
    this.#sources = sources;
  }

  /** `''`: here. What has a kubeconfig is behind it; what has none is here only if a Machine of it is seen on a Node of the same identity. */
  placeOf(cluster: string): string {
    if (this.#sources.workloads.of(cluster) !== 'no-kubeconfig') {
      this.#home.delete(cluster);
      return cluster;
    }
    if (!this.#home.has(cluster) && this.#isSeenHere(cluster)) this.#home.add(cluster);
    return this.#home.has(cluster) ? '' : cluster;
  }

  #isSeenHere(cluster: string): boolean {
    const { machines, nodes } = this.#sources;
    return machines.lister.byIndex(BY_CLUSTER, cluster).some((machine) => {
      const identity = loosely(machine.spec).text('providerID') ?? '';
      const nodeName = nodeNameOf(machine);
      return identity !== '' && nodeName !== undefined && nodes.get(nodeName)?.spec.providerID === identity;
    });
  }
}
