import { Executor } from '../shared/executor.ts';
import { gatedWrites, unlessMoved } from '../shared/gated-cluster.ts';
import { isLookDue, LookTimer } from '../shared/look-timer.ts';
import type { NextLook } from '../shared/look-timer.ts';
import { Pace } from '../shared/pace.ts';
import type { Action, ActionEvent, Decision, HealthCheckView, Notice } from './actions.ts';
import { chainsOf } from './chain.ts';
import type { Chain } from './chain.ts';
import { WRITE_DEADLINE_MS } from './dependencies.ts';
import type { HealthCheckDependencies } from './dependencies.ts';
import { Picture } from './picture.ts';
import { showTally } from './tally.ts';
import { Writer } from './write.ts';

/** What was last decided about one check. */
interface Look {
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
  readonly #picture: Picture;
  readonly #executor: Executor<Chain>;
  readonly #timer: LookTimer;
  readonly #looks = new Map<string, Look>();
  /** uids of Machines whose request was refused. */
  readonly #refused = new Set<string>();
  #told = new Set<string>();
  #noticed = new Set<string>();
  #isClosed = false;

  constructor(dependencies: HealthCheckDependencies) {
    const { clock, log, metrics, recorder, checks, machines } = dependencies;
    const cluster = gatedWrites(unlessMoved(() => this.#mayWrite()))(dependencies.cluster);
    this.#dependencies = dependencies;
    const wake = (): void => {
      this.wake();
    };
    this.#picture = new Picture(dependencies, wake);
    const writer = new Writer({
      cluster,
      recorder,
      checks: checks.resource,
      machines: machines.resource,
      picture: this.#picture,
      refused: (uid, words) => {
        this.#setRefusal(uid, words);
      },
    });
    this.#executor = new Executor<Chain>({
      clock,
      log,
      what: 'a health check',
      mayWrite: () => this.#mayWrite(),
      prepare: (chain) => writer.confirm(chain),
      perform: (action) => writer.perform(action),
      acted: (kind, result) => {
        metrics.acted(kind, result);
      },
      ended: wake,
      pace: new Pace(clock),
    });
    this.#timer = new LookTimer({
      clock,
      look: () => {
        this.#look();
      },
      next: () => this.#nextLook(),
      failed: (error) => {
        log.error('health checks could not be decided', { error });
      },
    });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    this.#picture.start();
    this.#timer.start();
  }

  /** Begins nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.close();
    this.#picture.close();
    await this.#executor.close();
  }

  /** Looks soon: something has changed, or leadership has come. */
  wake(): void {
    this.#timer.soon();
  }

  /** Rows for status and console. */
  views(): HealthCheckView[] {
    return [...this.#looks.values()].flatMap(({ decision }) => decision.views);
  }

  /** What a person should look at, one sentence each. */
  problems(): string[] {
    const decided = [...this.#looks.values()].flatMap(({ decision }) => decision.problems);
    const isSilent = this.#picture.isSynced && this.#picture.isSilent;
    const silence = isSilent ? ['the watches of health checks are silent: nothing is written until they are heard again'] : [];
    return [...new Set([...silence, ...this.#dependencies.workloads.problems(), ...decided, ...this.#executor.problems()])];
  }

  #look(): void {
    if (!this.#picture.isSynced) return;
    const changed = this.#picture.takeChanged();
    const { clock } = this.#dependencies;
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    const keys = new Set(this.#picture.checks());
    for (const key of this.#looks.keys()) if (!keys.has(key)) this.#looks.delete(key);
    for (const key of keys) {
      if (changed.has(key) || isLookDue(this.#looks.get(key), nowMs, wallMs)) this.#looks.set(key, this.#decide(key, nowMs, wallMs));
    }
    const looks = [...this.#looks.values()];
    this.#forgetRefusals(looks.flatMap(({ decision }) => decision.actions));
    this.#tell(looks.flatMap(({ decision }) => decision.notices));
    this.#executor.submit(this.#mayWrite() ? looks.flatMap(({ chains }) => chains) : []);
  }

  #decide(key: string, atMs: number, wallMs: number): Look {
    const decision = this.#picture.decide(key, wallMs);
    return { decision, chains: chainsOf(decision.actions), atMs };
  }

  #setRefusal(uid: string, words: string | undefined): void {
    if (words === undefined && !this.#refused.has(uid)) return;
    if (words === undefined) this.#refused.delete(uid);
    else this.#refused.add(uid);
    this.#picture.setRefusal(uid, words);
  }

  /** Where no request is wanted any more, nothing stands of its refusal. */
  #forgetRefusals(actions: readonly Action[]): void {
    if (this.#refused.size === 0 || !this.#mayWrite()) return;
    const wanted = new Set(actions.flatMap(({ kind, target }) => (kind === 'create-request' ? [target.uid] : [])));
    for (const uid of [...this.#refused]) if (!wanted.has(uid)) this.#setRefusal(uid, undefined);
  }

  /** Problems are logged once for as long as they stand, and so are notices told, by the leader alone. */
  #tell(notices: readonly Notice[]): void {
    const { log, recorder, metrics } = this.#dependencies;
    const problems = this.problems();
    metrics.problems(problems.length);
    showTally(metrics, this.views());
    for (const problem of problems) if (!this.#told.has(problem)) log.warn('a health check needs a look', { problem });
    this.#told = new Set(problems);
    if (!this.#mayWrite()) return;
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

  #mayWrite(): boolean {
    const { leadership, options } = this.#dependencies;
    const isAllowed = options.enforce && !this.#isClosed && this.#picture.isSynced && !this.#picture.isSilent;
    return isAllowed && leadership.isLeading && leadership.mayBegin(WRITE_DEADLINE_MS);
  }

  #nextLook(): NextLook | 'unsynced' {
    if (!this.#picture.isSynced) return 'unsynced';
    return { dueMs: [...this.#looks.values()].map(({ decision }) => decision.nextDueMs), retryAtMs: this.#executor.nextDueMs() };
  }
}

function keyOfNotice(uid: string, { reason, message }: ActionEvent): string {
  return `${uid} ${reason} ${message}`;
}
