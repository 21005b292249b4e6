import type { Clock } from '../../../../ports/clock.ts';
import { COMPLETION } from './commands.ts';

const RECORD_BYTES = 16;
const RECORDS_MAX = 512;
/** IDs with a meaning of their own (section 31.5). */
const OLDEST = 0x0000;
const NEWEST = 0xffff;
const SYSTEM_EVENT = 0x02;
/** The software that generated an event is the BMC itself; events are of IPMI 2.0 (table 32-1). */
const OF_BMC = [0x20, 0x00, 0x04] as const;
const SENSOR_SPECIFIC = 0x6f;
const DEASSERTED = 0x80;

/** What happened, by kind of sensor (table 42-3). */
const EVENTS = {
  off: [0x09, 0x01, SENSOR_SPECIFIC, 0x00],
  on: [0x09, 0x01, SENSOR_SPECIFIC | DEASSERTED, 0x00],
  diag: [0x13, 0x02, SENSOR_SPECIFIC, 0x00],
} as const satisfies Readonly<Record<string, readonly [number, number, number, number]>>;

/** The System Event Log of a BMC (chapter 31). */
export class EventLog {
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #records = new Map<number, Buffer>();
  #lastID = 0;

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  /** The oldest makes place where it is full. */
  add(event: keyof typeof EVENTS): void {
    const [oldest] = this.#records.keys();
    if (this.#records.size >= RECORDS_MAX && oldest !== undefined) this.#records.delete(oldest);
    this.#lastID = (this.#lastID % 0xfffe) + 1;
    const record = Buffer.alloc(RECORD_BYTES, 0xff);
    record.writeUInt16LE(this.#lastID, 0);
    record.writeUInt8(SYSTEM_EVENT, 2);
    record.writeUInt32LE(this.#seconds(), 3);
    record.set([...OF_BMC, ...EVENTS[event]], 7);
    this.#records.set(this.#lastID, record);
  }

  /** Section 31.2: version, entries, free bytes, two times, what it can do. */
  info(): Buffer {
    const info = Buffer.alloc(15);
    info.writeUInt8(COMPLETION.ok, 0);
    info.writeUInt8(0x51, 1);
    info.writeUInt16LE(this.#records.size, 2);
    info.writeUInt16LE((RECORDS_MAX - this.#records.size) * RECORD_BYTES, 4);
    info.writeUInt32LE(this.#seconds(), 6);
    info.writeUInt32LE(this.#seconds(), 10);
    return info;
  }

  /** Section 31.4; nothing here is ever erased, so that any reservation holds. */
  reserve(): Buffer {
    return Buffer.from([COMPLETION.ok, 0x01, 0x00]);
  }

  /** Section 31.5: the ID of the next one, and the part of the record that was asked for. */
  entry(data: Buffer): Buffer {
    if (data.length < 6) return Buffer.from([COMPLETION.tooShort]);
    const ids = [...this.#records.keys()];
    const asked = data.readUInt16LE(2);
    const id = asked === OLDEST ? ids[0] : asked === NEWEST ? ids.at(-1) : asked;
    const record = id === undefined ? undefined : this.#records.get(id);
    if (id === undefined || record === undefined) return Buffer.from([COMPLETION.notFound]);
    const next = ids[ids.indexOf(id) + 1] ?? NEWEST;
    const offset = data.readUInt8(4);
    const part = record.subarray(offset, offset + data.readUInt8(5));
    return Buffer.concat([Buffer.from([COMPLETION.ok, next & 0xff, next >> 8]), part]);
  }

  #seconds(): number {
    return Math.floor(this.#clock.wallMs() / 1_000);
  }
}
