import { isPosted, othersTypes } from '../../domain/node-daemon/conditions.ts';
import type { NodeConditionType, StandingCondition, WantedCondition } from '../../domain/node-daemon/conditions.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { NodeConditions } from '../../ports/node-conditions.ts';
import type { DaemonLog } from '../../ports/node-daemon.ts';

export interface ConditionsPorts {
  clock: Clock;
  log: DaemonLog;
  /** Absent: none are posted. */
  conditions?: NodeConditions;
}

const LOOK_MS = 5_000;
/** How often a condition that does not change is written anew. */
const HEARTBEAT_MS = 300_000;
const RETRY_MS = 30_000;
/** Somebody else's heartbeat that has not moved for so long is no one's any more. */
const ABANDONED_MS = 1_800_000;

/** Posts conditions on the daemon's own Node: at each change, and each five minutes. What somebody else writes there is left alone. */
export class ConditionsPoster {
  readonly #ports: ConditionsPorts;
  readonly #wanted: () => WantedCondition[];
  /** Of each type that somebody else writes, its heartbeat, and since when that stands. */
  readonly #others = new Map<NodeConditionType, { heartbeat: string; sinceMs: number }>();
  readonly #abandoned = new Set<NodeConditionType>();
  #shown = '';
  #dueAtMs = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(ports: ConditionsPorts, wanted: () => WantedCondition[]) {
    this.#ports = ports;
    this.#wanted = wanted;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Types that somebody else writes. */
  get others(): NodeConditionType[] {
    return [...this.#others.keys()];
  }

  start(): void {
    const { conditions, clock } = this.#ports;
    if (conditions === undefined) return;
    this.#cancel = clock.after(LOOK_MS, () => {
      void this.#turn(conditions).then(() => {
        if (!this.#isClosed) this.start();
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Never rejects. */
  async #turn(conditions: NodeConditions): Promise<void> {
    const { clock } = this.#ports;
    const wanted = this.#wanted();
    // The words of one that stays as it is wait for its heartbeat: how long something does not answer changes all the time.
    const shown = JSON.stringify(wanted.map(({ type, status, reason }) => [type, status, reason]));
    const nowMs = clock.monotonicMs();
    const isNew = this.#problem === undefined && shown !== this.#shown;
    if (wanted.length === 0 || (!isNew && nowMs < this.#dueAtMs)) return;
    try {
      await this.#post(conditions, wanted);
      this.#shown = shown;
      this.#problem = undefined;
      this.#dueAtMs = nowMs + HEARTBEAT_MS;
    } catch (error) {
      const problem = `conditions of the Node cannot be written: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== this.#problem) this.#ports.log.warn('conditions of the Node cannot be written', { error: problem });
      this.#problem = problem;
      this.#dueAtMs = nowMs + RETRY_MS;
    }
  }

  async #post(conditions: NodeConditions, wanted: readonly WantedCondition[]): Promise<void> {
    const { clock } = this.#ports;
    const standing = await conditions.standing();
    this.#learnOthers(standing);
    const now = timestamp(clock).replace(/\.\d+Z$/, 'Z');
    const posted = wanted
      .filter((condition) => !this.#others.has(condition.type) && isPosted(condition, standing))
      .map((condition) => {
        const before = standing.find(({ type }) => type === condition.type);
        const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined;
        return { ...condition, lastHeartbeatTime: now, lastTransitionTime: isSame ? (before.lastTransitionTime ?? now) : now };
      });
    if (posted.length > 0) await conditions.post(posted);
  }

  /** One writer for each type, and it is said once who is not. */
  #learnOthers(standing: readonly StandingCondition[]): void {
    const { clock, log } = this.#ports;
    const nowMs = clock.monotonicMs();
    const types = othersTypes(standing);
    for (const type of [...this.#others.keys(), ...this.#abandoned])
      if (!types.includes(type)) {
        this.#others.delete(type);
        this.#abandoned.delete(type);
      }
    for (const type of types) {
      const heartbeat = standing.find((one) => one.type === type)?.lastHeartbeatTime ?? '';
      const known = this.#others.get(type);
      if (known === undefined && this.#abandoned.has(type)) continue;
      if (known === undefined) log.info('a condition of the Node is written by somebody else, so it is left alone', { type });
      if (known?.heartbeat !== heartbeat) this.#others.set(type, { heartbeat, sinceMs: nowMs });
      else if (heartbeat !== '' && nowMs - known.sinceMs >= ABANDONED_MS) {
        log.warn('a condition of the Node that somebody else wrote has had no heartbeat for long, so it is taken over', { type, heartbeat });
        this.#others.delete(type);
        this.#abandoned.add(type);
      }
    }
  }
}
