import type { Node } from '../../ports/objects.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { NodeObservation } from './observation.ts';
import { endReport } from './report-end.ts';
import { identityOf, recordHealthy } from './report.ts';

/** Small clusters have theirs at once. */
const AT_ONCE = 100;
/** Between those after them: 5,000 nodes take 500 s, and the probes of as many devices beside them leave nine tenths of a core. */
const INTERVAL_MS = 100;
/** Whoever writes takes a place among the nodes that are worked on at the same time: most of them are for those that fail. */
const UNDER_WAY_MAX = 8;

/**
 * Keeps the reports of nodes while nothing is wrong with them. Those that are missing, all of them after an installation, are made at an even pace; until
 * its turn comes, what the machine of a node said of itself while it was healthy is kept in memory, and counts as if it were on record.
 */
export class NodeRecords {
  readonly #dependencies: FenceDependencies;
  #lastTurnMs = Number.NEGATIVE_INFINITY;
  #underWay = 0;

  constructor(dependencies: FenceDependencies) {
    this.#dependencies = dependencies;
  }

  async keep(node: Node, observation: NodeObservation): Promise<void> {
    const isMissing = this.#dependencies.listers.reports.get(node.metadata.name) === undefined;
    if (isMissing) observation.machine = identityOf(this.#dependencies, node);
    const taken = { places: 0 };
    try {
      await recordHealthy(this.#dependencies, node, () => {
        if (!this.#isItsTurn(node.metadata.name, observation)) return false;
        this.#underWay += 1;
        taken.places += 1;
        return true;
      });
    } finally {
      this.#underWay -= taken.places;
    }
  }

  /** Of a node that is gone. */
  async end(name: string): Promise<void> {
    const againMs = await endReport(this.#dependencies, name);
    if (againMs !== undefined) this.#dependencies.queue.add(name, againMs);
  }

  #isItsTurn(name: string, observation: NodeObservation): boolean {
    const nowMs = this.#dependencies.clock.monotonicMs();
    observation.recordTurnMs ??= this.#nextTurn(nowMs);
    // On a slow server turns come faster than they end: this one goes to the end of the line.
    if (observation.recordTurnMs <= nowMs && this.#underWay >= UNDER_WAY_MAX)
      observation.recordTurnMs = Math.max(nowMs + INTERVAL_MS, this.#nextTurn(nowMs));
    if (observation.recordTurnMs <= nowMs) return true;
    this.#dependencies.queue.add(name, observation.recordTurnMs - nowMs);
    return false;
  }

  #nextTurn(nowMs: number): number {
    this.#lastTurnMs = Math.max(this.#lastTurnMs + INTERVAL_MS, nowMs - (AT_ONCE - 1) * INTERVAL_MS);
    return this.#lastTurnMs;
  }
}
