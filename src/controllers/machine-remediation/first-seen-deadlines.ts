import type { Clock } from '../../ports/clock.ts';
import { timeOf } from '../shared/remediation/actions.ts';
import { POWERED_OFF, TIMES_OUT_AT } from './names.ts';
import type { MachineFacts } from './snapshot.ts';

/**
 * Until when the Nodes of Machines may take, by the clock of this process: the whole time where it saw the deadline come, else as much of it as was left when it first
 * saw it; whatever clock is set since.
 */
export class FirstSeenDeadlines {
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  /** By uid. */
  readonly #seen = new Map<string, { text: string; untilMs: number; pausedSinceMs?: number }>();

  constructor(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Monotonic; `undefined`: none stands that can be read. `isNew`: there was none before. */
  untilMs({ uid, annotations }: Pick<MachineFacts, 'uid' | 'annotations'>, isNew = false): number | undefined {
    const text = annotations[TIMES_OUT_AT] ?? '';
    const atMs = timeOf(text);
    if (atMs === undefined) {
      this.#seen.delete(uid);
      return undefined;
    }
    const known = this.#seen.get(uid);
    if (known?.text === text) return known.untilMs;
    const wholeMs = atMs - (timeOf(annotations[POWERED_OFF]) ?? -Infinity);
    // More than the whole time is left by a clock alone that was set back since.
    const leftMs = isNew && wholeMs < Infinity ? wholeMs : Math.max(0, Math.min(atMs - this.#clock.wallMs(), wholeMs));
    // One that is written anew gives more time, never less.
    const untilMs = Math.max(this.#clock.monotonicMs() + leftMs, known?.untilMs ?? 0);
    this.#seen.set(uid, { text, untilMs });
    return untilMs;
  }

  /** The same at a look: behind a pause there is as much time left as before it. */
  leftUntilMs(machine: Pick<MachineFacts, 'uid' | 'annotations' | 'isPaused'>): number | undefined {
    const untilMs = this.untilMs(machine);
    const known = this.#seen.get(machine.uid);
    if (untilMs === undefined || known === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const { pausedSinceMs, text } = known;
    if (machine.isPaused) this.#seen.set(machine.uid, { ...known, pausedSinceMs: pausedSinceMs ?? nowMs });
    else if (pausedSinceMs !== undefined) this.#seen.set(machine.uid, { text, untilMs: untilMs + nowMs - pausedSinceMs });
    return this.#seen.get(machine.uid)?.untilMs;
  }
}
