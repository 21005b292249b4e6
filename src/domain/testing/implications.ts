/** Laws of the form "where this is given, that holds", over cases that chance makes: one that no case put to the test proves nothing. */
export class Implications<Name extends string> {
  readonly #timesGiven = new Map<Name, number>();

  constructor(...names: Name[]) {
    for (const name of names) this.#timesGiven.set(name, 0);
  }

  /** What is undefined or false is not given. */
  where<T>(name: Name, given: T | false | undefined, law: (given: T) => void): void {
    if (given === undefined || given === false) return;
    this.#timesGiven.set(name, (this.#timesGiven.get(name) ?? 0) + 1);
    law(given);
  }

  /** To be none at the end. */
  get neverGiven(): Name[] {
    return [...this.#timesGiven].filter(([, times]) => times === 0).map(([name]) => name);
  }
}
