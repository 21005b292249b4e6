import type { RemedyClock, ThresholdView } from '../../domain/remedy/conditions.ts';
import { REMEDY_PHASES } from '../../domain/remedy/position.ts';
import type { RemedyPhase, RemedyState } from '../../domain/remedy/position.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import { isFinished } from '../../ports/batch.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Node, NodeCondition } from '../../ports/objects.ts';
import { REMEDIATION_POD, REMEDY_REQUESTER } from '../../ports/remedies.ts';
import type { RemedyRunRecord } from '../../ports/remedies.ts';
import { NODE_FENCE_REPORTS, NODES } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { updateReport } from '../shared/node-report.ts';
import type { Plan } from '../shared/reconciler/kind.ts';
import { dueInMs, heldBack, messageOf, POLL_MS, problemsOf } from './actions.ts';
import type { Action } from './actions.ts';
import type { RemedyDependencies } from './dependencies.ts';
import { DOUBTED, doubtsOf, nextOf } from './doubts.ts';
import { eventsOf } from './events.ts';
import { Evictions } from './evictions.ts';
import { isOrphan, observe } from './observe.ts';
import type { Observation } from './observe.ts';
import { NodeMemory } from './memory.ts';
import { observedNode } from './observed.ts';
import type { Heard } from './observed.ts';
import { Performer } from './perform.ts';
import { RemedyPermission } from './permission.ts';
import { isSilent, presenceOf } from './presence.ts';
import { isIdle, isOwnIsolation } from './runs/fence-runs.ts';
import { nodeOfJob } from './runs/job-runs.ts';
import { Runs } from './runs/runs.ts';
import { Stages } from './stages.ts';
import { isOfAnother, mustBeWritten, remediesStatus, restoredStatus } from './status.ts';

/** Behind what was written: what follows from it is decided by what stands then. */
const NEXT_MS = 0;
/** No change of the Node says that its daemon has looked again. */
const LOOKED_MS = 15_000;
/** Words that only count otherwise are written no more often: in a storm thousands wait for one policy. */
const WORDS_MS = 60_000;
/** Reason of a remedy that did not succeed, as problems are counted. */
const REMEDY_FAILED = 'RemedyFailed';

/** Everything about remedies of nodes, one at a time each. Kept in memory is only who was seen when. */
export class RemedyNodes {
  readonly #given: RemedyDependencies;
  readonly #memories = new Map<string, NodeMemory>();
  /** What was last seen of each node's thresholds, to reconcile only where that has changed. */
  readonly #signs = new Map<string, string>();
  readonly #stages = new Stages();
  readonly #evictions: Evictions;
  readonly #runs: Runs;
  readonly #performer: Performer;
  readonly #stopping = new AbortController();

  constructor(given: RemedyDependencies) {
    const { cluster, clock, recorder, planner, options } = given;
    this.#given = given;
    this.#evictions = new Evictions(cluster, clock, (node) => planner.planFor(node));
    this.#runs = new Runs({ clock, cluster, recorder, evictions: this.#evictions, planner, namespace: options.namespace });
    this.#performer = new Performer({ ...given, runs: this.#runs, evictions: this.#evictions, stages: this.#stages });
  }

  /**
   * In how many milliseconds what has changed of this node is to be reconciled; `undefined`: nothing follows from it. Its conditions are followed here, whatever
   * comes of it: most of them only begin to match, and nothing follows before they have for their period.
   */
  nodeChanged(name: string, before: Node | undefined, node: Node | undefined): number | undefined {
    if (node === undefined || this.#isMadeAnew(node)) return 0;
    const thresholds = this.#given.settings.remediesOf(node).thresholds;
    if (thresholds.length === 0) return this.#memories.has(name) ? 0 : undefined;
    const memory = this.#follow(before, node, thresholds);
    const nowMs = this.#given.clock.monotonicMs();
    const views = thresholds.map((threshold) => memory.viewOf(threshold, nowMs));
    const signs = views.map(({ phase, doubtedFromMs }) => `${phase}${doubtedFromMs === undefined ? '' : DOUBTED}`).join(' ');
    const known = this.#signs.get(name);
    if (known === signs) return undefined;
    this.#signs.set(name, signs);
    // What was told of a heartbeat is withdrawn when it is renewed.
    const isTold = known?.includes(DOUBTED) === true;
    if (memory.states.size > 0 || isTold || views.some(({ phase }) => phase === 'standing')) return 0;
    const dueMs = nextOf(views, nowMs);
    return dueMs === Infinity ? undefined : Math.max(0, dueMs - nowMs);
  }

  /** Nodes of which something stands, or is written. */
  concerned(): string[] {
    return [...this.#memories].filter(([, { states }]) => states.size > 0).map(([name]) => name);
  }

  isConcerned(node: string): boolean {
    return (this.#memories.get(node)?.states.size ?? 0) > 0;
  }

  concernedByUid(uid: string | undefined): string | undefined {
    return this.concerned().find((name) => this.#given.listers.nodes.get(name)?.metadata.uid === uid);
  }

  configurationChanged(): void {
    this.#signs.clear();
  }

  /** A new leader counts what remedies of its predecessors do, before it has observed their nodes. */
  restoreStages(): void {
    const now = this.#now();
    for (const report of this.#given.listers.reports.all()) {
      const { name } = report.metadata;
      const { states } = restoredStatus(report, now, this.#given.listers.nodes.get(name)?.metadata.uid);
      // What was seen of the node before says nothing of what stands written.
      if (this.#memories.get(name)?.isRestored !== true) this.#stages.see(name, positionsOf(states));
    }
  }

  phases(): Readonly<Record<RemedyPhase, number>> {
    const counts = Object.fromEntries(REMEDY_PHASES.map((phase) => [phase, 0])) as Record<RemedyPhase, number>;
    for (const { states } of this.#memories.values()) for (const { position } of states.values()) counts[position.phase] += 1;
    return counts;
  }

  record({ metadata }: Node, problem: string): void {
    this.#given.recorder.event({ apiVersion: 'v1', kind: 'Node', metadata }, 'Warning', 'RemedyWaits', problem);
  }

  /** Of a Node that is gone nothing is known any more, and what still runs for it has nobody to run for. */
  async settleForgotten(name: string): Promise<void> {
    if (this.#given.listers.nodes.get(name) !== undefined) return;
    this.#forget(name);
    await this.#endJobsOfGone();
  }

  async #endJobsOfGone(): Promise<void> {
    const { nodes, jobs } = this.#given.listers;
    const uids = new Set([...nodes.all()].map(({ metadata }) => metadata.uid));
    for (const job of jobs.all()) if (!isFinished(job) && !uids.has(nodeOfJob(job))) await this.#runs.jobs.end(job);
  }

  #forget(name: string): void {
    for (const kept of [this.#memories, this.#signs]) kept.delete(name);
    this.#stages.forget(name);
    this.#evictions.forget(name);
  }

  /** Something is known, or written, of a Node that had the name before. */
  #isMadeAnew({ metadata: { name, uid } }: Node): boolean {
    const known = this.#memories.get(name);
    return (known !== undefined && known.nodeUID !== uid) || isOfAnother(this.#given.listers.reports.get(name), uid);
  }

  stop(): void {
    this.#stopping.abort(new Error('the controller stops'));
  }

  async close(): Promise<void> {
    await this.#evictions.close();
  }

  /** One pass. `undefined`: nothing is to be done about the node. */
  async reconcile(cached: Node): Promise<Plan<Action> | undefined> {
    const { name } = cached.metadata;
    if (this.#isMadeAnew(cached)) await this.#endJobsOfGone();
    const thresholds = this.#given.settings.remediesOf(cached).thresholds;
    const report = this.#given.listers.reports.get(name);
    const memory = this.#memories.get(name);
    const isWritten = report?.status?.remedies !== undefined;
    if (thresholds.length === 0 && !isWritten && (memory === undefined || memory.states.size === 0)) {
      this.#memories.delete(name);
      return undefined;
    }
    const seen = this.#observe(cached, thresholds);
    const nowMs = this.#given.clock.monotonicMs();
    const views = thresholds.map((threshold) => seen.viewOf(threshold, nowMs));
    const isQuiet = !isWritten && seen.states.size === 0 && views.every(({ phase }) => phase !== 'standing');
    const nextMs = this.#isVerified(cached, thresholds, views) ? nowMs + LOOKED_MS : Infinity;
    const dueMs = Math.min(nextMs, nextOf(views, nowMs));
    const doubts = doubtsOf(cached, thresholds, views, nowMs);
    if (isQuiet) return { actions: [], problems: doubts, dueInMs: Math.max(0, dueMs - nowMs), perform: () => Promise.resolve() };
    const plan = await this.#decide(cached, thresholds, dueMs);
    return plan && { ...plan, problems: [...plan.problems, ...doubts] };
  }

  /** One reads clear that the daemon of the node looks at. */
  #isVerified({ metadata: { name } }: Node, thresholds: readonly Threshold[], views: readonly ThresholdView[]): boolean {
    const { foundWell = [] } = this.#given.foundWell?.(name) ?? {};
    return thresholds.some(({ conditionType }, index) => views[index]?.phase === 'clearing' && foundWell.some(({ type }) => type === conditionType));
  }

  async #decide({ metadata: { name, uid } }: Node, thresholds: readonly Threshold[], viewDueMs: number): Promise<Plan<Action> | undefined> {
    const { cluster, clock } = this.#given;
    // As it is now, not as a watch shows it: what stood a moment ago begins nothing.
    const [node, report] = await Promise.all([cluster.get(NODES, name), cluster.get(NODE_FENCE_REPORTS, name)]);
    if (node === undefined || node.metadata.uid !== uid) return { actions: [], problems: [], dueInMs: POLL_MS, perform: () => Promise.resolve() };
    const memory = this.#observe(node, thresholds, { report });
    const permission = this.#permission(name, memory);
    const { isIncomplete } = this.#given.settings.remediesOf(node);
    const request = { node, memory, thresholds, isIncomplete, report, permission, nowMs: clock.monotonicMs() };
    const found = await observe(
      { ...this.#given, runs: this.#runs, evictions: this.#evictions, presenceOf: (of) => this.#presenceOf(of, report) },
      request,
    );
    const { decisions } = found;
    const actions = this.#actionsOf(found, memory, report);
    const isWrite = actions.some(({ kind }) => kind === 'write');
    return {
      actions,
      problems: problemsOf(name, found),
      dueInMs: Math.min(dueInMs(decisions, clock.monotonicMs()), Math.max(0, viewDueMs - clock.monotonicMs())),
      ...(isWrite && { afterActionsMs: NEXT_MS }),
      perform: (action) =>
        action.kind === 'write' ? this.#write(found, memory, report) : this.#performer.perform(action, found, memory, permission),
      // A record on the Node is no reason to stand still.
      mayBeRefused: ({ kind }) => kind === 'annotate',
    };
  }

  #actionsOf(found: Observation, memory: NodeMemory, report: NodeFenceReport | undefined): Action[] {
    const { decisions, seen, contexts, fence, node } = found;
    const ends = [...contexts.values()].filter(({ run }) => seen.get(run.id)?.mustGo === true).map((context): Action => ({ kind: 'end', context }));
    const isChanged = decisions.some((decision) => decision.isChanged);
    const isDue = this.#given.clock.monotonicMs() - memory.wroteAtMs >= WORDS_MS;
    const isOver = fence !== undefined && (isOrphan(fence.spec, REMEDY_REQUESTER.kind, memory) || isIdle(fence, positionsOf(memory.states)));
    const orphan = isOver ? fence.spec.requestedBy : undefined;
    if (isChanged || mustBeWritten(this.#statusOf(found, memory, report), report?.status?.remedies, isDue)) {
      // Behind the write nothing is known of a Node that had the name before, nor looked for.
      const ofAnother = isOfAnother(report, node.metadata.uid) ? orphan : undefined;
      const withdrawn: Action[] = ofAnother === undefined ? [] : [{ kind: 'withdraw', requester: ofAnother }];
      return [...ends, ...withdrawn, { kind: 'write' }, ...annotations(node, podOfEnded(found))];
    }
    const pod = [...seen.values()].find((each) => each.pod !== undefined)?.pod;
    const proceeding = decisions.flatMap((decision): Action[] => {
      const { row, state } = decision;
      const context = row === 'run-runs' && heldBack(decision, found) === undefined ? contexts.get(state?.position.run?.id ?? '') : undefined;
      return context === undefined || this.#runs.of(context).proceed === undefined ? [] : [{ kind: 'proceed', context }];
    });
    return [
      ...ends,
      ...decisions.flatMap(({ threshold, actions = [] }) => actions.map((action): Action => ({ kind: 'act', threshold, action }))),
      ...proceeding,
      ...annotations(node, pod),
      ...(orphan === undefined ? [] : [{ kind: 'withdraw' as const, requester: orphan }]),
    ];
  }

  #statusOf(found: Observation, memory: NodeMemory, report: NodeFenceReport | undefined, runs = memory.runs): ReturnType<typeof remediesStatus> {
    const { decisions } = found;
    const messages = new Map(
      decisions.flatMap((decision) => {
        const message = messageOf(decision, found);
        return message === undefined ? [] : [[decision.threshold, message] as const];
      }),
    );
    const states = new Map(decisions.flatMap(({ threshold, state }) => (state === undefined ? [] : [[threshold, state] as const])));
    const { nodeUID, observed } = memory;
    return remediesStatus({ nodeUID, observed, states, messages, runs }, report?.status?.remedies, timestamp(this.#given.clock));
  }

  /** Before anything is done by it. What is told follows the write. */
  async #write(found: Observation, memory: NodeMemory, report: NodeFenceReport | undefined): Promise<void> {
    const { cluster, clock, recorder, metrics, log, countProblem } = this.#given;
    const { thresholds } = this.#given.settings.remediesOf(found.node);
    const { node, decisions } = found;
    const { name } = node.metadata;
    const records = await this.#recordsOf(found);
    const runs = [...memory.runs, ...records.values()];
    const before = memory.states;
    // What was decided by: a watch that lags may show what is to be written, and did stand there once.
    await updateReport({ cluster, listers: { reports: { get: () => report } } }, name, (status) => {
      const { remedies, ...rest } = status;
      const written = this.#statusOf(found, memory, { metadata: { name }, status }, runs);
      return written === undefined ? rest : { ...rest, remedies: written };
    });
    memory.wrote(decisions, runs, this.#now());
    this.#stages.see(name, positionsOf(memory.states));
    for (const decision of decisions) {
      if (!decision.isChanged) continue;
      const record = records.get(decision.threshold);
      if (record !== undefined) metrics.ended(record.threshold, record.remedy, record.result);
      if (record !== undefined && record.result !== 'succeeded')
        countProblem?.({ node: name, reason: REMEDY_FAILED, atMs: Date.parse(record.endedAt) });
      const begun = before.has(decision.threshold) ? undefined : thresholds.find(({ id }) => id === decision.threshold)?.conditionType;
      if (begun !== undefined) countProblem?.({ node: name, reason: begun, atMs: clock.wallMs() });
      log.info('remedy decided', { node: name, reason: decision.row, detail: `${decision.threshold}: ${decision.state?.position.phase ?? 'none'}` });
      for (const { type, reason, message } of eventsOf(name, decision, before.get(decision.threshold), record))
        recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, type, reason, message);
    }
  }

  async #recordsOf({ decisions, seen, contexts }: Observation): Promise<ReadonlyMap<string, RemedyRunRecord>> {
    const records = new Map<string, RemedyRunRecord>();
    for (const { threshold, ended } of decisions) {
      if (ended === undefined) continue;
      const { run, result } = ended;
      const [context, found] = [contexts.get(run.id), seen.get(run.id)];
      const pod = found?.pod;
      const tail = context === undefined || pod === undefined ? undefined : await this.#runs.of(context).tail?.(context, pod);
      const message = [found?.message, tail].filter((part) => part !== undefined && part !== '').join('\n');
      const endedAt = timestamp(this.#given.clock);
      const base = { threshold, remedy: run.remedy, of: String(run.of), result, endedAt };
      records.set(threshold, { ...base, ...(message !== '' && { message: message.slice(0, RECORD_MAX) }), ...(pod !== undefined && { pod }) });
    }
    return records;
  }

  /** Only what has changed, where the boot is the same: nodes post one condition at a time. */
  #follow(before: Node | undefined, node: Node, thresholds: readonly Threshold[]): NodeMemory {
    const known = this.#memories.get(node.metadata.name);
    const isSame = before?.metadata.uid === node.metadata.uid && before?.status.nodeInfo?.bootID === node.status.nodeInfo?.bootID;
    if (known?.observed === undefined || !isSame || this.#signs.get(node.metadata.name) === undefined) return this.#observe(node, thresholds);
    const changed = thresholds.filter(({ conditionType }) => !isSameCondition(conditionOf(before, conditionType), conditionOf(node, conditionType)));
    if (changed.length > 0) known.observeSome(observedNode(node, this.#heard(node), changed), changed, this.#clocks());
    return known;
  }

  /** `read`: what is written down by a consistent read; the first one is gone on from. */
  #observe(node: Node, thresholds: readonly Threshold[], read?: { report: NodeFenceReport | undefined }): NodeMemory {
    const { name, uid } = node.metadata;
    const known = this.#memories.get(name);
    // What its predecessor wrote of it stays counted until it is read: a first sight forgets nothing.
    if (known !== undefined && known.nodeUID !== uid) this.#forget(name);
    const memory = this.#memories.get(name) ?? new NodeMemory(uid);
    this.#memories.set(name, memory);
    if (read !== undefined && !memory.isRestored) {
      memory.restore(restoredStatus(read.report, this.#now(), uid));
      this.#stages.see(name, positionsOf(memory.states));
    }
    memory.observe(observedNode(node, this.#heard(node), thresholds), thresholds, this.#clocks());
    return memory;
  }

  #heard(node: Node): Heard {
    return { isSilent: isSilent(this.#given, node), foundWell: this.#given.foundWell?.(node.metadata.name) };
  }

  #clocks(): RemedyClock {
    return { ...this.#now(), freshSinceMs: this.#given.listers.nodes.freshSinceMs };
  }

  #permission(name: string, memory: NodeMemory): RemedyPermission {
    const { cluster, clock, remedyHolds, options } = this.#given;
    const { ownNode } = options;
    const isOwn = (fence: Parameters<typeof isOwnIsolation>[0]): boolean =>
      positionsOf(memory.states).some((position) => isOwnIsolation(fence, position));
    return new RemedyPermission(
      {
        ...{ cluster, clock, mode: options.mode, isOwnIsolation: isOwn },
        stormHolds: (node) => remedyHolds(node, this.#stages.all),
        ...(ownNode !== undefined && { ownNode }),
      },
      name,
    );
  }

  async #presenceOf(node: Node, report: NodeFenceReport | undefined): ReturnType<typeof presenceOf> {
    return presenceOf(this.#given, node, report?.status?.identity?.systemUUID, this.#stopping.signal);
  }

  #now(): { monotonicMs: number; wallMs: number } {
    const { clock } = this.#given;
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
  }
}

const RECORD_MAX = 4_000;

/** Of a run that is not looked at again. */
function podOfEnded({ decisions, seen }: Observation): string | undefined {
  return decisions.map(({ ended }) => seen.get(ended?.run.id ?? '')?.pod).find((pod) => pod !== undefined);
}

function annotations({ metadata }: Node, pod: string | undefined): Action[] {
  return pod === undefined || metadata.annotations?.[REMEDIATION_POD] === pod ? [] : [{ kind: 'annotate', pod }];
}

function conditionOf(node: Node | undefined, type: string): NodeCondition | undefined {
  return node?.status.conditions?.find((condition) => condition.type === type);
}

function isSameCondition(before: NodeCondition | undefined, after: NodeCondition | undefined): boolean {
  return before?.status === after?.status && before?.lastHeartbeatTime === after?.lastHeartbeatTime;
}

function positionsOf(states: ReadonlyMap<string, RemedyState>): RemedyState['position'][] {
  return [...states.values()].map(({ position }) => position);
}
