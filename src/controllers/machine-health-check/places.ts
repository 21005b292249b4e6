import type { Lister } from '../../ports/cluster.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { Node } from '../../ports/objects.ts';
import type { FoundNodes, WorkloadClusters } from './dependencies.ts';
import type { MachineIndex } from './machine-index.ts';
import { loosely } from './read/objects.ts';

/** Where the Nodes of each Cluster are: in this cluster, named `''`, or behind its kubeconfig, named as the Cluster. */
export class Places {
  readonly #workloads: WorkloadClusters;
  readonly #nodes: Lister<Node>;
  readonly #machineAt: (key: string) => UntypedObject | undefined;
  readonly #index: MachineIndex;
  /** Clusters of whose Machines one was found on a Node of this cluster. */
  readonly #home = new Set<string>();

  constructor(sources: { workloads: WorkloadClusters; nodes: Lister<Node>; machines: Lister<UntypedObject> }, index: MachineIndex) {
    this.#workloads = sources.workloads;
    this.#nodes = sources.nodes;
    this.#machineAt = (key) => sources.machines.get(key);
    this.#index = index;
  }

  /** `''`: here. What has a kubeconfig is behind it; what has none is here only if a Machine of it is seen on a Node of the same identity. */
  placeOf(cluster: string): string {
    if (this.#workloads.of(cluster) !== 'no-kubeconfig') {
      this.#home.delete(cluster);
      return cluster;
    }
    if (!this.#home.has(cluster) && this.#isSeenHere(cluster)) this.#home.add(cluster);
    return this.#home.has(cluster) ? '' : cluster;
  }

  of(place: string): FoundNodes {
    return this.#workloads.of(place);
  }

  #isSeenHere(cluster: string): boolean {
    return this.#index.ofCluster(cluster).some(({ namespace, name, nodeName }) => {
      const identity = loosely(this.#machineAt(`${namespace}/${name}`)?.spec).text('providerID') ?? '';
      return identity !== '' && nodeName !== undefined && this.#nodes.get(nodeName)?.spec.providerID === identity;
    });
  }
}
