import { OUT_OF_SERVICE_TAINT } from '../../src/domain/advance.ts';
import { decide } from '../../src/domain/automaton.ts';
import { sameContent } from '../../src/domain/canonical.ts';
import { proofOf } from '../../src/domain/evidence.ts';
import type { Evidence, JobResult, JournalEntry, NodeFenceSpec, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { JobReport } from '../../src/domain/snapshot.ts';
import { provingOperation } from '../../src/domain/program.ts';
import { Model } from '../../src/domain/testing/model.ts';
import type { Decision } from '../../src/domain/transition.ts';
import { judge } from './judgement.ts';
import { shortPlan } from './short-plan.ts';
import { freeze, plain } from './run-answers.ts';
import { schemaFaults } from './schema-faults.ts';

const BEAT_MS = 2_000;
/** What a paced release has to let go. */
const PACED_PODS = 2;
const BOOT_MS = 2_000;
/** From the last sign of life until the control plane marks the node Unknown. */
const GRACE_MS = 4_000;
/** More decisions than this at one instant are a hot loop. */
const PASSES_MAX = 12;
/** Stretches of time without a change of the status, after which a person does something: lifts what stands in the way, then mends the machine. */
const PATIENCE = 16;
/** It came when the fence had let the workload go for another reason: what it asks for may not be served any more, and it let nothing go. */
const LATE_REQUEST = 'request-after-the-release';

/** The truth about the machine, which the automaton must find out by reading. */
interface Machine {
  power: 'on' | 'off';
  /** `silent`: no kubelet; `alive`: its lease is renewed; `ready`: alive, and the Node is Ready. */
  kubelet: 'silent' | 'alive' | 'ready';
  boot: number;
  readyAtMs: number | undefined;
  cordoned: boolean;
  tainted: boolean;
  /** A volume that is never detached. */
  stuckVolume: boolean;
  /** Its ways to storage that are closed, by plug. */
  closed: readonly string[];
  /** Nothing of it is left; whatever boots afterwards is another one under its name. */
  isDeleted?: boolean;
}

/** The automaton's shell and an honest world around it: whatever is not told otherwise goes well, and time passes when nothing else does. */
export class Walker {
  readonly model: Model;
  machine: Machine;
  /** Laws that were broken, in words. */
  violations: string[] = [];
  rows = new Set<string>();
  /** Checks purity and schema of every decision too; costs three times as much. */
  readonly isThorough: boolean;
  /** What becomes of the machine besides may change; or it may be asked for no more than isolation. */
  isPreservable = false;
  isLimitable = false;
  /** A cloud controller manager takes the Nodes of machines away that are gone. */
  removesNodes = false;
  /** Nobody mends anything: where only an event can change anything, `isWaiting` says so. */
  isLeftAlone = false;
  isWaiting = false;
  /** Told of each decision and of each end of a run. */
  onDecision: ((decision: Decision, before: NodeFenceStatus | undefined) => void) | undefined;
  onResult: ((entry: JournalEntry, kind: 'run' | 'recover', result: JobResult) => void) | undefined;
  #quiet = 0;
  #healed = 0;

  constructor(plan: Plan = shortPlan(), isThorough = true, model?: Model) {
    this.isThorough = isThorough;
    this.model = model ?? new Model(plan);
    this.machine = { power: 'on', kubelet: 'silent', boot: 1, readyAtMs: undefined, cordoned: false, tainted: false, stuckVolume: false, closed: [] };
    if (model === undefined) this.model.fail();
  }

  copy(): Walker {
    const copy = new Walker(this.model.plan, this.isThorough, this.model.copy());
    copy.machine = { ...this.machine };
    Object.assign(copy, { isPreservable: this.isPreservable, isLimitable: this.isLimitable, removesNodes: this.removesNodes });
    copy.model.dispatched = this.model.dispatched.slice(-1);
    [copy.#quiet, copy.#healed] = [this.#quiet, this.#healed];
    return copy;
  }

  /** The NodeFence is gone and nothing triggers another. */
  get isOver(): boolean {
    return this.model.fence === undefined && this.model.node?.ready !== 'Unknown' && this.model.node?.ready !== 'False';
  }

  get entry(): JournalEntry | undefined {
    const id = [...this.model.inFlight][0];
    return this.model.fence?.status?.journal.find((entry) => entry.id === id);
  }

  /** One thing that happens when nothing is out of the ordinary: the run under way ends well, or the automaton decides until only time can change anything, or time passes. */
  proceed(): void {
    if (this.model.inFlight.size > 0) {
      this.#decide();
      this.finish();
      return;
    }
    const decision = this.decideAll();
    if (this.model.inFlight.size === 0) this.#pass(decision);
  }

  /** Decides until nothing changes at this instant. Returns the last decision. */
  decideAll(): Decision {
    for (let passes = 0; passes < PASSES_MAX; passes += 1) {
      const before = this.model.fence?.status?.state;
      const decision = this.#decide();
      const changed = decision.status !== undefined || decision.create !== undefined || decision.removeFinalizer === true;
      if (changed) this.#quiet = 0;
      if (decision.status?.state !== undefined && decision.status.state !== before) this.#healed = 0;
      if (decision.dispatch !== undefined) return decision;
      if (!changed) {
        if (decision.requeueAtMs !== undefined && decision.requeueAtMs <= this.model.nowMs)
          this.violations.push(`hot loop: ${decision.row} changes nothing and wants to be called again at once`);
        return decision;
      }
      if (this.model.fence === undefined) return decision;
    }
    this.violations.push(`hot loop: ${this.model.rows.slice(-PASSES_MAX).join(' ')}`);
    return this.#decide();
  }

  /** The run under way ends: as the truth has it, or as told. */
  finish(told?: JobResult, more: Partial<JobReport> = {}): void {
    const { entry, model } = this;
    if (entry === undefined) throw new Error('nothing is in flight');
    const kind = model.dispatched.at(-1)?.kind ?? 'run';
    const honest = told === undefined ? (kind === 'recover' ? this.#found(entry) : this.#done(entry)) : { result: told, more: {} };
    this.onResult?.(entry, kind, honest.result);
    if (entry.action === 'acknowledge' && (honest.result === 'succeeded' || honest.result === 'refused')) model.acknowledgement = undefined;
    model.finish(honest.result, { ...honest.more, ...more });
  }

  /** What the off under way does, late or seen at once, and what the shell records of it. */
  takeEffect(entry: JournalEntry): Partial<JobReport> {
    if (!this.model.isFabric(entry)) {
      this.powerOff();
      return { edge: 'off' };
    }
    this.machine.closed = [...this.machine.closed.filter((plug) => plug !== entry.plug), entry.plug];
    return { edge: 'closed' };
  }

  /** The process dies; `effect`: what it had begun was done all the same. */
  crash(effect: boolean): void {
    const { entry, model } = this;
    if (effect && entry !== undefined && model.dispatched.at(-1)?.kind === 'run') this.#done(entry);
    model.takeOver();
  }

  bootAnew(): void {
    const { boot } = this.machine;
    Object.assign(this.machine, { boot: boot + 1, isDeleted: false, power: 'on', kubelet: 'alive', readyAtMs: this.model.nowMs + BOOT_MS });
  }

  /** The kubelet says something; `ready` undefined: only its lease. */
  speak(ready?: 'True' | 'False'): void {
    this.machine.kubelet = ready === 'True' ? 'ready' : 'alive';
    this.machine.power = 'on';
    this.model.live({ bootID: `boot-${this.machine.boot}`, ...(ready === undefined ? {} : { ready }) });
  }

  /** A person's word for the fence that is open; `uid` is new each time. */
  acknowledge(): void {
    const count = this.model.fence?.status?.journal.filter((entry) => entry.action === 'acknowledge').length ?? 0;
    this.model.acknowledgement = { name: 'word', uid: `word-${count}` };
  }

  /** Somebody asks for this fence, or takes that back. */
  ask(isAsked: boolean, more: Pick<NodeFenceSpec, 'ending' | 'lastStep' | 'methods'> = {}): void {
    const { model } = this;
    const uid = model.fence?.status?.released === undefined ? 'request-1' : LATE_REQUEST;
    const requestedBy = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', name: 'a', uid };
    const spec = { node: 'a', ...(isAsked && { requestedBy, ...more }) };
    model.fence = { ...(model.fence ?? { uid: 'fence-1', status: undefined, deleting: false, finalized: true }), spec };
  }

  die(): void {
    this.machine.kubelet = 'silent';
    this.machine.readyAtMs = undefined;
    this.model.fail();
  }

  /** Lets time pass until something can change. */
  #pass(decision: Decision): void {
    const { model, machine } = this;
    this.#quiet += 1;
    if (this.#quiet > PATIENCE && !this.isLeftAlone) this.#intervene();
    const alive = machine.kubelet !== 'silent';
    const { node } = model;
    const draining = machine.tainted && !machine.stuckVolume && model.workload.pods > 0;
    const unnoticed = !alive && node !== undefined && node.ready !== 'Unknown';
    const times = [
      decision.requeueAtMs,
      machine.readyAtMs,
      alive || draining ? model.nowMs + BEAT_MS : undefined,
      unnoticed ? Math.max(model.nowMs + BEAT_MS, node.lifeAtMs + GRACE_MS) : undefined,
    ].filter((at) => at !== undefined);
    const due = times.filter((at) => at > model.nowMs);
    this.isWaiting = due.length === 0;
    if (this.isWaiting && this.isLeftAlone) return;
    if (this.isWaiting) this.#intervene();
    model.nowMs = due.length === 0 ? model.nowMs + BEAT_MS : Math.min(...due);
    if (machine.tainted && !machine.stuckVolume) model.drained();
    if (unnoticed && model.nowMs >= node.lifeAtMs + GRACE_MS) model.node = { ...node, ready: 'Unknown', readyReason: 'NodeStatusUnknown' };
    if (machine.kubelet === 'silent') return;
    const isReady = machine.kubelet === 'ready' || (machine.readyAtMs ?? Infinity) <= model.nowMs;
    if (isReady) machine.readyAtMs = undefined;
    this.speak(isReady ? 'True' : undefined);
  }

  /** Nothing moves any more: people lift what stands in the way, then mend the machine. Afterwards everything must end. */
  #intervene(): void {
    const { model } = this;
    this.#quiet = 0;
    if (model.stop !== undefined || model.holds.length > 0 || (model.preservation !== undefined && model.preservation.kind !== 'drop')) {
      [model.stop, model.holds] = [undefined, []];
      if (model.preservation?.kind !== 'drop') model.preservation = undefined;
      return;
    }
    if (model.fence?.status !== undefined && model.fence.status.epoch > model.epoch) {
      model.epoch = model.fence.status.epoch;
      model.takeOver();
      return;
    }
    this.#healed += 1;
    // A request that cannot be served, because devices or words are wrong, is for who made it to take back; one that let a workload go must end by itself.
    const request = model.fence?.spec.requestedBy?.uid;
    if (this.#healed > 3 && request !== undefined && (request === LATE_REQUEST || model.fence?.status?.released === undefined)) {
      this.#healed = 0;
      this.ask(false);
    } else if (this.#healed > 3)
      this.violations.push(`no way on: state ${model.fence?.status?.state ?? 'none'}, rows ${model.rows.slice(-4).join(' ')}`);
    else this.bootAnew();
  }

  #decide(): Decision {
    const { model } = this;
    // What the shell answers at once: the word can never count here.
    const { status } = model.fence ?? {};
    if (status === undefined || status.state === 'done' || status.state === 'final' || status.released !== undefined)
      model.acknowledgement = undefined;
    const snapshot = model.snapshot();
    if (this.isThorough) freeze(snapshot);
    const first = this.isThorough ? decide(snapshot) : undefined;
    if (first !== undefined && !sameContent(first, decide(snapshot))) this.violations.push(`impure: ${first.row} decides anew`);
    const before = model.fence?.status;
    const decision = model.step();
    this.rows.add(decision.row);
    this.onDecision?.(decision, before);
    this.violations.push(...judge(snapshot, decision, model));
    if (this.isThorough && decision.status !== undefined) this.violations.push(...schemaFaults(decision.status));
    return decision;
  }

  #done(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    const { machine, model } = this;
    if (model.stop !== undefined && entry.action !== 'confirm') return plain('stopped');
    if (entry.agent === 'watchdog') return this.#waited(entry);
    switch (entry.action) {
      case 'off':
        if (this.model.isFabric(entry)) return this.#closed(entry);
        this.powerOff();
        return plain('succeeded');
      case 'on':
        if (this.model.isFabric(entry)) return this.#opened(entry);
        // A taint of ours that an earlier NodeFence has left is on record from then on.
        if (machine.tainted) return { result: 'not-sent', more: { taintFound: OUT_OF_SERVICE_TAINT } };
        if (machine.isDeleted === true) return plain('refused');
        if (machine.power === 'off') this.bootAnew();
        return plain('succeeded');
      case 'delete':
        return this.#deleted();
      case 'release':
        return this.#released(entry);
      case 'release-end':
        machine.tainted = false;
        return plain('succeeded');
      case 'acknowledge':
        return this.#weighed(entry);
      case 'confirm':
        if (this.#stands(entry) && this.model.isFabric(entry)) return { result: 'succeeded', more: this.#revoked(entry) };
        return plain(this.#stands(entry) ? 'succeeded' : 'found-not-done');
      default:
        machine.cordoned = entry.agent === 'cordon';
        return plain('succeeded');
    }
  }

  /** The agent reads it first, over the same session. */
  #deleted(): { result: JobResult; more: Partial<JobReport> } {
    const { machine, model } = this;
    if (machine.power === 'on') return plain('refused');
    machine.isDeleted = true;
    if (this.removesNodes) model.node = undefined;
    return plain('succeeded');
  }

  #closed(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    const edge = this.takeEffect(entry);
    return { result: 'succeeded', more: { ...edge, ...this.#revoked(entry) } };
  }

  #opened(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    const { machine } = this;
    machine.closed = machine.closed.filter((plug) => plug !== entry.plug);
    return { result: 'succeeded', more: { edge: 'on' } };
  }

  /** What the reads of the last revocation prove, which are of all of them together. */
  #revoked(entry: JournalEntry): Partial<JobReport> {
    const { model } = this;
    const plan = model.status.frozen?.plan ?? model.plan;
    const proving = provingOperation(plan, entry.step, entry.level);
    if (entry.step !== 'isolation' || proving?.key !== entry.operation) return {};
    model.proofs.set(entry.id, model.nowMs);
    const storages = [...(proving.revokes ?? [])];
    const boot = entry.bootID === undefined ? {} : { bootID: entry.bootID };
    const observedAt = new Date(1_700_000_000_000 + model.nowMs).toISOString();
    return {
      evidence: { kind: 'storage-revoked', grade: 'read-back', detail: 'closed', observedAt, storages, ...boot },
      evidenceAtMs: model.nowMs,
    };
  }

  #weighed(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    return this.machine.power === 'on' ? plain('refused') : this.#proven(entry, { kind: 'ack', grade: 'person', detail: 'word' });
  }

  /** Its watchdog is taken to have bitten a machine that is silent; of one that speaks it proves nothing. */
  #waited(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    if (this.machine.kubelet === 'silent') return this.#proven(entry, { kind: 'watchdog', grade: 'inferred', detail: 'silent' });
    return plain(entry.action === 'confirm' ? 'found-not-done' : 'refused');
  }

  #proven({ id }: JournalEntry, what: Pick<Evidence, 'kind' | 'grade' | 'detail'>): { result: JobResult; more: Partial<JobReport> } {
    const { model } = this;
    model.proofs.set(id, model.nowMs);
    const observedAt = new Date(1_700_000_000_000 + model.nowMs).toISOString();
    const bootID = model.node?.bootID;
    const evidence = { ...what, observedAt, ...(bootID === undefined ? {} : { bootID }) };
    return { result: 'succeeded', more: { evidence, evidenceAtMs: model.nowMs } };
  }

  /** What a consistent read of the shell shows before it releases; a paced release lets one pod go at a time. */
  #released(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    const { model } = this;
    const { status } = model;
    const plan = status.frozen?.plan ?? model.plan;
    const proof = proofOf(status.evidence, plan, entry.step);
    const provenAtMs = proof === undefined ? undefined : model.proofs.get(proof.source);
    if (proof === undefined || model.node?.uid !== status.frozen?.nodeUID) return plain('voided');
    const isToLive = status.lastStep === 'isolation' && entry.step === 'isolation';
    if (provenAtMs === undefined || (!isToLive && (model.node?.lifeAtMs ?? 0) > provenAtMs)) return plain('not-sent');
    if ((!isToLive && model.node?.ready === 'True') || model.node?.bootID !== proof.bootID) return plain('voided');
    const at = new Date(1_700_000_000_000 + model.nowMs).toISOString();
    if (entry.step === 'isolation') {
      const boot = proof.bootID === undefined ? {} : { bootID: proof.bootID };
      const storageRelease = { at, pods: 1, evidence: proof.source, storages: [...(proof.storages ?? [])], ...boot };
      return { result: 'succeeded', more: { storageRelease } };
    }
    this.machine.tainted = true;
    if (plan.podsPerMinute === undefined) return plain('succeeded');
    const { left = PACED_PODS, batch = 0 } = status.released ?? {};
    const next = { by: 'delete-pods' as const, at, evidence: proof.source, left: left - 1, batch: batch + 1, pods: PACED_PODS - left + 1 };
    return { result: 'succeeded', more: { released: next } };
  }

  #found(entry: JournalEntry): { result: JobResult; more: Partial<JobReport> } {
    const isUnknown = entry.action === 'confirm' || entry.action === 'acknowledge' || entry.agent === 'watchdog';
    if (isUnknown || !this.#stands(entry)) return plain('found-not-done');
    if (entry.action === 'off' && this.model.isFabric(entry)) return { result: 'found-done', more: { edge: 'closed' } };
    if (entry.action === 'off' || entry.action === 'on') return { result: 'found-done', more: { edge: entry.action } };
    if (entry.action !== 'release') return plain('found-done');
    const at = new Date(1_700_000_000_000 + this.model.nowMs).toISOString();
    const evidence = this.model.status.evidence.at(-1)?.source ?? '';
    return { result: 'found-done', more: { released: { by: 'out-of-service', at, pods: this.model.workload.pods, evidence } } };
  }

  #stands(entry: JournalEntry): boolean {
    const { machine } = this;
    const what = entry.action === 'confirm' ? entry.operation.split(':')[0] : entry.action;
    if ((what === 'off' || what === 'on') && this.model.isFabric(entry)) return machine.closed.includes(entry.plug) === (what === 'off');
    if (what === 'off' || what === 'on') return machine.power === what;
    if (what === 'delete') return machine.isDeleted === true;
    if (what === 'release') return machine.tainted;
    if (what === 'release-end') return !machine.tainted;
    return machine.cordoned === (entry.agent === 'cordon');
  }

  powerOff(): void {
    this.machine.power = 'off';
    this.machine.kubelet = 'silent';
    this.machine.readyAtMs = undefined;
  }
}
