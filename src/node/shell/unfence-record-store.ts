import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { UnfenceRecord, UnfenceRecordStore } from '../../ports/node-daemon.ts';
import { codeOf } from './file-errors.ts';

/** A file in /run, which is memory: it ends with the boot. Written beside the old one and renamed. */
export class UnfenceRecordFile implements UnfenceRecordStore {
  readonly #path: string;
  readonly #bootID: string;

  constructor(path: string, bootID: string) {
    this.#path = path;
    this.#bootID = bootID;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  async read(): Promise<UnfenceRecord | undefined> {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const { bootID, lacks, isRegistering, epoch } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isWhole = typeof bootID === 'string' && typeof isRegistering === 'boolean' && typeof epoch === 'number';
    if (!isWhole || (lacks !== undefined && typeof lacks !== 'boolean')) throw new Error(`${this.#path} is no record of what was registered`);
    return bootID === this.#bootID ? { isRegistering, epoch, ...(lacks === undefined ? {} : { lacks }) } : undefined;
  }

  write(record: UnfenceRecord): void {
    const temporary = `${this.#path}.new`;
    writeFileSync(temporary, JSON.stringify({ bootID: this.#bootID, ...record }), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}
