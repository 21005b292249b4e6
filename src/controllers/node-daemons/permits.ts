import type { Permit } from '../../domain/node-daemon/unfencing.ts';

/** Which boots may put their storage registrations back now. Nothing of it is kept: a leader that comes later permits nothing that this one did. */
export class Permits {
  readonly #standing = new Map<string, Permit>();

  give(node: string, permit: Permit): () => void {
    this.#standing.set(node, permit);
    return () => {
      if (this.#standing.get(node) === permit) this.#standing.delete(node);
    };
  }

  /** Asked in the turn in which it leaves. */
  of(node: string, now: { bootID: string; epoch: number }): Permit | undefined {
    const permit = this.#standing.get(node);
    return permit?.bootID === now.bootID && permit.epoch === now.epoch ? permit : undefined;
  }
}
