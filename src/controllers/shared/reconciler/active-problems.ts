import type { Clock } from '../../../ports/clock.ts';
import type { Logger } from '../../../ports/recorder.ts';

interface Problems {
  /** Of the object. */
  uid?: string | undefined;
  /** By the last decision. */
  decided: readonly string[];
  /** Why it could not be reconciled, where that was reported. */
  failure?: string | undefined;
  /** In a row. */
  failures: number;
  /** When what is left off was last told, by its identity. */
  leftOffToldMs: ReadonlyMap<string, number>;
}

/** A machine that stays off is told again so often: the API server keeps an Event for an hour. */
const LEFT_OFF_TOLD_AGAIN_MS = 30 * 60_000;
const LEFT_OFF = 'LeftOff';

export interface ActiveProblemsParts {
  log: Logger;
  clock: Pick<Clock, 'monotonicMs'>;
  changed: () => void;
  /** Two problems with the same identity are one: a text that counts down. */
  identityOf: (problem: string) => string;
}

const NONE: Problems = { decided: [], failures: 0, leftOffToldMs: new Map() };

/** Problems by the key of their object: each is reported once for as long as it is active, but for what is left off. */
export class ActiveProblems {
  readonly #parts: ActiveProblemsParts;
  readonly #byKey = new Map<string, Problems>();

  constructor(parts: ActiveProblemsParts) {
    this.#parts = parts;
  }

  /** One sentence each. */
  all(): string[] {
    return [...this.#byKey.values()].flatMap(({ decided, failure }) => (failure === undefined ? decided : [...decided, failure]));
  }

  /** Before each reconcile: of another object under the same name nothing was reported. */
  begin(key: string, uid: string | undefined): void {
    if (this.#byKey.get(key)?.uid !== uid) this.#byKey.set(key, { ...NONE, uid });
  }

  /** Those of a decision; what was decided before and is not among them is over. `record`: for each that is new. */
  decided(key: string, problems: readonly string[], record: (problem: string) => void): void {
    const known = this.#of(key);
    const { identityOf } = this.#parts;
    const before = new Set(known.decided.map(identityOf));
    for (const problem of problems) if (!before.has(identityOf(problem))) this.#report(problem, record);
    this.#set(key, { ...known, decided: problems, leftOffToldMs: this.#tellLeftOff({ ...known, decided: problems }, problems, record) });
  }

  /** One more in a row; answers with how many there are. */
  countFailure(key: string): number {
    const known = this.#of(key);
    this.#byKey.set(key, { ...known, failures: known.failures + 1 });
    return known.failures + 1;
  }

  /** Active until it is reconciled without one. */
  failed(key: string, failure: string, record: (problem: string) => void): void {
    const known = this.#of(key);
    const { identityOf } = this.#parts;
    const isKnown = known.failure !== undefined && identityOf(known.failure) === identityOf(failure);
    if (!isKnown) this.#report(failure, record);
    this.#set(key, { ...known, failure, leftOffToldMs: this.#tellLeftOff({ ...known, failure }, [failure], record) });
  }

  /** It was reconciled. `isRefused`: but for something that may be refused, which is the failure now. */
  reconciled(key: string, isRefused: boolean): void {
    const known = this.#of(key);
    const failure = isRefused ? known.failure : undefined;
    if (known.decided.length === 0 && failure === undefined) this.forget(key);
    else this.#set(key, { ...known, failures: 0, failure });
  }

  forget(key: string): void {
    this.#byKey.delete(key);
    this.#parts.changed();
  }

  #report(problem: string, record: (problem: string) => void): void {
    this.#parts.log.warn('remediation problem', { problem });
    record(problem);
  }

  /** Those of `standing` that leave a machine off, and were told half an hour ago, are told again. */
  #tellLeftOff(
    { leftOffToldMs, decided, failure }: Problems,
    standing: readonly string[],
    record: (problem: string) => void,
  ): ReadonlyMap<string, number> {
    const { clock, identityOf } = this.#parts;
    const nowMs = clock.monotonicMs();
    const active = new Set([...decided, ...(failure === undefined ? [] : [failure])].map(identityOf));
    const toldMs = new Map([...leftOffToldMs].filter(([identity]) => active.has(identity)));
    for (const problem of standing.filter((each) => each.includes(LEFT_OFF))) {
      const identity = identityOf(problem);
      const beforeMs = toldMs.get(identity);
      if (beforeMs !== undefined && nowMs - beforeMs < LEFT_OFF_TOLD_AGAIN_MS) continue;
      if (beforeMs !== undefined) record(problem);
      toldMs.set(identity, nowMs);
    }
    return toldMs;
  }

  #of(key: string): Problems {
    return this.#byKey.get(key) ?? NONE;
  }

  #set(key: string, problems: Problems): void {
    this.#byKey.set(key, problems);
    this.#parts.changed();
  }
}
