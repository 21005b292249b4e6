import { appendFileSync, closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk, DiskRecord } from '../cluster/disk.ts';

/** Longer than any line; the last one always lies within. */
const TAIL_BYTES = 4_096;

/**
 * A disk that several machine processes share: one file per volume, each write a line appended with O_APPEND, so that all of them stay visible.
 * A file `closed-<node>` beside them shuts that machine out.
 */
export class FileDisk implements Disk {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  last(volume: string): number {
    const lines = this.#tail(volume).trimEnd().split('\n');
    const line = lines.at(-1) ?? '';
    return line === '' ? 0 : (JSON.parse(line) as DiskRecord).counter;
  }

  write(record: DiskRecord): boolean {
    if (existsSync(join(this.#folder, `closed-${record.node}`))) return false;
    appendFileSync(this.#path(record.volume), `${JSON.stringify(record)}\n`);
    return true;
  }

  #path(volume: string): string {
    return join(this.#folder, `${volume}.jsonl`);
  }

  #tail(volume: string): string {
    const file = openSync(this.#path(volume), 'a+');
    try {
      const size = fstatSync(file).size;
      const buffer = Buffer.alloc(Math.min(TAIL_BYTES, size));
      readSync(file, buffer, 0, buffer.length, size - buffer.length);
      return buffer.toString('utf8');
    } finally {
      closeSync(file);
    }
  }
}
