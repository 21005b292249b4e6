import type { Action, ActionEvent, Decision, HealthCheckView, Notice } from './actions.ts';
import { chainsOf } from './chain.ts';
import type { Chain } from './chain.ts';
import { WRITE_DEADLINE_MS } from './dependencies.ts';
import type { HealthCheckDependencies } from './dependencies.ts';
import { Executor } from './executor.ts';
import { Picture } from './picture.ts';
import { Writer } from './write.ts';

/** What was last decided about one check. */
interface Look {
  decision: Decision;
  chains: readonly Chain[];
  atMs: number;
}

/** Between two looks, whatever changes meanwhile. */
const PACE_MS = 100;
/** So often leadership and silence are looked at. */
const TICK_MS = 5_000;
const SYNC_TICK_MS = 500;
/** Each check is decided anew, although nothing has changed. */
const RELOOK_MS = 60_000;

/**
 * MachineHealthCheck (seed 003): observe, decide, write. It keeps nothing that is not in the objects but what it is doing and what was refused. Every replica
 * watches; only the leader writes and tells.
 */
export class MachineHealthCheckController {
  readonly #dependencies: HealthCheckDependencies;
  readonly #picture: Picture;
  readonly #executor: Executor;
  readonly #looks = new Map<string, Look>();
  /** uids of Machines whose request was refused. */
  readonly #refused = new Set<string>();
  #told = new Set<string>();
  #noticed = new Set<string>();
  #startedAtMs: number | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #timer: { atMs: number; cancel: () => void } | undefined;
  #isClosed = false;

  constructor(dependencies: HealthCheckDependencies) {
    const { clock, log, cluster, recorder, checks, machines } = dependencies;
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
    const mayWrite = (): boolean => this.#mayWrite();
    this.#executor = new Executor({ clock, log, mayWrite, perform: (chain, mayGoOn) => writer.perform(chain, mayGoOn), ended: wake });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    this.#startedAtMs = this.#dependencies.clock.monotonicMs();
    this.#picture.start();
    this.wake();
  }

  /** Begins nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#picture.close();
    await this.#executor.close();
  }

  /** Looks soon: something has changed, or leadership has come. */
  wake(): void {
    this.#lookAt(Math.max(this.#dependencies.clock.monotonicMs(), this.#lookedAtMs + PACE_MS));
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

  #lookAt(atMs: number): void {
    if (this.#isClosed || this.#startedAtMs === undefined || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.cancel();
    const { clock, log } = this.#dependencies;
    const cancel = clock.after(Math.max(0, atMs - clock.monotonicMs()), () => {
      this.#timer = undefined;
      this.#lookedAtMs = clock.monotonicMs();
      try {
        this.#look();
      } catch (error) {
        log.error('health checks could not be decided', { error });
      }
      this.#lookAt(this.#nextLookMs());
    });
    this.#timer = { atMs, cancel };
  }

  #look(): void {
    if (!this.#picture.isSynced) return;
    const changed = this.#picture.takeChanged();
    const { clock } = this.#dependencies;
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    const keys = new Set(this.#picture.checks());
    for (const key of this.#looks.keys()) if (!keys.has(key)) this.#looks.delete(key);
    for (const key of keys) {
      const look = this.#looks.get(key);
      const isDue = look === undefined || nowMs - look.atMs >= RELOOK_MS || (look.decision.nextDueMs ?? Infinity) <= wallMs;
      if (isDue || changed.has(key)) this.#looks.set(key, this.#decide(key, nowMs, wallMs));
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
    const { log, recorder } = this.#dependencies;
    const problems = this.problems();
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

  #nextLookMs(): number {
    const { clock } = this.#dependencies;
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    if (!this.#picture.isSynced) return nowMs + SYNC_TICK_MS;
    const due = [...this.#looks.values()].map(({ decision }) => (decision.nextDueMs ?? Infinity) - wallMs);
    const retryMs = (this.#executor.nextDueMs() ?? Infinity) - nowMs;
    return nowMs + Math.max(PACE_MS, Math.min(TICK_MS, retryMs, ...due));
  }
}

function keyOfNotice(uid: string, { reason, message }: ActionEvent): string {
  return `${uid} ${reason} ${message}`;
}
