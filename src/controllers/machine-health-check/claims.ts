import type { Lister } from '../../ports/cluster.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ownerOf } from '../shared/claims/claim.ts';

/** Which Machines have a node that somebody has in hand: an open fence is the lock between all controllers of this program. */
export class Claims {
  readonly #fences: Lister<NodeFence>;
  readonly #tell: (machineUID: string, holder: string | undefined) => void;
  #holders = new Map<string, string>();
  #isStale = true;

  constructor(fences: Lister<NodeFence>, tell: (machineUID: string, holder: string | undefined) => void) {
    this.#fences = fences;
    this.#tell = tell;
  }

  /** Fences, Machines or their places have changed. */
  stir(): void {
    this.#isStale = true;
  }

  /** Tells what has changed since the last time. `machinesOn`: uids of the Machines on a Node of this cluster. */
  renew(machinesOn: (node: string) => Iterable<string>): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const holders = new Map<string, string>();
    for (const fence of this.#fences.all()) {
      const holder = ownerOf(fence);
      if (holder === undefined) continue;
      for (const uid of machinesOn(fence.spec.node)) holders.set(uid, holder);
    }
    for (const uid of this.#holders.keys()) if (!holders.has(uid)) this.#tell(uid, undefined);
    for (const [uid, holder] of holders) if (this.#holders.get(uid) !== holder) this.#tell(uid, holder);
    this.#holders = holders;
  }
}
