import { observeConditions } from '../conditions.ts';
import type { ObservedConditions } from '../conditions.ts';
import { decideRemedies, persistedRemedies, restoredRemedies } from '../decide.ts';
import type { PersistedRemedies, RemedyDecision } from '../decide.ts';
import type { RemedyHold, RemedyRun, RemedyState } from '../position.ts';
import type { Threshold } from '../configuration.ts';

/** What happens to the node before one decision about it. */
export interface Turn {
  seconds: number;
  statuses: readonly string[];
  hold?: 'storm' | 'stop' | undefined;
  fence?: boolean;
  reboot?: boolean;
  /** The leader ends: before it has written what it decided, or before it has done what it has written, or after. */
  crash?: 'before-write' | 'before-act' | 'after' | undefined;
  /** How running Jobs end. */
  ends?: 'succeeded' | 'failed' | 'deleted' | undefined;
  isBlind?: boolean;
}

const HOLDS: Readonly<Record<'storm' | 'stop', RemedyHold>> = {
  storm: { reason: 'storm', message: 'too many nodes have failed', isPolicy: true },
  stop: { reason: 'stop', message: 'stopped by a person', isPolicy: false },
};

/** A node, its Jobs and a leader that may end at any time. Keeps what went wrong, as somebody outside sees it. */
export class RemedyWorld {
  readonly faults: string[] = [];
  readonly begun: string[] = [];
  readonly phases = new Set<string>();
  readonly #thresholds: readonly Threshold[];
  readonly #jobs = new Map<string, string>();
  readonly #created = new Set<string>();
  #written: PersistedRemedies | undefined;
  #observed: ObservedConditions | undefined;
  #states: ReadonlyMap<string, RemedyState> = new Map();
  #nowMs = 0;
  #boot = 1;
  #turns = 0;

  constructor(thresholds: readonly Threshold[]) {
    this.#thresholds = thresholds;
  }

  play(turn: Turn): void {
    this.#nowMs += 1000 * turn.seconds;
    if (turn.reboot === true) this.#boot += 1;
    if (turn.ends !== undefined) this.#end(turn.ends);
    const now = { monotonicMs: this.#nowMs, wallMs: this.#nowMs };
    const conditions = this.#thresholds.map(({ conditionType }, index) => ({ type: conditionType, status: turn.statuses[index] ?? 'False' }));
    const node = { bootID: `boot-${this.#boot}`, isSilent: false, conditions, activelyClear: new Set<string>() };
    this.#observed = observeConditions(this.#observed, node, this.#thresholds, now);
    this.#decide(turn, this.#observed);
  }

  #end(how: 'succeeded' | 'failed' | 'deleted'): void {
    for (const [id, outcome] of this.#jobs) {
      if (outcome === 'running' && how !== 'deleted') this.#jobs.set(id, how);
      // Nobody deletes a Job that was not seen yet: its finalizer keeps it.
      const isSeen = [...this.#states.values()].some(({ position }) => position.run?.id === id && position.phase === 'running');
      if (outcome === 'running' && how === 'deleted' && isSeen) this.#jobs.delete(id);
    }
  }

  #decide(turn: Turn, observed: ObservedConditions): void {
    this.#turns += 1;
    const decisions = decideRemedies({
      nowMs: this.#nowMs,
      thresholds: this.#thresholds,
      observed,
      states: this.#states,
      outcomeOf: ({ id }) => (turn.isBlind === true ? 'unknown' : ((this.#jobs.get(id) ?? 'absent') as 'running')),
      holds: turn.hold === undefined ? [] : [HOLDS[turn.hold]],
      fence: turn.fence === true ? {} : undefined,
      presence: { kind: 'alive' },
      newestPodOf: () => '2026-11-25T00:00:00Z',
      cleaned: new Set(),
      resumed: new Set(),
      bootID: `boot-${this.#boot}`,
      uuid: `u${this.#turns}`,
    });
    if (turn.crash === 'before-write') {
      this.#restart();
      return;
    }
    this.#states = new Map(decisions.flatMap(({ threshold, state }) => (state === undefined ? [] : [[threshold, state] as const])));
    for (const { state } of decisions) this.phases.add(state?.position.phase ?? 'none');
    this.#written = JSON.parse(JSON.stringify(persistedRemedies(observed, this.#states))) as PersistedRemedies;
    if (turn.crash === 'before-act') {
      this.#restart();
      return;
    }
    for (const decision of decisions) this.#perform(decision, turn);
    if (turn.crash === 'after') this.#restart();
  }

  #perform({ actions = [], isChanged, row }: RemedyDecision, turn: Turn): void {
    if (isChanged && actions.length > 0) this.faults.push(`${row} acts before it is written`);
    for (const action of actions) {
      if (action.kind === 'begin') this.#begin(action.run, turn);
      else if (action.kind === 'cancel') this.#jobs.delete(action.run.id);
      else if (turn.hold !== undefined || turn.fence === true) this.faults.push(`${action.kind} while held`);
    }
  }

  #begin(run: RemedyRun, turn: Turn): void {
    if (this.#jobs.has(run.id)) return;
    const [of] = [run.of];
    if (turn.hold === 'stop' || (turn.hold === 'storm' && of !== 'recovery')) this.faults.push(`${run.id} begins while held`);
    if (turn.fence === true) this.faults.push(`${run.id} begins while a fence is open`);
    // One remedy of one pass of one episode runs once; what its name ends in tells apart those that were never begun.
    const once = of === 'recovery' ? run.id : run.id.slice(0, run.id.lastIndexOf('-'));
    if (this.#created.has(once)) this.faults.push(`${run.id} begins twice`);
    if ([...this.#jobs.values()].includes('running')) this.faults.push(`${run.id} begins beside another one`);
    this.#created.add(once);
    this.#jobs.set(run.id, 'running');
    this.begun.push(run.remedy);
  }

  /** The next leader knows what was written down, and what the cluster shows. */
  #restart(): void {
    const restored = this.#written === undefined ? undefined : restoredRemedies(this.#written, { monotonicMs: this.#nowMs, wallMs: this.#nowMs });
    this.#observed = restored?.observed;
    this.#states = restored?.states ?? new Map<string, RemedyState>();
  }
}
