import { countEvent } from '../../domain/remedy/counted-events.ts';
import type { AlarmSetting } from '../../domain/remedy/configuration.ts';
import { countProblem, isCounted, isLeftInFuture } from '../../domain/remedy/problem-counters.ts';
import { nodeSubject, workloadSubject } from '../../domain/remedy/problem-record.ts';
import type { NodeProblems } from '../../domain/remedy/problem-record.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { NodeProblem } from '../../ports/problems.ts';
import type { ProblemDependencies } from './dependencies.ts';
import type { ProblemLedger } from './ledger.ts';
import type { NodeEvent } from './node-event.ts';
import { chosenWorkloads, workloadsOn } from './workloads.ts';

/** Reason of each fence that begins because a node has failed, whatever the failure was called. */
export const NODE_FENCED = 'NodeFenced';
/** As a label, in place of reasons that no alarm names. */
export const OTHER_REASON = 'other';
/** Names as labels; there are no more reasons in a Configuration, and there may be many of those. */
const LABELS_MAX = 64;

type Dependencies = Pick<ProblemDependencies, 'clock' | 'listers' | 'podIndex' | 'settings' | 'metrics'>;

/** Takes what went wrong into the ledger. What no alarm of the node names is counted as `other`, and forgotten. */
export class ProblemCounting {
  readonly #dependencies: Dependencies;
  readonly #ledger: ProblemLedger;
  #labels: ReadonlySet<string> | undefined;

  constructor(dependencies: Dependencies, ledger: ProblemLedger) {
    this.#dependencies = dependencies;
    this.#ledger = ledger;
  }

  /** Another configuration has other reasons. */
  configurationChanged(): void {
    this.#labels = undefined;
  }

  /** As a label: a reason that some alarm names, or `other`. */
  labelOf(reason: string): string {
    this.#labels ??= new Set([...this.reasons()].sort().slice(0, LABELS_MAX));
    return this.#labels.has(reason) ? reason : OTHER_REASON;
  }

  reasons(): Set<string> {
    return new Set(this.#dependencies.settings.alarms().map(({ reason }) => reason));
  }

  /** Of a Node that is gone nobody knows the labels: whatever any Configuration asks for counts, so that what broke a machine that was replaced is not forgotten. */
  alarmsOf(node: string): readonly AlarmSetting[] {
    const { listers, settings } = this.#dependencies;
    const known = listers.nodes.get(node);
    return known === undefined ? settings.alarms() : settings.remediesOf(known).alarms;
  }

  /** Each answers whether anything was counted that was not known. */
  event({ problem, otherWarnings }: NodeEvent, before: NodeEvent | undefined): boolean {
    if (problem === undefined) {
      this.#countOther((otherWarnings ?? 0) - (before?.otherWarnings ?? 0));
      return false;
    }
    const { node, reason } = problem;
    const known = this.#ledger.of(node);
    const { timesMs, fresh, counted } = countEvent(known.events, problem);
    if (fresh === 0) return false;
    if (!this.#isNamed(node, reason)) {
      // Nothing is remembered of it: what is new is told by what stood there before.
      this.#countOther(problem.count - (before?.problem?.count ?? before?.otherWarnings ?? 0));
      return false;
    }
    this.#dependencies.metrics.counted(this.labelOf(reason), fresh);
    const nowMs = this.#dependencies.clock.wallMs();
    const happened = timesMs.map((atMs) => Math.min(atMs, nowMs));
    this.#ledger.set(node, this.#counted({ ...known, events: counted }, node, reason, happened));
    return true;
  }

  /** Counted once for each moment: whoever tells of it again after a restart gives the same one. `isNew`: nobody has told of it before. */
  problem({ node, reason, atMs }: NodeProblem, isNew = true): boolean {
    const alarms = this.#alarmsFor(node, reason);
    const known = this.#ledger.of(node);
    const nowMs = this.#dependencies.clock.wallMs();
    const isOver = atMs + Math.max(0, ...alarms.map(({ windowMs }) => windowMs)) <= nowMs;
    const same = { subject: nodeSubject(node), reason, atMs };
    const isTold = isCounted(known, same) || (!isNew && isLeftInFuture(known, same, nowMs));
    if (alarms.length > 0 && (isOver || isTold)) return false;
    const isNamed = this.#isNamed(node, reason);
    if (isNamed || isNew) this.#dependencies.metrics.counted(isNamed ? this.labelOf(reason) : OTHER_REASON, 1);
    if (!isNamed) return false;
    this.#ledger.set(node, this.#counted(known, node, reason, [atMs]));
    return true;
  }

  /** An incident that began because the node had failed; a person who asks for a fence says nothing of the node. `before`: as it was seen last. */
  fence({ spec: { node }, status }: NodeFence, before: NodeFence | undefined): boolean {
    const { trigger } = status ?? {};
    const atMs = Date.parse(trigger?.since ?? '');
    if (trigger === undefined || trigger.kind === 'person' || Number.isNaN(atMs) || before?.status?.trigger?.since === trigger.since) return false;
    const reasons = [...new Set([NODE_FENCED, trigger.reason ?? NODE_FENCED])];
    return reasons.map((reason) => this.problem({ node, reason, atMs }, before !== undefined)).some(Boolean);
  }

  /** Whether an alarm of the node names it; nobody counts for a Node that there is not. */
  #isNamed(node: string, reason: string): boolean {
    return this.#alarmsFor(node, reason).length > 0 && this.#dependencies.listers.nodes.get(node) !== undefined;
  }

  /** The first list has those of an hour, which may have been counted before. */
  #countOther(times: number): void {
    if (times > 0 && this.#dependencies.listers.events.synced) this.#dependencies.metrics.counted(OTHER_REASON, times);
  }

  #alarmsFor(node: string, reason: string): AlarmSetting[] {
    return this.alarmsOf(node).filter((alarm) => alarm.reason === reason);
  }

  /** The node's own count comes last, so that it is the last that is forgotten. */
  #counted(known: NodeProblems, node: string, reason: string, timesMs: readonly number[]): NodeProblems {
    const { listers, podIndex } = this.#dependencies;
    const alarms = this.#alarmsFor(node, reason);
    const workloads = workloadsOn(listers.pods.byIndex(podIndex, node));
    const isSuspect = (workload: string): boolean => this.#ledger.seen(workloadSubject(workload), reason).length > 0;
    let problems = known;
    for (const atMs of timesMs) {
      const subjects = [...chosenWorkloads(workloads, atMs, isSuspect).map(workloadSubject), nodeSubject(node)];
      for (const subject of subjects) problems = { ...problems, ...countProblem(problems, { subject, reason, atMs }, alarms) };
    }
    return problems;
  }
}
