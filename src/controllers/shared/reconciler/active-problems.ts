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
}

export interface ActiveProblemsParts {
  log: Logger;
  changed: () => void;
  /** Two problems with the same identity are one: a text that counts down. */
  identityOf: (problem: string) => string;
}

const NONE: Problems = { decided: [], failures: 0 };

/** Problems by the key of their object: each is reported once for as long as it is active. */
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
    this.#set(key, { ...known, decided: problems });
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
    if (known.failure !== undefined && identityOf(known.failure) === identityOf(failure)) return;
    this.#report(failure, record);
    this.#set(key, { ...known, failure });
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

  #of(key: string): Problems {
    return this.#byKey.get(key) ?? NONE;
  }

  #set(key: string, problems: Problems): void {
    this.#byKey.set(key, problems);
    this.#parts.changed();
  }
}
