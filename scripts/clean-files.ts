import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type ts from 'typescript';
import { SIMULATED } from './simulation-rules.mjs';

/** What decides which rules there are, and what they say. */
const RULES = ['eslint.config.mjs', 'tsconfig.json', 'package-lock.json', 'scripts/*-rules.mjs'];

type Builder = Pick<ts.BuilderProgram, 'getSourceFile' | 'getAllDependencies'>;

/**
 * The files that the linter had nothing against. What a typed rule says of a file depends on its text, on everything that it imports, however far, and on the
 * rules: while all of that is the same, so is the verdict.
 */
export class CleanFiles {
  readonly #root: string;
  readonly #kept: string;
  readonly #builder: Builder;
  readonly #rules: string;
  readonly #digests = new Map<string, string>();
  readonly #keys = new Map<string, string | undefined>();
  readonly #clean: Map<string, string>;

  /** `kept`: the file that holds them from one run to the next. */
  constructor(root: string, kept: string, builder: Builder) {
    this.#root = root;
    this.#kept = kept;
    this.#builder = builder;
    const texts = globSync(RULES, { cwd: root })
      .toSorted()
      .map((file) => readFileSync(join(root, file), 'utf8'));
    this.#rules = digestOf([process.version, ...SIMULATED, ...texts]);
    this.#clean = new Map(existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as [string, string][]) : []);
  }

  /** Is it as it was when nothing was found in it? Never of a file that the compiler does not know. */
  has(file: string): boolean {
    const key = this.#keyOf(file);
    return key !== undefined && this.#clean.get(file) === key;
  }

  /** Keeps what was found now, and forgets files that are gone. */
  keep(found: ReadonlyMap<string, boolean>): void {
    for (const [file, isClean] of found) {
      const key = this.#keyOf(file);
      if (isClean && key !== undefined) this.#clean.set(file, key);
      else this.#clean.delete(file);
    }
    const still = [...this.#clean].filter(([file]) => this.#keyOf(file) !== undefined);
    writeFileSync(this.#kept, JSON.stringify(still));
  }

  /** Worked out once: a file imports a thousand others. */
  #keyOf(file: string): string | undefined {
    if (this.#keys.has(file)) return this.#keys.get(file);
    const source = this.#builder.getSourceFile(join(this.#root, file));
    const key = source && digestOf([this.#rules, ...this.#builder.getAllDependencies(source).map((path) => this.#digest(path))]);
    this.#keys.set(file, key);
    return key;
  }

  #digest(path: string): string {
    const known = this.#digests.get(path);
    if (known !== undefined) return known;
    const digest = digestOf([relative(this.#root, path), this.#builder.getSourceFile(path)?.text ?? '']);
    this.#digests.set(path, digest);
    return digest;
  }
}

function digestOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('base64');
}
