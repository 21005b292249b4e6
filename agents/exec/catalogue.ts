import { execFile, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

import { childEnvironment, findProgram, searchPath } from '../shared/process/run-program.ts';
import { parseMetadata } from './metadata.ts';
import type { FenceMetadata } from './metadata.ts';

/** A ClusterLabs agent that is installed here. */
export interface FenceProgram {
  /** `fence_apc`. */
  name: string;
  file: string;
  /** Undefined when it printed none that can be read: it is no fence agent. */
  metadata: FenceMetadata | undefined;
}

interface Kept {
  program: FenceProgram;
  /** Which file it was. */
  stamp: string;
  /** It did not answer in time, so often. */
  late: number;
}

const NAME = /^fence_[a-z0-9_]{1,60}$/;
const PROGRAMS_MAX = 256;
/** An agent prints its metadata in 0.1 to 1 s; the first plan that names it waits for it, once per program: while the controller starts. */
const METADATA_MAX_MS = 5_000;
/** A machine under load may be late; one that hangs is not asked for ever. */
const ATTEMPTS_MAX = 3;
const METADATA_MAX_BYTES = 1_048_576;

/**
 * Installed fence agents by name, each asked for its metadata once. When its file has changed, or it was late, it is asked again beside everything else:
 * until it has answered, what it said before stands, and no lease waits for a program.
 */
export class FenceCatalogue {
  readonly #path: string | undefined;
  /** Longest unused first. */
  readonly #kept = new Map<string, Kept>();
  /** Programs that are being asked again. */
  readonly #asking = new Set<string>();

  /** `path`: as in the environment variable; absent: this process' own, as it is when a program is looked for. */
  constructor(path?: string) {
    this.#path = path;
  }

  get path(): string {
    return this.#path ?? searchPath();
  }

  /** By the program's name, `-` and `_` alike; undefined where no such program is installed. Waits for the program, once. */
  find(written: string): FenceProgram | undefined {
    const name = written.trim().toLowerCase().replaceAll('-', '_');
    const file = NAME.test(name) ? findProgram(name, this.path) : undefined;
    if (file === undefined) return undefined;
    const kept = this.#asked(name, file);
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > PROGRAMS_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return kept.program;
  }

  #asked(name: string, file: string): Kept {
    const stamp = stampOf(file);
    const known = this.#kept.get(name);
    const late = known?.stamp === stamp ? known.late : 0;
    if (known?.stamp === stamp && (late === 0 || late >= ATTEMPTS_MAX)) return known;
    if (known === undefined) return keptOf({ name, file, stamp, late }, spawnSync(file, optionsFor(this.path)));
    this.#askAgain({ name, file, stamp, late });
    return known;
  }

  #askAgain(asked: Asked): void {
    if (this.#asking.has(asked.name)) return;
    this.#asking.add(asked.name);
    const { input, ...options } = optionsFor(this.path);
    const child = execFile(asked.file, [], options, (error, stdout) => {
      this.#asking.delete(asked.name);
      const signal = error?.signal ?? null;
      this.#kept.set(asked.name, keptOf(asked, { stdout, signal }));
    });
    // A program that ends without reading closes the pipe; that is no failure of its own.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  }
}

function stampOf(file: string): string {
  const { ino, mtimeMs, size } = statSync(file);
  return `${file} ${ino} ${mtimeMs} ${size}`;
}

interface Asked {
  name: string;
  file: string;
  stamp: string;
  /** It did not answer in time, so often before. */
  late: number;
}

const optionsFor = (path: string) =>
  ({
    input: 'action=metadata\n',
    cwd: '/',
    env: childEnvironment(path),
    timeout: METADATA_MAX_MS,
    killSignal: 'SIGKILL',
    maxBuffer: METADATA_MAX_BYTES,
    encoding: 'utf8',
  }) as const;

function keptOf({ name, file, stamp, late }: Asked, { stdout, signal }: { stdout: string; signal: string | null }): Kept {
  const metadata = parseMetadata(stdout);
  const isLate = metadata === undefined && signal === 'SIGKILL';
  return { program: { name, file, metadata }, stamp, late: isLate ? late + 1 : 0 };
}
