type Untyped = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Untyped {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One object of an API document that nobody has checked: reads members by type, and tells what is wrong in the words of Kubernetes' field errors. */
export class Fields {
  readonly #value: unknown;
  readonly #path: string;
  readonly #problems: string[];

  constructor(value: unknown, path: string, problems: string[]) {
    this.#value = value;
    this.#path = path;
    this.#problems = problems;
  }

  get isPresent(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  #at(name: string): unknown {
    return isRecord(this.#value) ? (this.#value[name] ?? undefined) : undefined;
  }

  child(name: string): Fields {
    return new Fields(this.#at(name), this.#pathOf(name), this.#problems);
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  raw(name: string): unknown {
    return this.#at(name);
  }

  text(name: string): string | undefined {
    const value = this.#at(name);
    if (value === undefined || typeof value === 'string') return value;
    this.invalid(name, value, 'must be a string');
    return undefined;
  }

  number(name: string): number | undefined {
    const value = this.#at(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value)) return value;
    this.invalid(name, value, 'must be a whole number');
    return undefined;
  }

  list(name: string): Fields[] {
    const value = this.#at(name);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map((item, index) => new Fields(item, `${this.#pathOf(name)}[${index}]`, this.#problems));
    this.invalid(name, value, 'must be a list');
    return [];
  }

  texts(name: string): string[] {
    const value = this.#at(name);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }

  keys(): string[] {
    return isRecord(this.#value) ? Object.keys(this.#value) : [];
  }

  textRecord(): Readonly<Record<string, string>> {
    if (!isRecord(this.#value)) return {};
    return Object.fromEntries(Object.entries(this.#value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  }

  invalid(name: string, value: unknown, why: string): void {
    this.#problems.push(`${this.#pathOf(name)}: Invalid value: ${JSON.stringify(value)}: ${why}`);
  }

  required(name: string, why?: string): void {
    this.#problems.push(`${this.#pathOf(name)}: Required value${why === undefined ? '' : `: ${why}`}`);
  }

  forbidden(name: string, why: string): void {
    this.#problems.push(`${this.#pathOf(name)}: Forbidden: ${why}`);
  }
}
