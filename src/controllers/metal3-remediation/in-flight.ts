import type { HoldFact } from '../shared/remediation/actions.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import { remediationOfHold } from './names.ts';

/** Hosts that are power-cycled now: a health check that is wrong about many Machines must not switch off all of them at once. */
export class InFlight {
  readonly #dependencies: Pick<Metal3RemediationDependencies, 'hosts' | 'remediations' | 'options'>;
  /** uids of remediations whose hold is being written: the watch does not show it yet. */
  readonly #beginning = new Set<string>();

  constructor(dependencies: Pick<Metal3RemediationDependencies, 'hosts' | 'remediations' | 'options'>) {
    this.#dependencies = dependencies;
  }

  begin(uid: string): void {
    this.#beginning.add(uid);
  }

  forget(uid: string): void {
    this.#beginning.delete(uid);
  }

  /** Why this one may not begin; `undefined`: it may, or has begun. */
  hold(uid: string): HoldFact | undefined {
    const { inFlightMax } = this.#dependencies.options;
    const all = this.#underWay();
    if (all.has(uid) || all.size < inFlightMax) return undefined;
    return { reason: 'in-flight', message: `${all.size} hosts are power-cycled already, ${inFlightMax} may be at the same time`, isStop: false };
  }

  #underWay(): Set<string> {
    const { hosts, remediations } = this.#dependencies;
    const held = new Set<string>();
    for (const { metadata } of hosts.all()) {
      for (const key of Object.keys(metadata.annotations ?? {})) {
        const uid = remediationOfHold(key);
        if (uid !== undefined) held.add(uid);
      }
    }
    for (const { metadata, status } of remediations.lister.all()) if (status?.phase === 'Waiting') held.add(metadata.uid ?? '');
    // What the watch shows is counted by what it shows.
    for (const uid of this.#beginning) if (held.has(uid)) this.#beginning.delete(uid);
    for (const uid of this.#beginning) held.add(uid);
    return held;
  }
}
