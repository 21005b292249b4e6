import { OUT_OF_SERVICE_TAINT } from '../../domain/advance.ts';
import type { Frozen, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { timestamp } from '../../ports/clock.ts';
import { failureOf } from '../../ports/jobs.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { Denials } from './denials.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { NodeObservation } from './observation.ts';
import { cutOff, neverBegun } from './run/cut-off.ts';
import { DeviceRuns } from './run/device-runs.ts';
import type { Ahead } from './run/device-runs.ts';
import { FailureDiagnostics } from './run/failure-diagnostics.ts';
import { OwnOperations } from './run/own-operations.ts';
import { Permission, Stopped } from './run/permission.ts';
import type { HoldsOn, RecordOf } from './run/permission.ts';
import { RunResults } from './run/results.ts';
import type { Run, RunOutcome } from './run/run.ts';
import { WritesUnderWay } from './run/writes.ts';

/** Starts runs, and ends them: diagnostics, permission, the operation itself, its result. */
export class Runs {
  readonly #dependencies: FenceDependencies;
  readonly #stopping = new AbortController();
  readonly #ending = new Set<Promise<void>>();
  readonly #results = new RunResults();
  readonly #intended = new Set<string>();
  readonly #writes: WritesUnderWay;
  readonly #permission: Permission;
  readonly devices: DeviceRuns;
  readonly #own: OwnOperations;
  readonly #diagnostics: FailureDiagnostics;
  readonly #denials: Denials;

  /**
   * `holdsOn`: what holds a node now, looked at right before each call that a hold forbids. `recordOf`: where the intent of each call must stand; absent: nobody
   * looks.
   */
  constructor(dependencies: FenceDependencies, acknowledgements: Acknowledgements, holdsOn: HoldsOn = () => [], recordOf?: RecordOf) {
    const { signal } = this.#stopping;
    this.#dependencies = dependencies;
    this.#writes = new WritesUnderWay(dependencies.clock);
    this.#permission = new Permission(dependencies, this.#writes, { holdsOn, recordOf }, signal);
    this.devices = new DeviceRuns(dependencies, this.#permission, this.#writes, signal);
    this.#own = new OwnOperations(dependencies, acknowledgements, { permission: this.#permission, writes: this.#writes, devices: this.devices });
    this.#diagnostics = new FailureDiagnostics(dependencies, this.devices);
    this.#denials = new Denials(dependencies.clock);
  }

  of(node: string): { inFlight: ReadonlySet<string>; reports: readonly JobReport[] } {
    return this.#results.of(node);
  }

  /** Nothing is decided about the node until its run has ended, and then it is queued. Counts from when its intent is being written. */
  isUnderWay(node: string): boolean {
    return this.#intended.has(node) || this.#results.isUnderWay(node);
  }

  /**
   * A run is decided, and this writes its intent: it starts in the turn of the answer, or the node is decided about again. Where no answer comes, or another than
   * that it stands, nothing of the run is ever sent: an intent that stands all the same waits for nobody, and does not count as one that may be on its way.
   */
  async intend<T extends object>(run: Pick<Run, 'node' | 'kind' | 'entry'>, write: T | undefined | Promise<T | undefined>): Promise<T | undefined> {
    const { node } = run;
    this.#intended.add(node);
    let stored: T | undefined;
    try {
      stored = await write;
      return stored;
    } finally {
      this.#intended.delete(node);
      if (stored === undefined && run.kind === 'run') this.#results.neverBegan(node, neverBegun(run, timestamp(this.#dependencies.clock)));
    }
  }

  /** Results that now stand in the journal need not be kept. */
  forget(node: string, status: NodeFenceStatus | undefined): void {
    this.#results.forget(node, status);
  }

  /** A graceful stop: no run writes anything new. `false`: a write may still arrive, so that the successor must wait it out. */
  drain(deadlineMs: number): Promise<boolean> {
    return this.#writes.drain(deadlineMs);
  }

  /** Ends every run: leadership is lost or the process stops. */
  abort(reason: Error): void {
    this.#stopping.abort(reason);
  }

  /** Nodes with results that the journal does not hold yet; no run is under way any more. */
  async settled(): Promise<readonly string[]> {
    await Promise.allSettled(this.#ending);
    return this.#results.nodes();
  }

  /** What a preserved machine shows while nothing is done to it is kept, once. */
  diagnosePreserved(fence: NodeFence): void {
    this.#diagnostics.takeOfPreserved(fence);
  }

  /** What a run will need, and by its plan the next one, read while its intent is written: reads are free (P5). */
  readAhead(run: Pick<Run, 'node' | 'operation' | 'kind' | 'entry'>, frozen?: Frozen): Ahead {
    return this.devices.readAhead(run, frozen);
  }

  /** Starts the run; its result comes back through `queue.addFirst(node)`. Resolves once the questions before its call are answered, or it has ended. */
  start(run: Run, observation: NodeObservation, ahead?: Ahead): Promise<unknown> {
    const { clock, queue, log, metrics } = this.#dependencies;
    this.#results.begin(run);
    const beganAtMs = clock.monotonicMs();
    const asked = Promise.withResolvers<unknown>();
    const ended = this.#execute(run, observation, ahead, () => asked.resolve(run)).then(
      (ended) => {
        const outcome = this.#withTaint(run, this.#withWhatLeft(run, ended));
        const report = this.#denials.weighed(run, outcome);
        this.#end(run, report);
        if (report.evidenceAtMs !== undefined) observation.proven(report.id, report.evidenceAtMs);
        log.info('run finished', { node: run.node, job: run.entry.id, action: run.entry.action, result: report.result, detail: report.message });
        metrics.runFinished(run.entry.agent, run.entry.action, report.result, clock.monotonicMs() - beganAtMs);
        queue.addFirst(run.node);
      },
      (error: unknown) => {
        this.#end(run, cutOff(run, this.#writes.stateOf(run.entry.id), timestamp(clock)));
        log.warn('run interrupted', { node: run.node, job: run.entry.id, error: String(error) });
      },
    );
    this.#ending.add(ended);
    void ended.then(() => {
      this.#ending.delete(ended);
      asked.resolve(run);
    });
    return asked.promise;
  }

  /** An off or a program that nothing was sent of, whatever it came to, has done nothing: the node is as it was, and one that comes back by then is left alone. */
  #withWhatLeft({ kind, entry }: Run, report: JobReport): JobReport {
    const isStrike = entry.action === 'off' || entry.action === 'run';
    const hasNotLeft = kind === 'run' && isStrike && report.offSent === undefined && this.#writes.stateOf(entry.id) === undefined;
    return hasNotLeft ? { ...report, offSent: false } : report;
  }

  /** Of a NodeFence that was removed by force, most likely: without a record nothing would ever take it back, and no on would follow (P8). */
  #withTaint({ entry }: Run, report: JobReport): JobReport {
    return this.#permission.wasTainted(entry.id) ? { ...report, taintFound: OUT_OF_SERVICE_TAINT } : report;
  }

  #end(run: Run, report: JobReport | undefined): void {
    this.#permission.over(run.entry.id);
    this.#writes.over(run.entry.id);
    this.#results.end(run, report);
  }

  async #execute(run: Run, observation: NodeObservation, ahead: Ahead | undefined, asked: () => void): Promise<JobReport> {
    const { entry } = run;
    try {
      const kept = this.#diagnostics.isDueBefore(run) ? await this.#diagnostics.takeBefore(run) : '';
      const report = await this.#outcomeOf(run, observation, ahead ?? this.devices.readAhead(run), asked);
      const message = kept === '' ? report.message : `${report.message}; ${kept}`;
      return { id: entry.id, finishedAt: timestamp(this.#dependencies.clock), ...report, message };
    } catch (error) {
      if (this.#stopping.signal.aborted) throw error;
      const failure = error instanceof Stopped ? { result: 'stopped' as const, message: error.message } : failureOf(error);
      return { id: entry.id, finishedAt: timestamp(this.#dependencies.clock), ...failure };
    }
  }

  /** `asked`: nothing has to be asked any more. */
  async #outcomeOf(run: Run, observation: NodeObservation, ahead: Ahead, asked: () => void): Promise<RunOutcome> {
    const asks = run.kind === 'run' && run.entry.action !== 'confirm';
    if (!asks) asked();
    if (run.entry.agent !== 'kubernetes') return this.devices.run(run, observation, ahead, asked);
    if (asks) await this.#permission.ask(run, observation);
    asked();
    return this.#own.run(run, observation);
  }
}
