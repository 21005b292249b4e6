import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PROMISES_MAX } from '../../ports/node-daemon.ts';
import type { PromiseStore } from '../../ports/node-daemon.ts';
import { codeOf } from './file-errors.ts';

/** A file under /var/lib: a promise outlives the power of this node, so file and folder are synced before it is given. */
export class PromiseFile implements PromiseStore {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<ReadonlyMap<string, string>> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return new Map();
      throw error;
    }
    const promises = promisesOf(text);
    if (promises === undefined) throw new Error(`${this.#path} holds no promises; without them this node may vouch for nobody`);
    return promises;
  }

  /** One after the other: two at a time would mix in one file. */
  write(promises: ReadonlyMap<string, string>): Promise<void> {
    if (promises.size > PROMISES_MAX) return Promise.reject(new RangeError(`${promises.size} promises are more than ${PROMISES_MAX}`));
    const text = JSON.stringify(Object.fromEntries(promises));
    const written = this.#last.then(() => replaceDurably(this.#path, text));
    // Whoever waits for this one hears of its failure; the next one is tried all the same.
    this.#last = written.catch(() => undefined);
    return written;
  }
}

async function replaceDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = `${path}.new`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const listed = await open(folder, 'r');
  try {
    await listed.sync();
  } finally {
    await listed.close();
  }
}

function promisesOf(text: string): Map<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const entries: [string, unknown][] = Object.entries(value);
    const whole = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return whole.length === entries.length && entries.length <= PROMISES_MAX ? new Map(whole) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
