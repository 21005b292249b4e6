import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { jsonIn } from '../../domain/json.ts';
import { codeOf } from './file-errors.ts';

export type RecordFields = Readonly<Record<string, unknown>>;

/** How one kind of record is read. */
export interface RecordReader<T> {
  /** Undefined: it is no such record. */
  parse: (fields: RecordFields) => T | undefined;
  /** Said behind the path of what is no such record. */
  problem: string;
}

/**
 * A record of one boot as a file in /run, which is memory: it outlives the process and ends with the boot, so nothing is synced and no disk can hold it up.
 * Written beside the old one and renamed: a reader sees one of the two.
 */
export class BootRecordFile<T extends { bootID: string }> {
  readonly #path: string;
  readonly #bootID: string;
  readonly #reader: RecordReader<T>;

  constructor(path: string, bootID: string, reader: RecordReader<T>) {
    this.#path = path;
    this.#bootID = bootID;
    this.#reader = reader;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  /** Undefined: there is none of this boot. Throws where it is there and is not whole. */
  read(): T | undefined {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const record = this.#reader.parse(fieldsOf(jsonIn(text)));
    if (record === undefined || record.bootID === '') throw new Error(`${this.#path} ${this.#reader.problem}`);
    return record.bootID === this.#bootID ? record : undefined;
  }

  write(record: T): void {
    const temporary = `${this.#path}.new`;
    writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}

/** Empty for whatever is no object. */
export function fieldsOf(value: unknown): RecordFields {
  return typeof value === 'object' && value !== null ? (value as RecordFields) : {};
}
