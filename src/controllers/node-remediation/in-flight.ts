import type { RemediationDependencies } from './dependencies.ts';

/** Requests that have a fence under way, or are asking for one. */
export class InFlight {
  readonly #dependencies: Pick<RemediationDependencies, 'kinds' | 'options'>;
  /** uids of requests whose fence is being asked for: the watch does not show it yet. */
  readonly #asking = new Set<string>();

  constructor(dependencies: Pick<RemediationDependencies, 'kinds' | 'options'>) {
    this.#dependencies = dependencies;
  }

  begin(uid: string): void {
    this.#asking.add(uid);
  }

  forget(uid: string): void {
    this.#asking.delete(uid);
  }

  /** Those beside this one. */
  beside(uid: string): { count: number; limit?: number } {
    const { kinds, options } = this.#dependencies;
    const others = new Set(this.#asking);
    for (const { listers } of kinds) {
      for (const { metadata, status } of listers.requests.all()) {
        if (status?.phase === 'Fencing' || status?.phase === 'Recovering') others.add(metadata.uid ?? '');
      }
    }
    others.delete(uid);
    return { count: others.size, ...(options.inFlightMax !== undefined && { limit: options.inFlightMax }) };
  }
}
