import { CLUSTER_API_GROUP } from '../../ports/cluster-api.ts';
import { WorldApi } from '../cluster/api.ts';
import type { WorldDependencies } from '../cluster/dependencies.ts';
import { WORLD_NODES } from '../cluster/kinds.ts';
import type { WorldNode } from '../cluster/kinds.ts';
import { Loop } from '../cluster/loop.ts';
import { Mirror } from '../cluster/mirror.ts';
import { HOSTS_CLUSTER, HOSTS_NAMESPACE, hostMachineName, hostProviderID } from './host-fleet.ts';

/** What of Cluster API's Machine controller anybody sees on a Node: whose Machine it is. A Node that registers anew is told anew. */
export class HostMachines {
  readonly #api: WorldApi;
  readonly #nodes: Mirror<WorldNode>;
  readonly #loop: Loop;

  constructor(dependencies: WorldDependencies) {
    this.#api = new WorldApi(dependencies.transport);
    this.#loop = new Loop(dependencies.clock, dependencies.random, () => this.#run());
    const poke = (): void => this.#loop.poke();
    this.#nodes = new Mirror<WorldNode>({ ...dependencies, resource: WORLD_NODES, onChange: poke, onSync: poke });
  }

  start(): void {
    this.#nodes.start();
  }

  stop(): void {
    this.#nodes.stop();
    this.#loop.stop();
  }

  async #run(): Promise<undefined> {
    for (const { metadata, spec } of [...this.#nodes.all()]) {
      if (spec.providerID !== hostProviderID(metadata.name)) continue;
      const wanted = marksOf(metadata.name);
      const isTold = Object.entries(wanted).every(([key, value]) => metadata.annotations?.[key] === value);
      if (!isTold) await this.#api.patch(WORLD_NODES, { name: metadata.name }, 'merge', { metadata: { annotations: wanted } });
    }
  }
}

function marksOf(node: string): Record<string, string> {
  return {
    [`${CLUSTER_API_GROUP}/cluster-name`]: HOSTS_CLUSTER,
    [`${CLUSTER_API_GROUP}/cluster-namespace`]: HOSTS_NAMESPACE,
    [`${CLUSTER_API_GROUP}/machine`]: hostMachineName(node),
  };
}
