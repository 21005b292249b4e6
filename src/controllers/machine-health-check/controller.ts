import { Executor } from '../shared/executor.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { isReconcileDue, RequeueTimer } from '../shared/requeue-timer.ts';
import type { NextRequeue } from '../shared/requeue-timer.ts';
import { WriteRateLimiter } from '../shared/write-rate-limiter.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Action, ActionEvent, Decision, HealthCheckView, Notice } from './actions.ts';
import { HealthCheckCache } from './cache.ts';
import { chainsOf } from './chain.ts';
import type { Chain } from './chain.ts';
import { Changes } from './changes.ts';
import { timeText } from './conditions.ts';
import type { HealthCheckDependencies } from './dependencies.ts';
import { decide } from './decide.ts';
import { observe } from './observe.ts';
import { keyOf } from './snapshot.ts';
import type { ReadCheck } from './snapshot.ts';
import { showTally } from './tally.ts';
import { leftBehind } from './taken-back.ts';
import { Writer } from './write.ts';

/** What was last decided about one check. */
interface Reconciliation {
  decision: Decision;
  chains: readonly Chain[];
  atMs: number;
}

/**
 * MachineHealthCheck (docs/machine-health-check.md): observe, decide, write. It keeps nothing that is not in the objects but what it is doing and what was refused. Every replica
 * watches; only the leader writes and tells.
 */
export class MachineHealthCheckController {
  readonly #dependencies: HealthCheckDependencies;
  readonly #cache: HealthCheckCache;
  readonly #changes: Changes;
  readonly #gate: WriteGate;
  readonly #executor: Executor<Chain>;
  readonly #timer: RequeueTimer;
  readonly #reconciliations = new Map<string, Reconciliation>();
  /** What is taken back of Machines that no check looks at. */
  #left: readonly Chain[] = [];
  #told = new Set<string>();
  #noticed = new Set<string>();

  constructor(dependencies: HealthCheckDependencies) {
    const { clock, log, leadership, metrics, recorder, checks, machines, options } = dependencies;
    this.#dependencies = dependencies;
    const cache = new HealthCheckCache(dependencies);
    const gate = new WriteGate({ clock, leadership, enforce: () => options.enforce && cache.isSynced, watches: () => cache.watches() });
    const mayWrite = (): boolean => gate.mayWrite();
    const cluster = gatedWrites(conflictUnless(mayWrite))(dependencies.cluster);
    const wake = (): void => {
      this.wake();
    };
    this.#gate = gate;
    this.#cache = cache;
    this.#changes = new Changes(dependencies, cache, wake);
    const writer = new Writer({
      cluster,
      recorder,
      checks: checks.resource,
      machines: machines.resource,
      cache,
      refused: (machine, message) => {
        this.#changes.setRefusal(machine, message);
      },
    });
    this.#executor = new Executor<Chain>({
      clock,
      log,
      controller: 'machine-health-check',
      mayWrite,
      prepare: (chain) => writer.confirm(chain),
      perform: (action) => writer.perform(action),
      acted: (kind, result) => {
        metrics.acted(kind, result);
      },
      mend: dependencies.mend,
      refused: (action, message) => {
        // Of a request that is refused its Machine has a condition.
        if (action.kind !== 'create-request') tellRefused(recorder, action, message);
      },
      ended: wake,
      rateLimiter: new WriteRateLimiter(clock),
    });
    this.#timer = new RequeueTimer({
      clock,
      reconcile: () => {
        this.#reconcile();
      },
      next: () => this.#nextRequeue(),
      failed: (error) => {
        log.error('health checks could not be decided', { error });
      },
    });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    this.#changes.start();
    this.#timer.start();
  }

  /** Begins nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.#gate.close();
    this.#timer.close();
    this.#changes.close();
    await this.#executor.close();
  }

  /** Reconciles soon: something has changed, or leadership has come. */
  wake(): void {
    this.#timer.enqueue();
  }

  /** Rows for status and console. */
  views(): HealthCheckView[] {
    return [...this.#reconciliations.values()].flatMap(({ decision }) => decision.views);
  }

  /** What a person should look at, one sentence each. */
  problems(): string[] {
    const decided = [...this.#reconciliations.values()].flatMap(({ decision }) => decision.problems);
    return [
      ...new Set([...this.#gate.silence('health checks'), ...this.#dependencies.workloads.problems(), ...decided, ...this.#executor.problems()]),
    ];
  }

  #reconcile(): void {
    if (!this.#cache.isSynced) return;
    const changed = this.#changes.take();
    const { clock } = this.#dependencies;
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    const checks = new Map(this.#cache.checks().map((read) => [keyOf(read.check), read]));
    for (const key of this.#reconciliations.keys()) if (!checks.has(key)) this.#reconciliations.delete(key);
    for (const [key, read] of checks) {
      if (changed.has(key) || isReconcileDue(this.#reconciliations.get(key), nowMs, wallMs))
        this.#reconciliations.set(key, this.#reconcileCheck(read, nowMs, wallMs));
    }
    const reconciliations = [...this.#reconciliations.values()];
    if (this.#changes.takeLeft()) this.#left = chainsOf(leftBehind(this.#cache.machines(), [...checks.values()], this.#cache, timeText(wallMs)));
    this.#forgetRefusals(reconciliations.flatMap(({ decision }) => decision.actions));
    this.#emit(reconciliations.flatMap(({ decision }) => decision.notices));
    this.#executor.submit(this.#gate.mayWrite() ? [...reconciliations.flatMap(({ chains }) => chains), ...this.#left] : []);
  }

  #reconcileCheck(check: ReadCheck, atMs: number, wallMs: number): Reconciliation {
    const decision = decide(observe(this.#cache, check), wallMs);
    return { decision, chains: chainsOf(decision.actions, decision.nodes), atMs };
  }

  /** Where no request is wanted any more, nothing stands of its refusal. */
  #forgetRefusals(actions: readonly Action[]): void {
    const refused = this.#cache.refused();
    if (refused.length === 0 || !this.#gate.mayWrite()) return;
    const wanted = new Set(actions.flatMap(({ kind, target }) => (kind === 'create-request' ? [target.uid] : [])));
    for (const machine of refused) if (!wanted.has(machine.uid)) this.#changes.setRefusal(machine, undefined);
  }

  /** Problems are logged once for as long as they stand, and so are notices told, by the leader alone. */
  #emit(notices: readonly Notice[]): void {
    const { log, recorder, metrics } = this.#dependencies;
    const problems = this.problems();
    metrics.problems(problems.length);
    showTally(metrics, this.views());
    for (const problem of problems) if (!this.#told.has(problem)) log.warn('health check problem', { problem });
    this.#told = new Set(problems);
    if (!this.#gate.mayWrite()) return;
    const standing = new Set<string>();
    for (const { target, event } of notices) {
      const key = keyOfNotice(target.uid, event);
      standing.add(key);
      if (this.#noticed.has(key)) continue;
      const { apiVersion, kind, namespace, name, uid } = target;
      recorder.event({ apiVersion, kind, metadata: { namespace, name, uid } }, event.type, event.reason, event.message);
    }
    this.#noticed = standing;
  }

  #nextRequeue(): NextRequeue | 'unsynced' {
    if (!this.#cache.isSynced) return 'unsynced';
    return { dueMs: [...this.#reconciliations.values()].map(({ decision }) => decision.nextDueMs), retryAtMs: this.#executor.nextDueMs() };
  }
}

/** About whatever it was to be written to: its owner looks there. */
function tellRefused(recorder: HealthCheckDependencies['recorder'], { target }: Action, message: string): void {
  const { apiVersion, kind, namespace, name, uid } = target;
  recorder.event({ apiVersion, kind, metadata: { namespace, name, uid } }, 'Warning', 'WriteRefused', message);
}

function keyOfNotice(uid: string, { reason, message }: ActionEvent): string {
  return `${uid} ${reason} ${message}`;
}
