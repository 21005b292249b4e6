import type { Metal3Remediation } from '../../ports/metal3.ts';
import type { HoldFact } from '../shared/remediation/actions.ts';
import type { Metal3RemediationDependencies } from './dependencies.ts';
import { remediationOfHold } from './names.ts';

/** Hosts that are power-cycled now: a health check that is wrong about many Machines must not switch off all of them at once. */
export class InFlight {
  readonly #dependencies: Pick<Metal3RemediationDependencies, 'hosts' | 'remediations' | 'options'>;
  /** uids of remediations whose hold is being written: the watch does not show it yet. */
  readonly #beginning = new Set<string>();
  readonly #isSeen: (uid: string) => boolean;

  /** `isSeen`: this process has looked at the remediation, so that the storm policies count what it has switched off. */
  constructor(dependencies: Pick<Metal3RemediationDependencies, 'hosts' | 'remediations' | 'options'>, isSeen: (uid: string) => boolean) {
    this.#dependencies = dependencies;
    this.#isSeen = isSeen;
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
    const held = this.#held();
    const all = this.#underWay(held);
    if (all.has(uid)) return undefined;
    const unseen = [...this.#dependencies.remediations.lister.all()].find(({ metadata: { uid: of = '' } }) => held.has(of) && !this.#isSeen(of));
    if (unseen !== undefined)
      return { reason: 'in-flight', message: `Metal3Remediation ${unseen.metadata.name}, which is under way, is looked at first`, isStop: false };
    if (all.size < inFlightMax) return undefined;
    return { reason: 'in-flight', message: `${all.size} hosts are power-cycled already, ${inFlightMax} may be at the same time`, isStop: false };
  }

  #held(): Set<string> {
    const keys = [...this.#dependencies.hosts.all()].flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}));
    return new Set(keys.flatMap((key) => remediationOfHold(key) ?? []));
  }

  #underWay(held: ReadonlySet<string>): Set<string> {
    const all = new Set(held);
    for (const remediation of this.#dependencies.remediations.lister.all()) if (isComingBack(remediation)) all.add(remediation.metadata.uid ?? '');
    // What the watch shows is counted by what it shows.
    for (const uid of this.#beginning) if (all.has(uid)) this.#beginning.delete(uid);
    for (const uid of this.#beginning) all.add(uid);
    return all;
  }
}

/** Without a finalizer its node is back, and nobody has deleted it: it may stand so for ever. */
function isComingBack({ metadata, status }: Metal3Remediation): boolean {
  return status?.phase === 'Waiting' && (metadata.finalizers ?? []).length > 0;
}
