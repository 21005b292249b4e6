import type { StormHold } from '../../../domain/policies/judge.ts';
import { STORM_ITSELF } from '../../../domain/policies/policy.ts';
import type { StormPolicy } from '../../../domain/policies/policy.ts';

/** Which policies hold somebody now, and when the last storm was over. */
export class Trips {
  /** Nodes held, by the policy's own name; every configured policy has its number. */
  #counts: ReadonlyMap<string, number> = new Map();
  #isStorm = false;
  #stormEndedAtMs: number | undefined;

  /** `true`: a storm has just ended, so that what was judged before is judged anew. */
  see(policies: readonly StormPolicy[], failed: Iterable<string>, holdsOf: (node: string) => readonly StormHold[], nowMs: number): boolean {
    const counts = new Map(policies.map(({ name }) => [name, 0]));
    const wasStorm = this.#isStorm;
    this.#isStorm = false;
    for (const node of failed) {
      for (const { policy, reason } of holdsOf(node)) {
        counts.set(policy, (counts.get(policy) ?? 0) + 1);
        this.#isStorm ||= STORM_ITSELF.has(reason);
      }
    }
    this.#counts = counts;
    const ended = wasStorm && !this.#isStorm;
    if (ended) this.#stormEndedAtMs = nowMs;
    return ended;
  }

  /** A predecessor has left a storm, or what comes behind one: it ends no earlier than this process sees that it is over. */
  resume(): void {
    this.#isStorm = true;
  }

  get endedAtMs(): number | undefined {
    return this.#stormEndedAtMs;
  }

  get held(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  get isTripped(): boolean {
    return [...this.#counts.values()].some((count) => count > 0);
  }
}
