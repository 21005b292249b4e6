/** Tags of the basic encoding rules that SNMP uses (RFC 1157, RFC 3416). */
export const TAG = {
  integer: 0x02,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  sequence: 0x30,
  gauge: 0x42,
  noSuchObject: 0x80,
  noSuchInstance: 0x81,
  endOfMibView: 0x82,
} as const;

export interface Element {
  tag: number;
  content: Buffer;
}

export function encode(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

export function encodeInteger(value: number, tag: number = TAG.integer): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeIntBE(value, 0, 6);
  let start = 0;
  // The shortest two's complement.
  while (start < 5 && ((bytes[start] === 0 && (bytes[start + 1] ?? 0) < 0x80) || (bytes[start] === 0xff && (bytes[start + 1] ?? 0) >= 0x80))) start++;
  return encode(tag, bytes.subarray(start));
}

export function encodeOid(oid: string): Buffer {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) | 0x80);
    bytes.push(...groups);
  }
  return encode(TAG.oid, Buffer.from(bytes));
}

/** Every element of a content, in order. Throws when the bytes end early. */
export function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const more = short & 0x80 ? short & 0x7f : 0;
    const length = more === 0 ? short : bytes.readUIntBE(at + 2, more);
    const begin = at + 2 + more;
    if (begin + length > bytes.length) throw new RangeError('the element is longer than the message');
    found.push({ tag, content: bytes.subarray(begin, begin + length) });
    at = begin + length;
  }
  return found;
}

export function integer({ content }: Element): number {
  return content.readIntBE(0, content.length);
}

export function oid({ content }: Element): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...rest] = arcs;
  return [Math.min(2, Math.floor(first / 40)), first - 40 * Math.min(2, Math.floor(first / 40)), ...rest].join('.');
}
