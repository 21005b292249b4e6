import type { UnfenceRecord, UnfenceRecordStore } from '../../ports/node-daemon.ts';
import { BootRecordFile } from './boot-record-file.ts';
import type { RecordFields } from './boot-record-file.ts';

type Written = UnfenceRecord & { bootID: string };

/** What was found first in this boot, and whether something was begun. */
export class UnfenceRecordFile implements UnfenceRecordStore {
  readonly #file: BootRecordFile<Written>;
  readonly #bootID: string;

  constructor(path: string, bootID: string) {
    this.#file = new BootRecordFile(path, bootID, { parse: recordOf, problem: 'is no record of what was registered' });
    this.#bootID = bootID;
  }

  async read(): Promise<UnfenceRecord | undefined> {
    const written = this.#file.read();
    if (written === undefined) return undefined;
    const { bootID: _this, ...record } = written;
    return record;
  }

  write(record: UnfenceRecord): void {
    this.#file.write({ bootID: this.#bootID, ...record });
  }
}

function recordOf({ bootID, lacks, isRegistering, epoch }: RecordFields): Written | undefined {
  const isWhole = typeof bootID === 'string' && typeof isRegistering === 'boolean' && typeof epoch === 'number';
  if (!isWhole || (lacks !== undefined && typeof lacks !== 'boolean')) return undefined;
  return { bootID, isRegistering, epoch, ...(lacks === undefined ? {} : { lacks }) };
}
