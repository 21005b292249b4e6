import type { Disk, DiskAnswer } from '../lease-disk.ts';

/** A device in memory, as one machine reaches it: several may share the bytes. */
export class MemoryDisk implements Disk {
  readonly bytes: Uint8Array;
  /** What it answers instead of itself. */
  fault: Exclude<DiskAnswer, { kind: 'done' }> | undefined;
  /** A write that is told as silent arrives all the same. */
  writesThrough = false;
  readonly writes: number[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  read(offset: number, length: number): Promise<DiskAnswer> {
    return Promise.resolve(this.fault ?? { kind: 'done', isDirect: true, bytes: Uint8Array.from(this.bytes.subarray(offset, offset + length)) });
  }

  write(offset: number, content: Uint8Array): Promise<DiskAnswer> {
    if (this.fault === undefined || this.writesThrough) this.bytes.set(content, offset);
    this.writes.push(offset);
    return Promise.resolve(this.fault ?? { kind: 'done', isDirect: true, bytes: new Uint8Array() });
  }
}
