import { execFile, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

import { ProgramFolder } from '../shared/process/program-folder.ts';
import { childEnvironment, searchPath } from '../shared/process/run-program.ts';
import { parseMetadata } from './metadata.ts';
import type { FenceMetadata } from './metadata.ts';

/** A ClusterLabs agent that a configuration names. */
export interface FenceProgram {
  /** `fence_apc`. */
  name: string;
  /** Undefined when it printed none that can be read: it is no fence agent. */
  metadata: FenceMetadata | undefined;
  /** Why no call would start it. */
  refusal?: string;
  /** Why it was not asked for its metadata, so that nothing is known of what it takes. */
  unasked?: string;
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
  readonly programs: ProgramFolder;
  /** Longest unused first. */
  readonly #kept = new Map<string, Kept>();
  /** Programs that are being asked again. */
  readonly #asking = new Set<string>();

  /** `programs`: where they are; absent: nowhere. */
  constructor(programs: ProgramFolder = new ProgramFolder()) {
    this.programs = programs;
  }

  /** By the program's name, `-` and `_` alike; undefined where no fence agent is named so. Waits for the program, once. */
  find(written: string): FenceProgram | undefined {
    const name = written.trim().toLowerCase().replaceAll('-', '_');
    if (!NAME.test(name)) return undefined;
    const kept = this.#found(name);
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > PROGRAMS_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return kept.program;
  }

  /** A program that must not run, or not now, is told of and never started. */
  #found(name: string): Kept {
    const located = this.programs.locate(name, 'run');
    if (located.kind === 'unseen') return this.#told({ name, metadata: undefined, unasked: located.message });
    if (located.kind !== 'found') return this.#told({ name, metadata: undefined, refusal: located.message });
    const { withheld } = this.programs;
    return withheld === undefined ? this.#asked(name, located.file) : this.#told({ name, metadata: undefined, unasked: withheld });
  }

  /** The same object while the same is told. */
  #told(program: FenceProgram): Kept {
    const stamp = `told ${program.refusal ?? program.unasked ?? ''}`;
    const known = this.#kept.get(program.name);
    return known?.stamp === stamp ? known : { program, stamp, late: 0 };
  }

  #asked(name: string, file: string): Kept {
    const stamp = stampOf(file);
    const known = this.#kept.get(name);
    const late = known?.stamp === stamp ? known.late : 0;
    if (known?.stamp === stamp && (late === 0 || late >= ATTEMPTS_MAX)) return known;
    if (known === undefined || known.stamp.startsWith('told ')) return keptOf({ name, file, stamp, late }, spawnSync(file, optionsFor(searchPath())));
    this.#askAgain({ name, file, stamp, late });
    return known;
  }

  #askAgain(asked: Asked): void {
    if (this.#asking.has(asked.name)) return;
    this.#asking.add(asked.name);
    const { input, ...options } = optionsFor(searchPath());
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

function keptOf({ name, stamp, late }: Asked, { stdout, signal }: { stdout: string; signal: string | null }): Kept {
  const metadata = parseMetadata(stdout);
  const isLate = metadata === undefined && signal === 'SIGKILL';
  return { program: { name, metadata }, stamp, late: isLate ? late + 1 : 0 };
}
