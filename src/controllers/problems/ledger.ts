import type { ProblemSubject, RaisedAlarm } from '../../domain/remedy/problem-counters.ts';
import { isSame } from '../../domain/remedy/problem-counters.ts';
import { NO_NODE_PROBLEMS } from '../../domain/remedy/problem-record.ts';
import type { NodeProblems } from '../../domain/remedy/problem-record.ts';

/** Of one workload: more nodes say no more of it, and a whole cluster that fails at once must not cost its square. */
const NODES_MAX = 64;

/** The problems of all nodes, as the leader knows them; what of it is not written yet is counted again after a crash. */
export class ProblemLedger {
  readonly #nodes = new Map<string, NodeProblems>();
  /** On which nodes something was counted or told of each workload. */
  readonly #nodesOf = new Map<ProblemSubject, Set<string>>();

  clear(): void {
    this.#nodes.clear();
    this.#nodesOf.clear();
  }

  nodes(): Iterable<string> {
    return this.#nodes.keys();
  }

  of(node: string): NodeProblems {
    return this.#nodes.get(node) ?? NO_NODE_PROBLEMS;
  }

  set(node: string, problems: NodeProblems): void {
    for (const subject of subjectsOf(this.of(node))) this.#drop(subject, node);
    const isEmpty = problems.counted.length === 0 && problems.raised.length === 0 && problems.events.length === 0;
    if (isEmpty) this.#nodes.delete(node);
    else this.#nodes.set(node, problems);
    for (const subject of subjectsOf(problems)) this.#add(subject, node);
  }

  /** What each node counted of a workload. */
  seen(subject: ProblemSubject, reason: string): { node: string; timesMs: readonly number[] }[] {
    return [...(this.#nodesOf.get(subject) ?? [])].flatMap((node) => {
      const counted = this.of(node).counted.find((one) => one.subject === subject && one.reason === reason);
      return counted === undefined ? [] : [{ node, timesMs: counted.timesMs }];
    });
  }

  /** The node whose report says that the alarm of a workload was told. */
  holderOf(alarm: RaisedAlarm): string | undefined {
    return [...(this.#nodesOf.get(alarm.subject) ?? [])].find((node) => this.of(node).raised.some((one) => isSame(one, alarm)));
  }

  raised(): RaisedAlarm[] {
    return [...this.#nodes.values()].flatMap(({ raised }) => raised);
  }

  /** The node that was counted last comes last; of too many the first is left out, but for one that holds an alarm. */
  #add(subject: ProblemSubject, node: string): void {
    const nodes = (this.#nodesOf.get(subject) ?? new Set<string>()).add(node);
    this.#nodesOf.set(subject, nodes);
    if (nodes.size <= NODES_MAX) return;
    for (const other of nodes) {
      if (this.of(other).raised.some((one) => one.subject === subject)) continue;
      nodes.delete(other);
      return;
    }
  }

  #drop(subject: ProblemSubject, node: string): void {
    const nodes = this.#nodesOf.get(subject);
    nodes?.delete(node);
    if (nodes?.size === 0) this.#nodesOf.delete(subject);
  }
}

function subjectsOf({ counted, raised }: NodeProblems): Set<ProblemSubject> {
  return new Set([...counted, ...raised].map(({ subject }) => subject).filter((subject) => subject.startsWith('workload ')));
}
