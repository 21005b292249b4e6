import type { Clock } from '../../ports/clock.ts';
import type { Lease } from '../../ports/objects.ts';
import type { Random } from '../../ports/random.ts';
import { LEASES, NODE_LEASE_NAMESPACE } from '../../ports/resources.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { WorldApi } from './api.ts';
import { Loop } from './loop.ts';
import type { KubeletOptions } from './options.ts';

/** RFC 3339 with microseconds: metav1.MicroTime. */
export function microTime(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString().replace('Z', '000Z');
}

/** Keeps `kube-node-lease/<node>` alive. */
export class NodeLease {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #options: KubeletOptions;
  readonly #loop: Loop;
  #last: Lease | undefined;

  constructor(api: WorldApi, clock: Clock, random: Random, options: KubeletOptions) {
    this.#api = api;
    this.#clock = clock;
    this.#options = options;
    this.#loop = new Loop(clock, random, () => this.#renew());
  }

  start(): void {
    this.#loop.poke();
  }

  stop(): void {
    this.#loop.stop();
  }

  async #renew(): Promise<number> {
    const { node, leaseDurationSeconds, renewMs } = this.#options;
    const begunMs = this.#clock.monotonicMs();
    const place = { namespace: NODE_LEASE_NAMESPACE, name: node };
    const before = this.#last ?? (await this.#api.get(LEASES, place));
    const spec = { holderIdentity: node, leaseDurationSeconds, renewTime: microTime(this.#clock) };
    try {
      this.#last =
        before === undefined
          ? await this.#api.create(LEASES, { metadata: place, spec } as Lease)
          : await this.#api.replace(LEASES, { ...before, spec: { ...before.spec, ...spec } });
    } catch (error) {
      this.#last = undefined;
      const isMoved = error instanceof ApiStatusError && (error.status === 409 || error.status === 404);
      if (!isMoved) throw error;
      return 0;
    }
    return Math.max(0, begunMs + renewMs - this.#clock.monotonicMs());
  }
}
