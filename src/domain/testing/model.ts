import { decide } from '../automaton.ts';
import { isWaiting } from '../waiting.ts';
import type { FenceFacts, JobReport, NodeFacts, Since, Snapshot } from '../snapshot.ts';
import type { JournalEntry, NodeFenceStatus } from '../node-fence.ts';
import { DEFAULT_TIMING } from '../plan.ts';
import type { Plan, PlanMethod } from '../plan.ts';
import { proofOf, READ_BACK_EVIDENCE } from '../evidence.ts';
import type { Decision, Dispatch } from '../transition.ts';
import { signsOf } from '../health.ts';
import { compile } from '../program.ts';

export function method(name: string, agent: string, action: PlanMethod['action'], more: Partial<PlanMethod> = {}): PlanMethod {
  const kind = agent === 'cordon' || agent === 'uncordon' ? 'action' : 'power';
  return { name, agent, kind, action, device: kind === 'power' ? `bmc-${name}` : '', plug: '', parameters: {}, deviceMaxLatencyMs: 30_000, ...more };
}

export function planOf(more: Partial<Plan> = {}): Plan {
  return {
    source: 'node',
    isolation: [{ level: 1, methods: [method('cordon', 'cordon', 'run')] }],
    powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' }), method('on', 'redfish', 'on', { device: 'bmc' })] }],
    recovery: [{ level: 1, methods: [method('uncordon', 'uncordon', 'run')] }],
    timing: DEFAULT_TIMING,
    stepRetries: 2,
    maxRestarts: 1,
    trigger: 'not-ready',
    release: 'auto',
    minimumEvidence: READ_BACK_EVIDENCE,
    identity: 'verified',
    problems: [],
    ...more,
  };
}

/** A model of the shell without I/O: marks, one fence, one node; tests push it about and read what was decided. */
export class Model {
  nowMs = 1_000_000;
  /** By so much the clock on the wall was set back. */
  wallBackMs = 0;
  plan: Plan;
  askedPlan: Plan | undefined;
  node: NodeFacts | undefined;
  fence: FenceFacts | undefined;
  holds: Snapshot['holds'] = [];
  stop: Snapshot['stop'];
  preservation: Snapshot['preservation'];
  dump: Snapshot['dump'];
  acknowledgement: Snapshot['acknowledgement'];
  workload: Snapshot['workload'] = { pods: 1, terminating: 0, volumeAttachments: 1 };
  epoch = 7;
  record: Snapshot['record'];
  lastIncident = 0;
  readonly inFlight = new Set<string>();
  reports: JobReport[] = [];
  rows: string[] = [];
  dispatched: Dispatch[] = [];
  /** Reasons of Events, and what each of them said. */
  events: string[] = [];
  words: string[] = [];
  /** First sights of this process, by key. */
  marks = new Map<keyof Since, { value: string; atMs: number }>();
  /** When this process itself read the device for the evidence of a run. */
  proofs = new Map<string, number>();
  setAtMs: number | undefined;
  #count = 0;

  constructor(plan: Plan = planOf()) {
    this.plan = plan;
    this.node = { name: 'a', uid: 'uid-a', ready: 'True', readyReason: 'KubeletReady', bootID: 'boot-1', systemUUID: 'sys-a', lifeAtMs: this.nowMs };
  }

  /** The same world once more, to be pushed another way; what was recorded of the past is not copied. */
  copy(): Model {
    const copy = new Model(this.plan);
    Object.assign(copy, { nowMs: this.nowMs, node: this.node, fence: this.fence, holds: this.holds, stop: this.stop, workload: this.workload });
    copy.acknowledgement = this.acknowledgement;
    copy.preservation = this.preservation;
    copy.askedPlan = this.askedPlan;
    copy.dump = this.dump;
    Object.assign(copy, { epoch: this.epoch, reports: this.reports, setAtMs: this.setAtMs });
    copy.#count = this.#count;
    copy.marks = new Map(this.marks);
    copy.proofs = new Map(this.proofs);
    for (const id of this.inFlight) copy.inFlight.add(id);
    return copy;
  }

  get status(): NodeFenceStatus {
    if (this.fence?.status === undefined) throw new Error('no fence status yet');
    return this.fence.status;
  }

  /** The node dies: Unknown, silent. */
  fail(): void {
    if (this.node !== undefined) this.node = { ...this.node, ready: 'Unknown', readyReason: 'NodeStatusUnknown', lifeAtMs: this.nowMs - 40_000 };
  }

  /** Something is received from the node. */
  live(change: Partial<NodeFacts> = {}): void {
    if (this.node !== undefined) this.node = { ...this.node, ...change, lifeAtMs: this.nowMs };
  }

  /** A new process has taken over: nothing was seen before now. */
  takeOver(): void {
    this.marks.clear();
    this.proofs.clear();
    this.setAtMs = undefined;
    this.inFlight.clear();
    this.reports = [];
    this.epoch += 1;
    if (this.node !== undefined) this.node = { ...this.node, lifeAtMs: this.nowMs };
  }

  /** The world has taken away what was let go. */
  drained(): void {
    this.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
  }

  snapshot(): Snapshot {
    this.#count += 1;
    const status = this.fence?.status;
    if (status !== undefined) {
      const last = status.journal.at(-1);
      this.#mark('position', [status.incident, status.restarts, status.state, status.step, status.level].join('/'));
      this.#mark('journal', last === undefined ? undefined : `${last.id}${last.result ?? ''}`);
      const action = status.journal.findLast((entry) => entry.step !== 'recovery');
      this.#mark('action', action === undefined ? undefined : `${action.id}${action.result ?? ''}`);
      const off = status.journal.findLast(
        (entry) => entry.step === 'power-management' && entry.operation.startsWith('off:') && entry.result === 'succeeded',
      );
      this.#mark('off', off?.id);
      this.#mark('released', status.released?.at);
      const batches = [status.released, status.storageRelease].filter((one) => one !== undefined).map(({ at, batch = 0 }) => `${at}/${batch}`);
      this.#mark('batch', batches.length === 0 ? undefined : batches.join());
      this.#mark('waiting', isWaiting(status.hold) ? 'waiting' : undefined);
      this.#mark('alarmed', status.hold?.alarmedAt);
      this.#mark('held', status.hold === undefined ? undefined : `${status.hold.policy}/${status.hold.reason}`);
    }
    const signs = signsOf(this.node, status, this.plan, this.#since(), this.nowMs);
    for (const key of ['notReady', 'triggered', 'failing', 'healthy'] as const) this.#mark(key, signs[key] === undefined ? undefined : key);
    return {
      nowMs: this.nowMs,
      wall: new Date(1_700_000_000_000 + this.nowMs - this.wallBackMs).toISOString(),
      node: this.node,
      fence: this.fence,
      since: this.#since(),
      holds: this.holds,
      ...(this.preservation === undefined ? {} : { preservation: this.preservation }),
      ...(this.dump === undefined ? {} : { dump: this.dump }),
      stop: this.stop,
      inFlight: this.inFlight,
      reports: this.reports,
      plan: this.plan,
      ...(this.askedPlan === undefined ? {} : { askedPlan: this.askedPlan }),
      identity: undefined,
      ...(this.record === undefined ? {} : { record: this.record }),
      lastIncident: this.lastIncident,
      acknowledgement: this.acknowledgement,
      workload: this.workload,
      epoch: this.epoch,
      actsFromMs: 0,
      uuid: String(this.#count),
    };
  }

  /** One pass: decide, write, dispatch. */
  step(): Decision {
    const decision = decide(this.snapshot());
    this.rows.push(decision.row);
    this.events.push(...decision.events.map((event) => event.reason));
    this.words.push(...decision.events.map((event) => event.message));
    if (decision.create !== undefined)
      this.fence = { uid: 'fence-1', spec: decision.create.spec, status: undefined, deleting: false, finalized: true };
    if (decision.status !== undefined && this.fence !== undefined) {
      this.fence = { ...this.fence, status: decision.status };
      this.reports = [];
    }
    if (decision.removeFinalizer === true) this.fence = undefined;
    if (decision.dispatch !== undefined) {
      this.dispatched.push(decision.dispatch);
      this.inFlight.add(decision.dispatch.entry.id);
      if (decision.dispatch.entry.action === 'off') this.setAtMs = this.nowMs;
    }
    return decision;
  }

  /** Passes until nothing changes but by time, then lets time run to the next wish; ends at `done`, at a dispatch, or after a bound. */
  runUntil(done: () => boolean, stepsMax = 200): void {
    for (let count = 0; count < stepsMax; count += 1) {
      if (done()) return;
      const decision = this.step();
      if (this.inFlight.size > 0) return;
      if (decision.requeueAtMs !== undefined && decision.requeueAtMs > this.nowMs) this.nowMs = decision.requeueAtMs;
      else if (decision.requeueAtMs === undefined && decision.status === undefined && decision.create === undefined) return;
    }
    throw new Error(`not done after ${stepsMax} passes; rows: ${this.rows.slice(-10).join(' ')}`);
  }

  /** The run under way comes to an end. */
  finish(result: JobReport['result'], more: Partial<JobReport> = {}): void {
    const id = [...this.inFlight][0];
    if (id === undefined) throw new Error('nothing is in flight');
    this.inFlight.delete(id);
    const entry = this.status.journal.find((candidate) => candidate.id === id);
    const report: JobReport = { id, result, message: result, finishedAt: new Date(1_700_000_000_000 + this.nowMs).toISOString(), ...more };
    if (
      result === 'succeeded' &&
      entry !== undefined &&
      (entry.action === 'off' || (entry.action === 'confirm' && entry.operation.startsWith('off'))) &&
      this.#isLastOff(entry)
    ) {
      report.evidence = {
        kind: 'power-off',
        grade: 'read-back',
        detail: 'Off',
        identity: (this.status.frozen?.plan ?? this.plan).identity,
        observedAt: report.finishedAt,
        ...(entry.bootID === undefined ? {} : { bootID: entry.bootID }),
      };
      report.evidenceAtMs = this.nowMs;
      this.proofs.set(id, this.nowMs);
    }
    if (result === 'succeeded' && entry?.operation.startsWith('off') === true) report.edge ??= this.isFabric(entry) ? 'closed' : 'off';
    if (result === 'succeeded' && entry?.action === 'on') report.edge = 'on';
    if (result === 'succeeded' && entry?.action === 'release' && entry.step !== 'isolation')
      report.released ??= {
        by: 'out-of-service',
        at: report.finishedAt,
        pods: this.workload.pods,
        evidence: this.status.evidence.at(-1)?.source ?? '',
      };
    this.reports = [...this.reports, report];
  }

  /** Runs the next operation and answers it. */
  next(result: JobReport['result'] = 'succeeded', more: Partial<JobReport> = {}): string {
    this.runUntil(() => this.inFlight.size > 0);
    const entry = this.dispatched.at(-1)?.entry;
    if (this.inFlight.size === 0 || entry === undefined) throw new Error(`nothing was dispatched; rows: ${this.rows.slice(-8).join(' ')}`);
    this.finish(result, more);
    return `${entry.action}:${entry.method}`;
  }

  /** It closes or opens a way, and switches no power. */
  isFabric({ operation, method: name, step, level }: Pick<JournalEntry, 'operation' | 'method' | 'step' | 'level'>): boolean {
    const plan = this.fence?.status?.frozen?.plan ?? this.plan;
    const own = compile(plan, step, level).find(({ key }) => key === operation)?.method;
    const all = [...plan.isolation, ...plan.recovery].flatMap(({ methods }) => methods);
    return (own ?? all.find((other) => other.name === name))?.kind === 'fabric';
  }

  #isLastOff(entry: JournalEntry): boolean {
    const program = compile(this.status.frozen?.plan ?? this.plan, entry.step, entry.level);
    return program.findLast((operation) => operation.phase === 'off')?.key === entry.operation;
  }

  #since(): Since {
    const since: Since = {};
    for (const [key, mark] of this.marks) since[key] = mark.atMs;
    const { evidence = [], step, frozen } = this.fence?.status ?? {};
    const standing = frozen === undefined || step === undefined ? [] : evidence.filter((item) => proofOf([item], frozen.plan, step) !== undefined);
    const proof = standing.at(-1);
    const provenAtMs = proof === undefined ? undefined : this.proofs.get(proof.source);
    if (provenAtMs !== undefined) since.evidence = provenAtMs;
    const first = standing.find((item) => item.grade === proof?.grade && this.proofs.has(item.source));
    const firstAtMs = first === undefined ? undefined : this.proofs.get(first.source);
    if (firstAtMs !== undefined) since.firstEvidence = firstAtMs;
    if (this.setAtMs !== undefined) since.set = this.setAtMs;
    return since;
  }

  #mark(key: keyof Since, value: string | undefined): void {
    if (value === undefined) this.marks.delete(key);
    else if (this.marks.get(key)?.value !== value) this.marks.set(key, { value, atMs: this.nowMs });
  }
}
