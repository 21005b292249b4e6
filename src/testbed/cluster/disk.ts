/** One write of a workload to shared storage. */
export interface DiskRecord {
  volume: string;
  node: string;
  podUID: string;
  counter: number;
}

/** Shared storage that, like a real disk, stops nobody from writing whom nobody shut out: whether two writers overlapped is judged from its log. */
export interface Disk {
  /** The counter written last; 0 on an empty volume. */
  last(volume: string): number;
  /** `false`: the machine is shut out, and nothing was written. */
  write(record: DiskRecord): boolean;
}

/** The shared disk of a single process. */
export class MemoryDisk implements Disk {
  readonly #records: DiskRecord[] = [];
  readonly #last = new Map<string, number>();
  readonly #onWrite: ((record: DiskRecord) => void) | undefined;

  constructor(onWrite?: (record: DiskRecord) => void) {
    this.#onWrite = onWrite;
  }

  get records(): readonly DiskRecord[] {
    return this.#records;
  }

  last(volume: string): number {
    return this.#last.get(volume) ?? 0;
  }

  write(record: DiskRecord): boolean {
    this.#records.push(record);
    this.#last.set(record.volume, record.counter);
    this.#onWrite?.(record);
    return true;
  }
}
