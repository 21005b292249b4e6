import type { FenceDependencies } from './dependencies.ts';
import { NodeObservation } from './observation.ts';

/** What was seen of each node, by name; of one that is gone nothing is kept. */
export class Observations {
  readonly #dependencies: Pick<FenceDependencies, 'clock' | 'listers'>;
  readonly #seen = new Map<string, NodeObservation>();

  constructor(dependencies: Pick<FenceDependencies, 'clock' | 'listers'>) {
    this.#dependencies = dependencies;
  }

  get(name: string): NodeObservation | undefined {
    return this.#seen.get(name);
  }

  /** From now on, if it was not looked at before. */
  of(name: string): NodeObservation {
    const known = this.#seen.get(name);
    if (known !== undefined) return known;
    const { clock, listers } = this.#dependencies;
    const observation = new NodeObservation(clock.monotonicMs());
    observation.seeLease(listers.leases.get(`kube-node-lease/${name}`), clock.monotonicMs());
    const node = listers.nodes.get(name);
    if (node !== undefined) observation.seeNode(node, clock.monotonicMs());
    this.#seen.set(name, observation);
    return observation;
  }

  delete(name: string): void {
    this.#seen.delete(name);
  }
}
