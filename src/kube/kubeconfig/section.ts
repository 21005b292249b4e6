/** A mapping inside a configuration file, which knows its place there and says it in every error. */
export class Section {
  readonly where: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown, where: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`${where}: must be a mapping`);
    }
    this.where = where;
    this.#fields = value as Readonly<Record<string, unknown>>;
  }

  has(key: string): boolean {
    return (this.#fields[key] ?? null) !== null;
  }

  text(key: string): string | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null || value === '') {
      return undefined;
    }
    if (typeof value !== 'string') {
      throw new Error(`${this.where}.${key}: must be a string`);
    }
    return value;
  }

  isTrue(key: string): boolean {
    const value = this.#fields[key] ?? false;
    if (typeof value !== 'boolean') {
      throw new Error(`${this.where}.${key}: must be true or false`);
    }
    return value;
  }

  texts(key: string): readonly string[] {
    const value = this.#fields[key] ?? [];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      throw new Error(`${this.where}.${key}: must be a list of strings`);
    }
    return value;
  }

  section(key: string): Section | undefined {
    return this.has(key) ? new Section(this.#fields[key], `${this.where}.${key}`) : undefined;
  }

  sections(key: string): readonly Section[] {
    const value = this.#fields[key] ?? [];
    if (!Array.isArray(value)) {
      throw new Error(`${this.where}.${key}: must be a list`);
    }
    return value.map((item: unknown, index) => new Section(item, `${this.where}.${key}[${String(index)}]`));
  }

  raw(key: string): unknown {
    return this.#fields[key];
  }
}
