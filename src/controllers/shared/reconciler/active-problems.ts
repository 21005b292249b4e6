import type { Clock } from '../../../ports/clock.ts';
import type { Logger } from '../../../ports/recorder.ts';
import { isLeftOff } from './left-off.ts';
import { ToldLately } from './told-lately.ts';

interface Problems {
  /** Of the object. */
  uid?: string | undefined;
  /** By the last decision. */
  decided: readonly string[];
  /** Why it could not be reconciled, where that was reported. */
  failure?: string | undefined;
  /** In a row. */
  failures: number;
  /** When each of them was recorded last, by its identity. */
  recordedMs: ReadonlyMap<string, number>;
}

/** Of a machine that stays off an Event is recorded so often: the API server keeps an Event for an hour. */
const LEFT_OFF_RECORDED_AGAIN_MS = 30 * 60_000;
/** That the API server did not answer is an Event of an object at most so often: one that is overloaded answers now and then, and each time something else fails. */
const UNANSWERED_RECORDED_AGAIN_MS = 10 * 60_000;

export interface ActiveProblemsParts {
  log: Logger;
  clock: Pick<Clock, 'monotonicMs'>;
  changed: () => void;
  /** Two problems with the same identity are one: a text that counts down. */
  identityOf: (problem: string) => string;
  /** One that ended and comes back within so long is not recorded again, in milliseconds: a hold that another one takes turns with. */
  recordedAgainMs: number;
}

const NONE: Problems = { decided: [], failures: 0, recordedMs: new Map() };

/** Records a problem; false: nothing may be written now. */
type RecordProblem = (problem: string) => boolean;

/** Problems by the key of their object: each is logged and recorded once for as long as it is active, what is left off again and again. */
export class ActiveProblems {
  readonly #parts: ActiveProblemsParts;
  readonly #byKey = new Map<string, Problems>();
  /** That the API server did not answer. */
  readonly #unanswered: ToldLately;
  readonly #told: ToldLately;

  constructor(parts: ActiveProblemsParts) {
    this.#parts = parts;
    this.#unanswered = new ToldLately(parts.clock, UNANSWERED_RECORDED_AGAIN_MS);
    this.#told = new ToldLately(parts.clock, parts.recordedAgainMs);
  }

  /** One sentence each. */
  all(): string[] {
    return [...this.#byKey.values()].flatMap(({ decided, failure }) => (failure === undefined ? decided : [...decided, failure]));
  }

  /** Before each reconcile: of another object under the same name nothing was reported. */
  begin(key: string, uid: string | undefined): void {
    if (this.#byKey.get(key)?.uid !== uid) this.#byKey.set(key, { ...NONE, uid });
  }

  /** Those of a decision; what was decided before and is not among them is over. */
  decided(key: string, problems: readonly string[], record: RecordProblem): void {
    const known = this.#of(key);
    const { identityOf } = this.#parts;
    const before = new Set(known.decided.map(identityOf));
    for (const problem of problems) if (!before.has(identityOf(problem))) this.#log(problem);
    const now = { ...known, decided: problems };
    this.#set(key, { ...now, recordedMs: this.#recorded(key, now, problems, record) });
  }

  /** One more in a row; answers with how many there are. */
  countFailure(key: string): number {
    const known = this.#of(key);
    this.#byKey.set(key, { ...known, failures: known.failures + 1 });
    return known.failures + 1;
  }

  /** Active until it is reconciled without one. `isPassing`: the API server did not answer it, or not just now. */
  failed(key: string, failure: string, isPassing: boolean, record: RecordProblem): void {
    const known = this.#of(key);
    const { identityOf } = this.#parts;
    if (known.failure === undefined || identityOf(known.failure) !== identityOf(failure)) this.#log(failure);
    const now = { ...known, failure };
    const tell: RecordProblem = isPassing ? (problem) => this.#unanswered.once(this.#ofObject(key), () => record(problem)) : record;
    this.#set(key, { ...now, recordedMs: this.#recorded(key, now, [failure], tell) });
  }

  /** It was reconciled. `isRefused`: but for something that may be refused, which is the failure now. */
  reconciled(key: string, isRefused: boolean): void {
    const known = this.#of(key);
    const failure = isRefused ? known.failure : undefined;
    if (known.decided.length === 0 && failure === undefined) this.forget(key);
    else {
      const now = { ...known, failures: 0, failure };
      this.#set(key, { ...now, recordedMs: this.#recorded(key, now, [], () => false) });
    }
  }

  forget(key: string): void {
    this.#byKey.delete(key);
    this.#parts.changed();
  }

  #log(problem: string): void {
    this.#parts.log.warn('remediation problem', { problem });
  }

  /** One that was found while nothing might be written is recorded once it may. */
  #recorded(
    key: string,
    { decided, failure, recordedMs }: Problems,
    problems: readonly string[],
    record: RecordProblem,
  ): ReadonlyMap<string, number> {
    const { clock, identityOf } = this.#parts;
    const nowMs = clock.monotonicMs();
    const active = new Set([...decided, ...(failure === undefined ? [] : [failure])].map(identityOf));
    const recorded = new Map([...recordedMs].filter(([identity]) => active.has(identity)));
    for (const problem of problems) {
      const beforeMs = recorded.get(identityOf(problem));
      const isDue = beforeMs === undefined || (isLeftOff(problem) && nowMs - beforeMs >= LEFT_OFF_RECORDED_AGAIN_MS);
      if (isDue && this.#recordNow(key, problem, record)) recorded.set(identityOf(problem), nowMs);
    }
    return recorded;
  }

  #recordNow(key: string, problem: string, record: RecordProblem): boolean {
    // What is left off has times of its own.
    if (isLeftOff(problem)) return record(problem);
    return this.#told.once(`${this.#ofObject(key)} ${this.#parts.identityOf(problem)}`, () => record(problem));
  }

  /** Of another object under the same name nothing was told. */
  #ofObject(key: string): string {
    return `${key} ${this.#of(key).uid ?? ''}`;
  }

  #of(key: string): Problems {
    return this.#byKey.get(key) ?? NONE;
  }

  #set(key: string, problems: Problems): void {
    this.#byKey.set(key, problems);
    this.#parts.changed();
  }
}
