import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './reading.ts';

/** A child that was started and is not known to have ended. */
export interface HungChild {
  key: string;
  pid: number;
  /** Field 22 of /proc/<pid>/stat: another process of the same number has another. */
  startTicks: string;
  startedAtMs: number;
  /** It said something: it was there, and hung later. */
  hasSpoken: boolean;
}

/** Not yet in its place. */
const NEW = '.new';

/**
 * The children that run, in files: what a process abandoned because even SIGKILL did not end it is found by the next one, which may be another call of
 * `nodefence node check`. The files lie in /run, and read quickly.
 */
export class HungChildren {
  readonly #folder: string;
  readonly #procFolder: string;

  constructor(folder: string, procFolder = '/proc') {
    this.#folder = join(folder, 'children');
    this.#procFolder = procFolder;
  }

  /** Those that still are. What has ended is forgotten. */
  standing(): HungChild[] {
    const found: HungChild[] = [];
    for (const name of this.#names()) {
      const child = childOf(this.#text(join(this.#folder, name)));
      if (child !== undefined && this.#startTicks(child.pid) === child.startTicks) found.push(child);
      else rmSync(join(this.#folder, name), { force: true });
    }
    return found;
  }

  /** Before anything is waited for: whoever kills this process meanwhile leaves a child that is known. */
  add(key: string, pid: number, startedAtMs: number): void {
    const startTicks = this.#startTicks(pid);
    // It has ended already.
    if (startTicks === undefined) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#write({ key, pid, startTicks, startedAtMs, hasSpoken: false });
  }

  /** Where that cannot be noted, it counts as one that did not begin: then nothing is lost by it. */
  spoke(key: string): void {
    try {
      const child = childOf(this.#text(this.#file(key)));
      if (child !== undefined) this.#write({ ...child, hasSpoken: true });
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
    }
  }

  /** It has ended. Where another one was started meanwhile, that one stays noted. Where nothing can be removed, its number says later that it has ended. */
  remove(key: string, pid: number | undefined): void {
    try {
      if (childOf(this.#text(this.#file(key)))?.pid === pid) rmSync(this.#file(key), { force: true });
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
    }
  }

  /** Whole or not at all: half a note would be read as none. */
  #write(child: HungChild): void {
    const path = this.#file(child.key);
    writeFileSync(`${path}${NEW}`, JSON.stringify(child), { mode: 0o600 });
    renameSync(`${path}${NEW}`, path);
  }

  #file(key: string): string {
    return join(this.#folder, createHash('sha256').update(key).digest('hex').slice(0, 32));
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => !name.endsWith(NEW));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** Undefined: there is no such process, or only its exit code is left of it. */
  #startTicks(pid: number): string | undefined {
    const text = this.#text(join(this.#procFolder, String(pid), 'stat'));
    // The name in parentheses may hold anything, blanks and parentheses too.
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  }

  #text(path: string): string | undefined {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined;
      throw error;
    }
  }
}

function childOf(text: string | undefined): HungChild | undefined {
  const [, key, pid, startTicks, startedAtMs, spoken] =
    /^\{"key":("(?:[^"\\]|\\.)*"),"pid":(\d{1,10}),"startTicks":"(\d{1,20})","startedAtMs":(\d{1,16}(?:\.\d+)?)(?:,"hasSpoken":(true|false))?\}$/u.exec(
      text ?? '',
    ) ?? [];
  if (key === undefined || pid === undefined || startTicks === undefined || startedAtMs === undefined) return undefined;
  try {
    return { key: JSON.parse(key) as string, pid: Number(pid), startTicks, startedAtMs: Number(startedAtMs), hasSpoken: spoken === 'true' };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
