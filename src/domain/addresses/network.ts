/** Addresses and networks as numbers: a text of an address has many spellings, its number one. */
export interface Address {
  family: 4 | 6;
  value: bigint;
}

export interface Network extends Address {
  prefix: number;
  /** As it was written. */
  text: string;
}

const BITS = { 4: 32, 6: 128 } as const;
/** ::ffff:0:0/96 (RFC 4291) and 64:ff9b::/96 (RFC 6052): the last four bytes are an IPv4 address, and a packet goes there. */
const EMBEDDING = new Set([0xff_ffn, 0x64_ff9b_0000_0000_0000_0000n]);

/** An address without port; a zone (`%eth0`) is left out, an IPv4 address inside an IPv6 one is taken for what it is. Undefined: it is none. */
export function parseAddress(text: string): Address | undefined {
  const [bare = ''] = text.split('%');
  if (!bare.includes(':')) return ofFour(bare);
  const value = sixteenBytes(bare);
  if (value === undefined) return undefined;
  return EMBEDDING.has(value >> 32n) ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value };
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. Undefined: it is none. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const found = address.includes('%') ? undefined : parseAddress(address);
  if (found === undefined || rest.length > 0) return undefined;
  const bits = BITS[found.family];
  if (length === undefined) return { ...found, prefix: bits, text };
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  // A length for IPv6 behind an embedded IPv4 address is nobody's.
  return prefix <= bits ? { ...found, prefix, text } : undefined;
}

export function contains(network: Network, address: Address): boolean {
  const shift = BigInt(BITS[network.family] - network.prefix);
  return network.family === address.family && network.value >> shift === address.value >> shift;
}

/** Every address of `inner` is one of `outer`. */
export function encloses(outer: Network, inner: Network): boolean {
  return inner.prefix >= outer.prefix && contains(outer, inner);
}

function ofFour(text: string): Address | undefined {
  const value = fourBytes(text);
  return value === undefined ? undefined : { family: 4, value };
}

function fourBytes(text: string): bigint | undefined {
  const bytes = text.split('.');
  if (bytes.length !== 4 || !bytes.every((byte) => /^(?:0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256)) return undefined;
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function sixteenBytes(text: string): bigint | undefined {
  const [head = '', tail, ...rest] = text.split('::');
  const [before, behind] = [groupsOf(head), groupsOf(tail ?? '')];
  if (rest.length > 0 || before === undefined || behind === undefined) return undefined;
  const missing = 8 - before.length - behind.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...before, ...Array<bigint>(missing).fill(0n), ...behind].reduce((sum, group) => (sum << 16n) | group, 0n);
}

/** Groups of 16 bits; the last two may be written as an IPv4 address. */
function groupsOf(text: string): bigint[] | undefined {
  if (text === '') return [];
  const words = text.split(':');
  const four = words.at(-1)?.includes('.') === true ? fourBytes(words.pop() ?? '') : 0n;
  if (four === undefined || !words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined;
  const groups = words.map((word) => BigInt(`0x${word}`));
  return text.includes('.') ? [...groups, four >> 16n, four & 0xffffn] : groups;
}
