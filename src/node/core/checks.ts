import { lookedAt } from '../../domain/node-daemon/found-well.ts';
import type { FoundWell } from '../../domain/node-daemon/found-well.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CheckFound, CheckName, NodeCheck } from '../../ports/node-checks.ts';
import type { DaemonLog } from '../../ports/node-daemon.ts';
import type { Progress } from './progress.ts';

export interface ChecksPorts {
  clock: Clock;
  log: DaemonLog;
  /** Absent: none is wanted. */
  checks?: readonly NodeCheck[];
}

/** What `nodefence node status` shows of one check. */
export interface CheckStatus {
  name: CheckName;
  health: CheckFound['health'];
  sentence: string;
  secondsAgo: number;
}

interface State {
  check: NodeCheck;
  dueAtMs: number;
  startedAtMs?: number;
  /** Of the look that runs, and of the one that found something last. */
  began: Began;
  foundBegan: Began;
  isLate: boolean;
  found?: CheckFound;
  foundAtMs: number;
}

/** `bootMs`: on a clock that stands still in no sleep. */
interface Began {
  bootMs: number;
  wallMs: number;
}

const NEVER: Began = { bootMs: 0, wallMs: 0 };
const TICK_MS = 1_000;
/** Turns of the scheduler, not of what it starts: a check that hangs is late, and the daemon gets on. */
const PROGRESS_LIMIT_MS = 10_000;

/** Runs each check at its own interval, never twice at once, and waits for none. */
export class Checks {
  readonly #ports: ChecksPorts;
  readonly #progress: Progress;
  readonly #changed: (name: CheckName, found: CheckFound) => void;
  readonly #states: State[];
  #cancel: () => void = () => undefined;

  /** `changed` is called with everything that a check finds. */
  constructor(ports: ChecksPorts, progress: Progress, changed: (name: CheckName, found: CheckFound) => void) {
    this.#ports = ports;
    this.#progress = progress;
    this.#changed = changed;
    this.#states = (ports.checks ?? []).map((check) => ({ check, dueAtMs: 0, began: NEVER, foundBegan: NEVER, isLate: false, foundAtMs: 0 }));
  }

  start(): void {
    if (this.#states.length === 0) return;
    const nowMs = this.#ports.clock.monotonicMs();
    // One after the other: a node that starts has enough to do.
    for (const [index, state] of this.#states.entries()) state.dueAtMs = nowMs + index * TICK_MS;
    this.#progress.expect('checks', PROGRESS_LIMIT_MS);
    this.#tick();
  }

  close(): void {
    this.#cancel();
  }

  /** What it found last; undefined: it has not looked yet. */
  found(name: string): CheckFound | undefined {
    return this.#states.find(({ check }) => check.name === name)?.found;
  }

  /** Conditions of others that were found well last. Where the wall clock was set since, the earlier of what may have been the time. */
  well(): FoundWell[] {
    const { clock } = this.#ports;
    const bootedAtMs = clock.wallMs() - clock.bootMs();
    return this.#states.flatMap(({ found, foundBegan: { bootMs, wallMs } }) =>
      (found?.well ?? []).map((type) => ({ type, at: lookedAt(Math.min(wallMs, bootedAtMs + bootMs)) })),
    );
  }

  status(): CheckStatus[] {
    const nowMs = this.#ports.clock.monotonicMs();
    return this.#states.flatMap(({ check, found, foundAtMs }) =>
      found === undefined
        ? []
        : [{ name: check.name, health: found.health, sentence: found.sentence, secondsAgo: Math.round((nowMs - foundAtMs) / 1000) }],
    );
  }

  #tick(): void {
    this.#cancel = this.#ports.clock.after(TICK_MS, () => this.#tick());
    const nowMs = this.#ports.clock.monotonicMs();
    for (const state of this.#states) {
      if (state.startedAtMs === undefined) {
        if (nowMs >= state.dueAtMs) this.#start(state, nowMs);
      } else if (!state.isLate && nowMs - state.startedAtMs >= state.check.deadlineMs) {
        state.isLate = true;
        this.#keep(state, { health: 'unknown', sentence: `not checked: it did not end within ${state.check.deadlineMs / 1000} s` });
      }
    }
    this.#progress.report('checks');
  }

  #start(state: State, nowMs: number): void {
    const { check } = state;
    state.startedAtMs = nowMs;
    state.began = { bootMs: this.#ports.clock.bootMs(), wallMs: this.#ports.clock.wallMs() };
    state.isLate = false;
    const run = async (): Promise<CheckFound> => check.run();
    run().then(
      (found) => this.#end(state, found),
      (error: unknown) => this.#end(state, { health: 'unknown', sentence: `not checked: ${error instanceof Error ? error.message : String(error)}` }),
    );
  }

  /** What comes late says how things were, not how they are. */
  #end(state: State, found: CheckFound): void {
    delete state.startedAtMs;
    state.dueAtMs = this.#ports.clock.monotonicMs() + state.check.intervalMs;
    if (!state.isLate) this.#keep(state, found);
  }

  #keep(state: State, found: CheckFound): void {
    const { log, clock } = this.#ports;
    const before = state.found?.health;
    const { name } = state.check;
    state.found = found;
    state.foundBegan = state.began;
    state.foundAtMs = clock.monotonicMs();
    if (before !== found.health && (before !== undefined || found.health !== 'ok'))
      log[found.health === 'problem' ? 'warn' : 'info'](WORDS[found.health], { question: name, reason: found.sentence });
    this.#changed(name, found);
  }
}

const WORDS: Readonly<Record<CheckFound['health'], string>> = {
  ok: 'a check finds nothing wrong any more',
  problem: 'a check found a problem',
  unknown: 'a check could not look',
};
