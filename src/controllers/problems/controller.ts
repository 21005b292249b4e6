import { canonical } from '../../domain/canonical.ts';
import { alarmWords } from '../../domain/remedy/alarm-words.ts';
import { judgeNode } from '../../domain/remedy/judge-node.ts';
import type { AlarmNews, NodeJudgement } from '../../domain/remedy/judge-node.ts';
import { mergeProblems, NO_NODE_PROBLEMS, nodeProblems, problemRecord } from '../../domain/remedy/problem-record.ts';
import type { NodeProblem, ProblemReports } from '../../ports/problems.ts';
import { conflictUnless, gatedWrites } from '../shared/gated-cluster.ts';
import { updateReport } from '../shared/node-report.ts';
import type { ReportStatus } from '../shared/node-report.ts';
import { keyOf } from '../shared/reconciler/kind.ts';
import type { Plan } from '../shared/reconciler/kind.ts';
import { Reconciler } from '../shared/reconciler/reconciler.ts';
import { WriteGate } from '../shared/write-gate.ts';
import { ProblemCounting } from './counting.ts';
import type { ProblemDependencies } from './dependencies.ts';
import { ProblemLedger } from './ledger.ts';
import { WritePace } from './write-pace.ts';

export const KIND = 'NodeProblems';
/** So often what keeps it from its work is told anew. */
const TOLD_MS = 30_000;

type Action = { kind: 'tell'; news: readonly AlarmNews[]; judgement: NodeJudgement } | { kind: 'write' };

/**
 * Counts what goes wrong with nodes (docs/remedies.md): Events, and what the other controllers report. Nothing is ever switched because of it. The leader alone
 * counts, from what the reports keep; an alarm is told before it is written, so that a crash tells it twice rather than never.
 */
export class ProblemController implements ProblemReports {
  readonly #dependencies: ProblemDependencies;
  readonly #ledger = new ProblemLedger();
  readonly #counting: ProblemCounting;
  readonly #pace = new WritePace();
  readonly #gate: WriteGate;
  readonly #reconciler: Reconciler;
  /** The record of each node as we know it to be written. */
  readonly #written = new Map<string, string>();
  readonly #writes: Pick<ProblemDependencies, 'cluster' | 'listers'>;
  #cancelTelling: () => void = () => undefined;

  constructor(dependencies: ProblemDependencies) {
    const { clock, cluster, leadership, listers, metrics, queue, log } = dependencies;
    this.#dependencies = dependencies;
    this.#counting = new ProblemCounting(dependencies, this.#ledger);
    const watches = [listers.nodes, listers.reports];
    this.#gate = new WriteGate({ clock, leadership, enforce: () => watches.every(({ synced }) => synced), watches: () => watches });
    this.#writes = { cluster: gatedWrites(conflictUnless(() => this.#gate.mayWrite()))(cluster), listers };
    this.#reconciler = new Reconciler({
      ...{ name: 'problems', gate: this.#gate, leadership, clock, queue, log },
      metrics: { acted: (kind, result) => metrics.acted(kind, result), problems: () => this.#showProblems() },
      kinds: [{ kind: KIND, reconcile: (key) => Promise.resolve(this.#decide(nodeIn(key))), isReported: (_key, _error, failures) => failures > 1 }],
      isSynced: () => [listers.nodes, listers.reports, listers.fences, listers.pods].every(({ synced }) => synced),
      enqueueAll: () => this.#load(),
      subscribe: () => this.#subscribe(),
    });
  }

  start(): void {
    this.#reconciler.start();
    this.#tell();
  }

  wake(): void {
    this.#reconciler.wake();
  }

  reconcile(key: string): Promise<{ afterMs: number } | undefined> {
    return this.#reconciler.reconcile(key);
  }

  close(): void {
    this.#cancelTelling();
    this.#reconciler.close();
    // It may be served no more while the process goes on: what it showed last would stand for ever.
    this.#dependencies.metrics.problems(0);
    this.#dependencies.metrics.alarms(new Map());
  }

  problems(): string[] {
    const unread = this.#dependencies.eventsProblem();
    const remedy = 'give the account of the controller the rights to list and watch events: kubectl apply -k config/remedies';
    const words = unread === undefined ? [] : [`Events about Nodes are not counted: ${unread}; ${remedy}`];
    return [...words, ...this.#reconciler.problems()];
  }

  report(problem: NodeProblem): void {
    if (this.#isLeading() && this.#counting.problem(problem)) this.#enqueue(problem.node);
  }

  #isLeading(): boolean {
    return this.#dependencies.leadership.isLeading;
  }

  #enqueue(node: string): void {
    this.#dependencies.queue.add(keyOf(KIND, { metadata: { name: node } }));
  }

  /** Leadership has come: what the reports keep is all that is known, and whatever still stands in the cluster is counted on. */
  #load(): void {
    if (!this.#isLeading()) return;
    const { listers } = this.#dependencies;
    this.#ledger.clear();
    this.#written.clear();
    for (const { metadata, status } of listers.reports.all()) {
      if (status?.problemCounts === undefined) continue;
      this.#ledger.set(metadata.name, nodeProblems(metadata.name, status.problemCounts));
      this.#written.set(metadata.name, canonical(status.problemCounts));
    }
    for (const event of listers.events.all()) this.#counting.event(event, event);
    for (const fence of listers.fences.all()) this.#counting.fence(fence, undefined);
    this.#enqueueKnown();
  }

  #enqueueKnown(): void {
    for (const node of this.#ledger.nodes()) this.#enqueue(node);
  }

  #subscribe(): (() => void)[] {
    const { listers, settings } = this.#dependencies;
    return [
      listers.events.onChange((before, after) => {
        if (after !== undefined && this.#isLeading() && this.#counting.event(after, before)) this.#enqueue(after.problem?.node ?? '');
      }),
      listers.fences.onChange((before, after) => {
        if (after !== undefined && this.#isLeading() && this.#counting.fence(after, before)) this.#enqueue(after.spec.node);
      }),
      settings.onChange(() => {
        this.#counting.configurationChanged();
        this.#enqueueKnown();
      }),
    ];
  }

  #decide(node: string): Plan<Action> | undefined {
    const { clock } = this.#dependencies;
    const judgement = judgeNode({
      node,
      problems: this.#ledger.of(node),
      alarms: this.#counting.alarmsOf(node),
      seen: (subject, reason) => this.#ledger.seen(subject, reason).map((one) => ({ ...one, alarms: this.#counting.alarmsOf(one.node) })),
      holderOf: (alarm) => this.#ledger.holderOf(alarm),
      nowMs: clock.wallMs(),
    });
    if (judgement.news.length === 0) this.#ledger.set(node, judgement.problems);
    for (const other of judgement.elsewhere) this.#enqueue(other);
    const nowMs = clock.monotonicMs();
    const isWritten = canonical(problemRecord(judgement.problems) ?? null) === (this.#written.get(node) ?? 'null');
    if (isWritten) this.#pace.forget(node);
    const turnMs = isWritten ? Infinity : this.#pace.turnMs(node, nowMs);
    const tell: Action[] = judgement.news.length === 0 ? [] : [{ kind: 'tell', news: judgement.news, judgement }];
    const actions: Action[] = turnMs <= nowMs ? [...tell, { kind: 'write' }] : tell;
    const dueInMs = Math.min(judgement.dueMs - clock.wallMs(), turnMs <= nowMs ? Infinity : turnMs - nowMs);
    if (actions.length === 0 && dueInMs === Infinity) return undefined;
    return { actions, problems: [], dueInMs, perform: (action) => this.#perform(node, action) };
  }

  async #perform(node: string, action: Action): Promise<void> {
    if (action.kind === 'write') return this.#write(node);
    // Counted since it was decided: it is judged anew, in the turn in which it is told.
    for (const news of action.news) this.#tellNews(node, news);
    this.#ledger.set(node, { ...this.#ledger.of(node), raised: action.judgement.problems.raised });
    this.#showAlarms();
  }

  /** What somebody else wrote meanwhile is counted too. */
  async #write(node: string): Promise<void> {
    const { clock, listers } = this.#dependencies;
    this.#pace.take(node, clock.monotonicMs());
    // Its report was removed with it: that was kept for long enough.
    if (listers.nodes.get(node) === undefined && listers.reports.get(node) === undefined) {
      this.#ledger.set(node, NO_NODE_PROBLEMS);
      this.#written.delete(node);
      return;
    }
    let written = 'null';
    await updateReport(this.#writes, node, (status) => {
      const merged = this.#mergedWith(node, status);
      const record = problemRecord(merged);
      this.#ledger.set(node, merged);
      written = canonical(record ?? null);
      const { problemCounts: _before, ...others } = status;
      return { ...others, ...(record !== undefined && { problemCounts: record }) };
    });
    this.#written.set(node, written);
    this.#enqueue(node);
  }

  #mergedWith(node: string, { problemCounts }: ReportStatus): ReturnType<typeof mergeProblems> {
    const own = this.#ledger.of(node);
    const isOurs = canonical(problemCounts ?? null) === (this.#written.get(node) ?? 'null');
    return isOurs ? own : mergeProblems(nodeProblems(node, problemCounts), own);
  }

  #tellNews(node: string, { kind, alarm, problems, nodes }: AlarmNews): void {
    const { recorder, log, attention, listers } = this.#dependencies;
    const { subject, reason, count, windowMs } = alarm;
    const about = { apiVersion: 'v1', kind: 'Node', metadata: listers.nodes.get(node)?.metadata ?? { name: node } };
    const who = subject.startsWith('workload ') ? `pods of ${subject.slice('workload '.length)} ran there` : subject;
    const words = alarmWords({ reason, problems, nodes, windowMs });
    const where = nodes.length > 1 ? ` (${nodes.slice(0, NODES_NAMED).join(', ')}${nodes.length > NODES_NAMED ? ', ...' : ''})` : '';
    if (kind === 'raised') {
      attention.problem('ProblemAlarmRaised');
      recorder.event(about, 'Warning', 'ProblemAlarmRaised', `${words}${where}: ${who}. The alarm asks for ${count}.`);
    } else
      recorder.event(about, 'Normal', 'ProblemAlarmCleared', `Fewer than ${alarmWords({ reason, problems: count, nodes: [], windowMs })}: ${who}.`);
    log.info('problem alarm', { node, reason, problem: `${kind}: ${words}${where}: ${who}` });
  }

  #showAlarms(): void {
    const counts = new Map<string, { node: number; workload: number }>();
    for (const { subject, reason } of this.#ledger.raised()) {
      const label = this.#counting.labelOf(reason);
      const known = counts.get(label) ?? { node: 0, workload: 0 };
      counts.set(label, subject.startsWith('node ') ? { ...known, node: known.node + 1 } : { ...known, workload: known.workload + 1 });
    }
    this.#dependencies.metrics.alarms(counts);
  }

  /** All of them: an alert waits for one that stands, whatever else comes and goes. */
  #showProblems(): void {
    this.#dependencies.metrics.problems(this.#isLeading() ? this.problems().length : 0);
  }

  #tell(): void {
    const { clock, tellProblems } = this.#dependencies;
    tellProblems(this.#isLeading() ? this.problems() : []);
    this.#showProblems();
    this.#showAlarms();
    this.#cancelTelling = clock.after(TOLD_MS, () => this.#tell());
  }
}

/** Of more nodes the Event says how many they are. */
const NODES_NAMED = 5;

function nodeIn(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
