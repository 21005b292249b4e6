/** Bytes that are no protobuf message, or not the one that is expected. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

export const VARINT = 0;
const FIXED_64 = 1;
export const BYTES = 2;
const FIXED_32 = 5;

const VARINT_BITS_MAX = 63;
const FIELD_BITS = 3;
const TAG_MAX = 0xff_ff_ff_ff;

/**
 * Reads the wire format of protobuf (https://protobuf.dev/programming-guides/encoding/) from its place in `bytes` on. Whatever is read ends at `end` at the latest, which is that of
 * the message it belongs to; else it throws `Malformed`.
 */
export class Wire {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** The number of a field and its wire type, as they stand: `number << 3 | type`. */
  tag(end: number): number {
    const first = this.#byte(end);
    const tag = first < 0x80 ? first : this.#goOn(first, end);
    if (tag < 1 << FIELD_BITS || tag > TAG_MAX) throw new Malformed('a field has no number that there can be');
    return tag;
  }

  /** Of what is delimited by its length: where it ends. */
  endOfBytes(end: number): number {
    const first = this.#byte(end);
    const length = first < 0x80 ? first : this.#goOn(first, end);
    if (length < 0 || length > end - this.at) throw new Malformed('a field is longer than what it stands in');
    return this.at + length;
  }

  /** An int64, an int32 or a bool: rounded as JSON's numbers are. */
  integer(end: number): number {
    const first = this.#byte(end);
    return first < 0x80 ? first : this.#goOn(first, end);
  }

  /** Goes on at `end`, which is not beyond the message; returns where it stood. */
  goTo(end: number): number {
    const { at } = this;
    this.at = end;
    return at;
  }

  /** Passes over all fields of this tag that follow right here. */
  passRun(tag: number, end: number): void {
    while (this.at < end) {
      const { at } = this;
      if (this.tag(end) !== tag) {
        this.at = at;
        return;
      }
      this.skip(tag, end);
    }
  }

  /** Passes over a field that nobody asked for. */
  skip(tag: number, end: number): void {
    const type = tag & ((1 << FIELD_BITS) - 1);
    if (type === BYTES) this.at = this.endOfBytes(end);
    else if (type === VARINT) this.integer(end);
    else if (type === FIXED_64) this.#pass(8, end);
    else if (type === FIXED_32) this.#pass(4, end);
    else throw new Malformed(`a field has the wire type ${String(type)}`);
  }

  #pass(count: number, end: number): void {
    if (count > end - this.at) throw new Malformed('a field is longer than what it stands in');
    this.at += count;
  }

  #byte(end: number): number {
    if (this.at >= end) throw new Malformed('a message ends in the middle of a field');
    return this.bytes[this.at++] ?? 0;
  }

  /** The rest of a number of several bytes: seven bits in each, the lowest first; 64 bits of two's complement. */
  #goOn(first: number, end: number): number {
    let low = first & 0x7f;
    let high = 0;
    for (let shift = 7; shift <= VARINT_BITS_MAX; shift += 7) {
      const byte = this.#byte(end);
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high = bits >>> 4;
      if (shift > 28) high |= bits << (shift - 32);
      if (byte < 0x80) {
        if (shift === VARINT_BITS_MAX && byte > 1) break;
        return high * 2 ** 32 + (low >>> 0);
      }
    }
    throw new Malformed('a number is longer than 64 bits');
  }
}
