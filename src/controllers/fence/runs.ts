import { proofOf } from '../../domain/evidence.ts';
import { offWasSent, restartedSince } from '../../domain/journal.ts';
import type { Frozen, JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { RELEASE_WRITES_WITHIN_MS } from '../../domain/proof-age.ts';
import type { JobReport, StandingHold } from '../../domain/snapshot.ts';
import type { Dispatch } from '../../domain/transition.ts';
import { AgentError } from '../../ports/agents.ts';
import { timestamp } from '../../ports/clock.ts';
import { failureOf } from '../../ports/jobs.ts';
import type { Job } from '../../ports/jobs.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { Denials } from './denials.ts';
import type { FenceDependencies } from './dependencies.ts';
import { Exhibits } from './exhibits/exhibits.ts';
import { isFirstCut, lookingEntry, showingMethod } from './exhibits/occasion.ts';
import { guardOf } from './guard.ts';
import { readyOf } from './observation.ts';
import type { NodeObservation } from './observation.ts';
import { endRelease, recoverRelease } from './release/end.ts';
import { readTaintOwner } from './release/out-of-service.ts';
import { release } from './release/release.ts';
import { stopOn } from './snapshot.ts';
import { isHeldBack } from './storm/fence-facts.ts';
import { StopAnswers } from './stop-answers.ts';

export interface Run extends Dispatch {
  node: string;
  fence: NodeFence;
  status: NodeFenceStatus;
  /** Monotonic time before the intent was written. */
  intentAtMs: number;
}

/** What holds a node now, as far as it concerns this run. */
export type HoldsOn = (node: string, entry: JournalEntry) => readonly StandingHold[];

/** Runs under way in this process, and the results that the journal does not hold yet. Bounded: one run a node. */
export class Runs {
  private readonly dependencies: FenceDependencies;
  private readonly acknowledgements: Acknowledgements;
  private readonly holdsOn: HoldsOn;
  private readonly inFlight = new Map<string, Set<string>>();
  private readonly finished = new Map<string, JobReport[]>();
  private readonly ending = new Set<Promise<void>>();
  /** Calls of releases that nobody waits for any longer, and that may still take effect. At most one a pod of a node that is released. */
  private readonly late = new Set<Promise<unknown>>();
  /** Runs that have written to a device or the API server: `sent` may still be on its way, `answered` is not. */
  private readonly writes = new Map<string, 'sent' | 'answered'>();
  private isDraining = false;
  private onWriteOver: () => void = () => undefined;
  private readonly stopping = new AbortController();
  private readonly stops: StopAnswers;
  private readonly exhibits: Exhibits;
  private readonly denials: Denials;

  /** `holdsOn`: what holds a node now, looked at right before each call that a hold forbids. */
  constructor(dependencies: FenceDependencies, acknowledgements: Acknowledgements, holdsOn: HoldsOn = () => []) {
    this.dependencies = dependencies;
    this.holdsOn = holdsOn;
    this.acknowledgements = acknowledgements;
    this.stops = new StopAnswers(dependencies);
    this.exhibits = new Exhibits(dependencies);
    this.denials = new Denials(dependencies.clock);
  }

  of(node: string): { inFlight: ReadonlySet<string>; reports: readonly JobReport[] } {
    return { inFlight: this.inFlight.get(node) ?? new Set(), reports: this.finished.get(node) ?? [] };
  }

  /** Results that now stand in the journal need not be kept. */
  forget(node: string, status: NodeFenceStatus | undefined): void {
    const reports = this.finished.get(node);
    if (reports === undefined) return;
    const open = new Set(status?.journal.filter((entry) => entry.finishedAt === undefined).map((entry) => entry.id));
    const left = reports.filter((report) => open.has(report.id));
    if (left.length === 0) this.finished.delete(node);
    else this.finished.set(node, left);
  }

  /**
   * A graceful stop: no run writes anything new, and writes on their way are waited for, at most so long. `false`: one may still arrive, so that the
   * successor must wait it out.
   */
  async drain(deadlineMs: number): Promise<boolean> {
    this.isDraining = true;
    if (!this.isQuiet()) {
      await new Promise<void>((resolve) => {
        const cancel = this.dependencies.clock.after(deadlineMs, resolve);
        this.onWriteOver = () => {
          if (!this.isQuiet()) return;
          cancel();
          resolve();
        };
      });
    }
    return this.isQuiet();
  }

  /** Ends every run: leadership is lost or the process stops. */
  abort(reason: Error): void {
    this.stopping.abort(reason);
  }

  /** Nodes with results that the journal does not hold yet; no run is under way any more. */
  async settled(): Promise<readonly string[]> {
    await Promise.allSettled(this.ending);
    return [...this.finished.keys()];
  }

  /** Starts the run; its result comes back through `queue.add(node)`. */
  start(run: Run, observation: NodeObservation): void {
    const { clock, queue, log, metrics } = this.dependencies;
    const ids = this.inFlight.get(run.node) ?? new Set<string>();
    ids.add(run.entry.id);
    this.inFlight.set(run.node, ids);
    const beganAtMs = clock.monotonicMs();
    const ended = this.execute(run, observation).then(
      (outcome) => {
        const report = this.denials.weighed(run, outcome);
        this.settle(run, report);
        if (report.evidenceAtMs !== undefined) observation.proven(report.id, report.evidenceAtMs);
        log.info('run finished', { node: run.node, job: run.entry.id, action: run.entry.action, result: report.result, detail: report.message });
        metrics.runFinished(run.entry.agent, run.entry.action, report.result, clock.monotonicMs() - beganAtMs);
        queue.add(run.node);
      },
      (error: unknown) => {
        const write = this.writes.get(run.entry.id);
        this.settle(run, write === 'sent' ? undefined : cutOff(run, write === 'answered', timestamp(clock)));
        log.warn('run was cut off', { node: run.node, job: run.entry.id, error: String(error) });
      },
    );
    this.ending.add(ended);
    void ended.then(() => this.ending.delete(ended));
  }

  private settle(run: Run, report: JobReport | undefined): void {
    this.stops.over(run.entry.id);
    this.wrote(run.entry.id, undefined);
    const ids = this.inFlight.get(run.node);
    ids?.delete(run.entry.id);
    if (ids?.size === 0) this.inFlight.delete(run.node);
    if (report !== undefined) this.finished.set(run.node, [...(this.finished.get(run.node) ?? []), report]);
  }

  private async execute(run: Run, observation: NodeObservation): Promise<JobReport> {
    const { entry } = run;
    try {
      const kept = this.exhibits.isAsked && this.destroys(run) ? await this.takeExhibits(run) : '';
      if (run.kind === 'run' && entry.action !== 'confirm') await this.askTheQuorum(run, observation);
      const report = entry.agent === 'kubernetes' ? await this.ownOperation(run, observation) : await this.device(run, observation);
      const message = kept === '' ? report.message : `${report.message}; ${kept}`;
      return { id: entry.id, finishedAt: timestamp(this.dependencies.clock), ...report, message };
    } catch (error) {
      if (this.stopping.signal.aborted) throw error;
      const failure = error instanceof Stopped ? { result: 'stopped' as const, message: error.message } : failureOf(error);
      return { id: entry.id, finishedAt: timestamp(this.dependencies.clock), ...failure };
    }
  }

  /**
   * P6: stops are read from the quorum after the intent is acknowledged and before the call; and before the first off the node and its Lease, for our own watch
   * may hang without any error (P10, a cut-off controller judges nobody).
   */
  private async askTheQuorum(run: Run, observation: NodeObservation): Promise<void> {
    const { node, entry, fence } = run;
    const { cluster, clock, listers } = this.dependencies;
    const known = listers.nodes.get(node);
    const restsOnSilence = run.kind === 'run' && isFirstCut(entry, run.status) && known !== undefined && readyOf(known)?.status === 'Unknown';
    const [stop, lease, standing] = await Promise.all([
      this.stops.ask(node),
      restsOnSilence ? cluster.get(LEASES, node, NODE_LEASE_NAMESPACE) : undefined,
      restsOnSilence ? cluster.get(NODES, node) : undefined,
    ]);
    this.stops.keepFreshFor(entry.id);
    if (stop !== undefined) throw new Stopped(`NodeFenceStop ${stop.metadata.name} stands: nothing was sent`);
    const unheard = observation.catchUp(standing, lease, clock.monotonicMs());
    if (unheard !== undefined) throw this.notSent(entry, `the API server holds ${unheard} that was not heard here`);
    if (isHeldBack(entry)) {
      const refusal = await this.dependencies.nodeLeases?.take(node, fence.spec.requestedBy);
      if (refusal !== undefined) throw new Stopped(`${refusal}; nothing was sent`);
    }
    if (entry.action === 'on') {
      // A pod that runs again must not lose its object to a deletion that came before.
      if (observation.asked.isUnderWay) throw this.notSent(entry, 'the deletion of a pod has not been answered yet');
      await this.askWhoseTaint(node, entry);
    }
  }

  /** A tainted node is never started by us (P3). Ours is taken back by the release's end; a foreign one is for its owner to take away. */
  private async askWhoseTaint(node: string, entry: JournalEntry): Promise<void> {
    const owner = await readTaintOwner(this.dependencies, node);
    if (owner === 'ours') throw this.notSent(entry, 'our out-of-service taint still stands');
    if (owner === 'nobody') return;
    const answered = "nothing was sent: somebody else's out-of-service taint stands on the Node; it has to be taken away first";
    throw new AgentError('Unreachable', { device: entry.device, plug: entry.plug, asked: 'on', answered });
  }

  private async ownOperation(run: Run, observation: NodeObservation): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const { node, status, entry } = run;
    if (entry.action === 'acknowledge') return this.weigh(run, observation);
    if (run.kind === 'recover') return recoverRelease(this.dependencies, { node, status }, entry.action === 'release' ? 'release' : 'release-end');
    const plan = status.frozen?.plan;
    const mayBegin = (): void => this.mayBegin(node, plan?.timing.setDeadlineMs ?? 0, entry);
    if (entry.action === 'release-end') {
      observation.asked.keepOnly([]);
      return endRelease(this.dependencies, node, status, mayBegin);
    }
    const proof = plan === undefined ? undefined : proofOf(status.evidence, plan, status.step);
    if (proof === undefined) return { result: 'voided', message: 'no evidence stands' };
    const provenAtMs = observation.since(status).evidence;
    const mayGoOn = (): void => {
      mayBegin();
      if (provenAtMs === undefined || observation.lifeAtMs > provenAtMs) throw this.notSent(entry, 'a sign of life was received');
      if (this.dependencies.clock.monotonicMs() - provenAtMs > RELEASE_WRITES_WITHIN_MS)
        throw this.notSent(entry, 'the last off read is too old; the device is read again');
    };
    const { renewTime, asked } = observation;
    const outlives = (call: Promise<unknown>): void => this.outlives(call);
    return release(this.dependencies, { node, fenceUID: run.fence.metadata.uid ?? '', status, proof, renewTime, asked, outlives, mayGoOn });
  }

  /** A system that has lost its storage panics: of a preserved machine that is the first thing that changes what there is to see. */
  private destroys({ kind, entry, status, node }: Run): boolean {
    if (kind !== 'run' || !isFirstCut(entry, status)) return false;
    return entry.step === 'power-management' || guardOf(this.dependencies, node)?.kind === 'isolate-and-hold';
  }

  /** What a preserved machine shows while nothing is done to it is kept, once; whoever looks at it later may change it. */
  lookAt(fence: NodeFence): void {
    const { clock, log } = this.dependencies;
    const { status } = fence;
    const method = status?.frozen === undefined ? undefined : showingMethod(status.frozen.plan);
    if (!this.exhibits.isAsked || status?.frozen === undefined || method === undefined) return;
    const { node } = fence.spec;
    const entry = lookingEntry(method, status, timestamp(clock));
    const run: Run = { node, fence, status, entry, operation: undefined, kind: 'run', intentAtMs: clock.monotonicMs() };
    this.exhibits
      .take(fence.metadata.uid ?? '', status.incident, this.jobFor(run, status.frozen, method))
      .catch((error: unknown) => log.info('no exhibits', { node, error: String(error) }));
  }

  /** Before the first off destroys it, and before the quorum is asked, so that the off rests on nothing old. */
  private async takeExhibits(run: Run): Promise<string> {
    const { entry, status, fence, operation } = run;
    const { frozen } = status;
    const method = entry.step === 'isolation' && frozen !== undefined ? showingMethod(frozen.plan) : operation?.method;
    if (frozen === undefined || method === undefined) return '';
    return this.exhibits.take(fence.metadata.uid ?? '', status.incident, this.jobFor(run, frozen, method));
  }

  private async device(run: Run, observation: NodeObservation): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const { runner } = this.dependencies;
    const { entry, status, operation } = run;
    const { frozen } = status;
    if (frozen === undefined || operation?.method === undefined) {
      throw new AgentError('Misconfigured', {
        device: entry.device,
        plug: entry.plug,
        asked: entry.action,
        answered: `the frozen plan has no method ${entry.method}`,
      });
    }
    const ours = this.jobFor(run, frozen, operation.method);
    const job = {
      ...ours,
      together: operation.together,
      lastOff: operation.isLastOff === true,
      ...(operation.revokes === undefined ? {} : { revokes: operation.revokes }),
      offWasSent: (method: PlanMethod) => offWasSent(status, entry.id, method),
      restartedSince: (method: PlanMethod) => restartedSince(status, entry.id, method),
      onSet: (atMs: number) => {
        if (entry.action === 'off') observation.sent(atMs);
      },
      // It was on its way until now: what waits for the off to be over counts from here.
      onAnswered: (isCertain: boolean, isSent?: boolean) => {
        if (entry.action === 'off') observation.sent(this.dependencies.clock.monotonicMs());
        ours.onAnswered(isCertain, isSent);
      },
    };
    return run.kind === 'recover' ? runner.recover(job) : runner.run(job);
  }

  private jobFor({ node, entry, fence, status, intentAtMs }: Run, frozen: Frozen, method: PlanMethod): Job {
    return {
      entry,
      method,
      together: [],
      lastOff: false,
      incident: `${fence.metadata.uid ?? ''}/${status.incident}`,
      timing: frozen.plan.timing,
      identity: { node, systemUUID: frozen.systemUUID, providerID: frozen.providerID },
      identityRequired: frozen.plan.identity === 'verified' && method.kind === 'power',
      signal: this.stopping.signal,
      intentAtMs,
      parametersOf: (other) => this.dependencies.planner.parametersFor(node, other),
      mayBegin: (deadlineMs) => {
        const isDeleted = entry.action === 'on' && method.kind === 'power' && guardOf(this.dependencies, node)?.kind === 'drop';
        if (isDeleted) throw this.notSent(entry, 'its Machine or Node is being deleted: nothing is switched on any more');
        this.mayBegin(node, deadlineMs, entry);
      },
      askAgain: async () => {
        const stop = await this.stops.ask(node);
        this.stops.keepFreshFor(entry.id);
        if (stop !== undefined) throw this.notSent(entry, `NodeFenceStop ${stop.metadata.name} stands`);
      },
      onSet: () => undefined,
      onAnswered: (isCertain, isSent = true) => {
        if (isCertain) this.wrote(entry.id, isSent ? 'answered' : undefined);
      },
    };
  }

  /** A word that a crash left half weighed is weighed anew. */
  private async weigh(run: Run, observation: NodeObservation): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const { node, entry, status, fence, kind } = run;
    if (kind === 'recover') return { result: 'found-not-done', message: 'the weighing was cut off; it is done anew' };
    const { frozen } = status;
    if (frozen === undefined) return { result: 'voided', message: 'the fence has not begun' };
    const bootID = this.dependencies.listers.nodes.get(node)?.status.nodeInfo?.bootID;
    const mayGoOn = (): void => this.mayBegin(node, frozen.plan.timing.setDeadlineMs, entry);
    return this.acknowledgements.weigh({ fence, status, entry, bootID, lifeAtMs: () => observation.lifeAtMs, mayGoOn }, (method) =>
      // A device that reads on contradicts the word, whether or not it shows whose machine it switches.
      this.dependencies.runner.look({ ...this.jobFor(run, frozen, method), identityRequired: false }),
    );
  }

  /** P5 and P6 in one synchronous look: the lease, any stop or hold that stands by now, and how old the quorum's own answer is. */
  private mayBegin(node: string, deadlineMs: number, entry: JournalEntry): void {
    const stop = stopOn(this.dependencies, node);
    if (stop !== undefined) throw this.notSent(entry, `${stop.by} stands`);
    const refusal = this.stops.refusalFor(node);
    if (refusal !== undefined) throw this.notSent(entry, refusal);
    const hold = isHeldBack(entry) ? this.holdsOn(node, entry)[0] : undefined;
    if (hold !== undefined) throw this.notSent(entry, `held by ${hold.policy}: ${hold.message}`);
    if (this.isDraining) throw this.notSent(entry, 'the controller stops');
    if (this.stopping.signal.aborted || !this.dependencies.leadership.mayBegin(deadlineMs))
      throw this.notSent(entry, 'the leader lease does not cover it');
    this.writes.set(entry.id, 'sent');
    // A release goes on for as long as it has pods; a device is only read from here on.
    if (entry.agent !== 'kubernetes') this.stops.over(entry.id);
  }

  private wrote(id: string, what: 'answered' | undefined): void {
    if (what === undefined) this.writes.delete(id);
    else this.writes.set(id, what);
    this.onWriteOver();
  }

  private outlives(call: Promise<unknown>): void {
    this.late.add(call);
    void call.finally(() => {
      this.late.delete(call);
      this.onWriteOver();
    });
  }

  private isQuiet(): boolean {
    return this.late.size === 0 && ![...this.writes.values()].includes('sent');
  }

  private notSent(entry: JournalEntry, answered: string): AgentError {
    return new AgentError('NotSent', { device: entry.device, plug: entry.plug, asked: entry.action, answered });
  }
}

class Stopped extends Error {}

/** A graceful stop found nothing on its way: a successor need not wait for it. An off that the device has answered may be ours to take back (P8). */
function cutOff({ entry, operation }: Run, isAnswered: boolean, finishedAt: string): JobReport {
  const { id } = entry;
  const message = 'the controller stopped while nothing was on its way to the device; it is done again';
  if (!isAnswered) return { id, result: entry.action === 'confirm' ? 'interrupted' : 'not-sent', message, finishedAt };
  const edge = operation?.method?.kind === 'fabric' ? ('closed' as const) : ('off' as const);
  return { id, result: 'interrupted', message, finishedAt, ...(entry.action === 'off' ? { edge, offSent: true } : {}) };
}
