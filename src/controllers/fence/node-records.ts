import type { Node } from '../../ports/objects.ts';
import type { ReportStatus } from '../shared/node-report.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { NodeObservation } from './observation.ts';
import { endReport } from './report-end.ts';
import { comesWithProbe, identityOf, recordHealthy, withMachine } from './report.ts';

/** Small clusters have theirs at once. */
const AT_ONCE = 100;
/** Between those after them, and those that probes make: 5,000 nodes take about ten minutes, in which the probes of as many devices leave nine tenths of a core. */
const INTERVAL_MS = 125;
/** However many probes make at once, nobody else waits for more of them than this. */
const AHEAD_MAX_MS = 1_000;
/** Whoever writes takes a place among the nodes that are worked on at the same time: most of them are for those that fail. */
const UNDER_WAY_MAX = 8;

/**
 * Keeps the reports of nodes while nothing is wrong with them. Those that are missing, all of them after an installation, are made at an even pace; until
 * its turn comes, what the machine of a node said of itself while it was healthy is kept in memory, and counts as if it were on record.
 */
export class NodeRecords {
  readonly #dependencies: FenceDependencies;
  readonly #observationOf: (node: string) => NodeObservation | undefined;
  #lastTurnMs = Number.NEGATIVE_INFINITY;
  /** Until then it is the turn of nobody whose report a probe makes sooner or later. */
  #takenUntilMs = Number.NEGATIVE_INFINITY;
  #underWay = 0;

  constructor(dependencies: FenceDependencies, observationOf: (node: string) => NodeObservation | undefined) {
    this.#dependencies = dependencies;
    this.#observationOf = observationOf;
  }

  async keep(node: Node, observation: NodeObservation): Promise<void> {
    const isMissing = this.#dependencies.listers.reports.get(node.metadata.name) === undefined;
    if (isMissing) observation.machine = identityOf(this.#dependencies, node);
    const taken = { places: 0 };
    try {
      await recordHealthy(this.#dependencies, node, () => {
        if (!this.#isItsTurn(node, observation)) return false;
        this.#underWay += 1;
        taken.places += 1;
        return true;
      });
    } finally {
      this.#underWay -= taken.places;
    }
  }

  /** The first report of a healthy node, which a probe of its devices is about to write: one write in the place of two, and a turn of the pace. */
  withProbe(name: string, status: ReportStatus): ReportStatus {
    const { listers, planner, clock } = this.#dependencies;
    const [node, machine] = [listers.nodes.get(name), this.#observationOf(name)?.machine];
    if (status.identity !== undefined || node === undefined || machine === undefined || machine.nodeUID !== node.metadata.uid) return status;
    const plan = planner.planFor(node);
    if (!comesWithProbe(this.#dependencies, plan)) return status;
    const nowMs = clock.monotonicMs();
    this.#takenUntilMs = Math.min(Math.max(this.#takenUntilMs, nowMs) + INTERVAL_MS, nowMs + AHEAD_MAX_MS);
    return withMachine(status, plan, machine);
  }

  /** Of a node that is gone. */
  async end(name: string): Promise<void> {
    const againMs = await endReport(this.#dependencies, name);
    if (againMs !== undefined) this.#dependencies.queue.add(name, againMs);
  }

  #isItsTurn(node: Node, observation: NodeObservation): boolean {
    const { clock, queue } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    observation.recordTurnMs ??= this.#nextTurn(nowMs);
    // On a slow server turns come faster than they end, and a probe takes one too: this one goes to the end of the line.
    if (observation.recordTurnMs <= nowMs && (this.#underWay >= UNDER_WAY_MAX || this.#isTaken(node, nowMs)))
      observation.recordTurnMs = Math.max(nowMs + INTERVAL_MS, this.#nextTurn(nowMs));
    if (observation.recordTurnMs <= nowMs) return true;
    queue.add(node.metadata.name, observation.recordTurnMs - nowMs);
    return false;
  }

  #isTaken(node: Node, nowMs: number): boolean {
    return nowMs < this.#takenUntilMs && comesWithProbe(this.#dependencies, this.#dependencies.planner.planFor(node));
  }

  #nextTurn(nowMs: number): number {
    this.#lastTurnMs = Math.max(this.#lastTurnMs + INTERVAL_MS, nowMs - (AT_ONCE - 1) * INTERVAL_MS);
    return this.#lastTurnMs;
  }
}
