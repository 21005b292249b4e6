import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { WorldApi } from '../../src/testbed/cluster/api.ts';
import { WORLD_NODES } from '../../src/testbed/cluster/kinds.ts';
import { timestamp } from '../../src/ports/clock.ts';
import { LEASES, NODE_LEASE_NAMESPACE } from '../../src/ports/resources.ts';
import { PACE } from './settings.ts';
import type { World } from './world.ts';

/** A kubelet that lives, renews its lease, and says of itself that it is not ready; the machine's own one hangs. */
export class SickKubelet {
  readonly #world: World;
  readonly #node: string;
  readonly #api: WorldApi;
  #timer: NodeJS.Timeout | undefined;
  #since: string;

  private constructor(world: World, node: string) {
    this.#world = world;
    this.#node = node;
    this.#api = new WorldApi(inProcessTransport(world.server, `system:node:${node}`));
    this.#since = timestamp(world.clock);
  }

  /** Takes the place of the node's kubelet; resolves when its first words are in the API. It falls silent by itself when the power goes. */
  static async instead(world: World, node: string): Promise<SickKubelet> {
    world.machine(node).hang();
    const kubelet = new SickKubelet(world, node);
    await kubelet.#speak();
    return kubelet;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #speak(): Promise<void> {
    const now = timestamp(this.#world.clock);
    const lease = { namespace: NODE_LEASE_NAMESPACE, name: this.#node };
    await this.#api.patch(LEASES, lease, 'merge', { spec: { renewTime: now.replace('Z', '000Z') } });
    const words = { reason: 'KubeletNotReady', message: 'container runtime is down', lastHeartbeatTime: now, lastTransitionTime: this.#since };
    const status = { conditions: [{ type: 'Ready', status: 'False', ...words }] };
    await this.#api.patch(WORLD_NODES, { name: this.#node, subresource: 'status' }, 'strategic', { status });
    this.#timer = setTimeout(() => {
      if (this.#world.machine(this.#node).state === 'on') void this.#speak();
    }, PACE.kubelet.renewMs);
  }
}
