import type { Clock } from '../../../ports/clock.ts';
import type { Leadership } from '../../../ports/leadership.ts';
import type { SecondaryControllerMetrics } from '../../../ports/metrics.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import type { Logger } from '../../../ports/recorder.ts';
import { failureWords, isConflict, isPassing, wasRefused } from '../conflict.ts';
import type { WriteGate } from '../write-gate.ts';
import { ActiveProblems } from './active-problems.ts';
import { keyOf } from './kind.ts';
import type { End, Plan, Reconciled, ReconciledKind } from './kind.ts';
import { leftOff } from './left-off.ts';

/** An object is reconciled so often although nothing has changed: not all that it depends on is watched. */
export const RESYNC_PERIOD_MS = 60_000;
/** Somebody else wrote first. */
export const AFTER_CONFLICT_MS = 500;
/** While watches are silent. */
const WHILE_SILENT_MS = 5_000;

export interface ReconcilerParts {
  /** Whose watches they are, for the problem of their silence. */
  name: string;
  kinds: readonly ReconciledKind[];
  /** Through which all kinds write. */
  gate: WriteGate;
  leadership: Pick<Leadership, 'isLeading'>;
  clock: Pick<Clock, 'monotonicMs'>;
  queue: { add(key: string): void };
  metrics: SecondaryControllerMetrics;
  log: Logger;
  /** Nothing is reconciled before; absent: each kind reads what it needs. */
  isSynced?: () => boolean;
  /** Subscribes to what else enqueues keys; each member of the answer ends one subscription. */
  subscribe?: () => readonly (() => void)[];
  /** Enqueues what the listers of the kinds do not. */
  enqueueAll?: () => void;
  /** What gives the rights that the API server refuses, for people. */
  mend?: string | undefined;
  /** See ActiveProblems. */
  identityOf?: (problem: string) => string;
  /** See ActiveProblems; absent: 0. */
  recordedAgainMs?: number;
}

interface Outcome {
  end: End;
  afterMs?: number | undefined;
  isRefused?: boolean;
}

/**
 * The one loop of a controller: a key of the queue says which object, the object is read anew, its kind decides, and what was decided is done, one object at a
 * time each. Level-based: nothing is kept of what has changed, and watches only say when. Only the leader reconciles.
 */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #problems: ActiveProblems;
  readonly #unsubscribe: (() => void)[] = [];

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
    const { log, clock, metrics, identityOf = (problem: string) => problem, recordedAgainMs = 0 } = parts;
    const changed = (): void => metrics.problems(this.problems().length);
    this.#problems = new ActiveProblems({ log, clock, identityOf, recordedAgainMs, changed });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    const { kinds, subscribe, queue } = this.#parts;
    for (const { kind, lister, isGoneForgotten = false } of kinds) {
      const enqueue = (before: KubeObject | undefined, after: KubeObject | undefined): void => {
        if (after !== undefined || !isGoneForgotten) queue.add(keyOf(kind, (after ?? before) as KubeObject));
      };
      if (lister !== undefined) this.#unsubscribe.push(lister.onChange(enqueue));
    }
    this.#unsubscribe.push(...(subscribe?.() ?? []));
    this.wake();
  }

  /** What is decided and not sent by now is not sent. */
  close(): void {
    this.#parts.gate.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /** Enqueues everything: leadership has come. */
  wake(): void {
    const { kinds, queue, enqueueAll } = this.#parts;
    for (const { kind, lister } of kinds) for (const each of lister?.all() ?? []) queue.add(keyOf(kind, each));
    enqueueAll?.();
  }

  /** Active problems of all objects, one sentence each. */
  problems(): string[] {
    const { gate, name } = this.#parts;
    return [...new Set([...gate.silence(name), ...this.#problems.all()])].sort();
  }

  /** The work of one key of the queue. Rejects when the API server could not be asked: the queue backs off. */
  async reconcile(key: string): Promise<{ afterMs: number } | undefined> {
    const { leadership, gate, isSynced, kinds } = this.#parts;
    if (!leadership.isLeading) return undefined;
    if (gate.isSilent) return { afterMs: WHILE_SILENT_MS };
    if (isSynced?.() === false) return { afterMs: AFTER_CONFLICT_MS };
    const [word = '', namespace = '', name = ''] = key.split(/[ /]/);
    const kind = kinds.find((each) => each.kind === word);
    if (kind === undefined) return undefined;
    let object: Reconciled | undefined = kind.get === undefined ? {} : undefined;
    try {
      if (kind.get !== undefined) object = await kind.get(namespace, name);
      if (object !== undefined) this.#problems.begin(key, object.metadata?.uid);
      const plan = object === undefined ? undefined : await kind.reconcile(key, object);
      if (object !== undefined && plan !== undefined) return { afterMs: await this.#carryOut(kind, key, object, plan) };
      await this.#forget(kind, key);
      return undefined;
    } catch (error) {
      if (isConflict(error)) return { afterMs: AFTER_CONFLICT_MS };
      const failures = this.#problems.countFailure(key);
      if (kind.isReported?.(key, error, failures) === true) this.#failed(kind, key, object ?? kind.known?.(`${namespace}/${name}`), error);
      throw error;
    }
  }

  async #carryOut(kind: ReconciledKind, key: string, object: Reconciled, plan: Plan): Promise<number> {
    this.#problems.decided(key, plan.problems, (problem) => this.#record(kind, key, object, problem, false));
    const { end, afterMs, isRefused = false } = await this.#perform(kind, key, object, plan);
    await plan.settle?.(end);
    this.#problems.reconciled(key, isRefused);
    return afterMs ?? Math.max(0, Math.min(RESYNC_PERIOD_MS, plan.dueInMs ?? Infinity));
  }

  async #perform(kind: ReconciledKind, key: string, object: Reconciled, plan: Plan): Promise<Outcome> {
    const { gate, metrics, log } = this.#parts;
    let isRefused = false;
    for (const action of plan.actions) {
      if (!gate.mayWrite()) return { end: 'none', isRefused };
      try {
        await plan.perform(action);
        metrics.acted(action.kind, 'done');
      } catch (error) {
        metrics.acted(action.kind, isConflict(error) ? 'conflict' : 'failed');
        plan.failed?.(action, error);
        if (isConflict(error)) {
          log.debug('remediation decided again after a conflict', { object: key, action: action.kind, error });
          const afterMs = plan.afterConflictMs === undefined ? AFTER_CONFLICT_MS : plan.afterConflictMs(action, error);
          return { end: afterMs === undefined ? 'none' : 'conflict', afterMs, isRefused };
        }
        if (!wasRefused(error) || plan.mayBeRefused?.(action) !== true) throw error;
        isRefused = true;
        this.#failed(kind, key, object, error);
      }
    }
    return plan.actions.length === 0 ? { end: 'none' } : { end: 'done', afterMs: plan.afterActionsMs, isRefused };
  }

  #failed(kind: ReconciledKind, key: string, object: Reconciled | undefined, error: unknown): void {
    const message = failureWords(error, this.#parts.mend);
    const off = wasRefused(error) && object !== undefined ? kind.leftOff?.(object) : undefined;
    const words = off === undefined ? message : leftOff(`${off} for as long as this lasts: ${message}`);
    this.#problems.failed(key, `${key}: ${words}`, isPassing(error), (problem) => this.#record(kind, key, object, problem, true));
  }

  /** false: nothing may be written now. */
  #record(kind: ReconciledKind, key: string, object: Reconciled | undefined, problem: string, isFailure: boolean): boolean {
    if (object === undefined || !this.#parts.gate.mayWrite()) return false;
    kind.record?.(key, object, problem, isFailure);
    return true;
  }

  async #forget(kind: ReconciledKind, key: string): Promise<void> {
    this.#problems.forget(key);
    await kind.forget?.(key);
  }
}
