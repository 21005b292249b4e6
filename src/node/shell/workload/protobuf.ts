/** The little of the Protocol Buffers encoding that CRI needs: messages and texts, wire type 2, and numbers that are sent; whatever else is answered is passed over. */

export interface Field {
  number: number;
  /** Of wire type 2; empty for the others. */
  bytes: Buffer;
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export function textField(number: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([varint((number << 3) | WIRE.bytes), varint(bytes.length), bytes]);
}

/** Of no number below 0. */
export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varint((number << 3) | WIRE.varint), varint(value)]);
}

/** Throws where the bytes are no message. */
export function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error('the message is cut');
      at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new Error('the message holds a number that never ends');
  };
  while (at < bytes.length) {
    const key = next();
    const wire = key % 8;
    if (wire === WIRE.varint) {
      next();
      fields.push({ number: Math.floor(key / 8), bytes: Buffer.alloc(0) });
      continue;
    }
    const length = wire === WIRE.bytes ? next() : wire === WIRE.fixed64 ? 8 : wire === WIRE.fixed32 ? 4 : undefined;
    if (length === undefined) throw new Error(`the message holds wire type ${wire}`);
    if (at + length > bytes.length) throw new Error('the message is cut');
    fields.push({ number: Math.floor(key / 8), bytes: wire === WIRE.bytes ? bytes.subarray(at, at + length) : Buffer.alloc(0) });
    at += length;
  }
  return fields;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}
