import { spawnSync } from 'node:child_process';
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
/** An agent prints its metadata in 0.1 to 1 s; the plan waits for it, once per program. */
const METADATA_MAX_MS = 5_000;
/** A machine under load may be late; one that hangs would hold up the plans of all nodes each time. */
const ATTEMPTS_MAX = 3;
const METADATA_MAX_BYTES = 1_048_576;

/** Installed fence agents by name, each asked for its metadata once and again only when its file has changed. */
export class FenceCatalogue {
  readonly #path: string | undefined;
  /** Longest unused first. */
  readonly #kept = new Map<string, Kept>();

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
    const { metadata, isLate } = readMetadata(file, this.path);
    return { program: { name, file, metadata }, stamp, late: isLate ? late + 1 : 0 };
  }
}

function stampOf(file: string): string {
  const { ino, mtimeMs, size } = statSync(file);
  return `${file} ${ino} ${mtimeMs} ${size}`;
}

function readMetadata(file: string, path: string): { metadata: FenceMetadata | undefined; isLate: boolean } {
  const { stdout, signal } = spawnSync(file, {
    input: 'action=metadata\n',
    cwd: '/',
    env: childEnvironment(path),
    timeout: METADATA_MAX_MS,
    killSignal: 'SIGKILL',
    maxBuffer: METADATA_MAX_BYTES,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const metadata = parseMetadata(stdout);
  return { metadata, isLate: metadata === undefined && signal === 'SIGKILL' };
}
