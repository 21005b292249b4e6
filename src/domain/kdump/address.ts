/** IP addresses as numbers, so that ranges can be searched. */

const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/i;
const V4_BITS = 32;
const V6_BITS = 128;

export interface IpRange {
  first: bigint;
  last: bigint;
}

/** IPv4 is read as the IPv6 address that a socket for both families shows it as. Undefined: it is none. */
export function ipNumber(text: string): bigint | undefined {
  const v4 = v4Number(text);
  if (v4 !== undefined) return 0xff_ff_00_00_00_00n | v4;
  return v6Number(text.toLowerCase());
}

/** `10.0.0.0/24`, `fd00:1::/64`. Undefined: it is none. */
export function ipRange(text: string): IpRange | undefined {
  const [address = '', length = '', ...more] = text.split('/');
  const number = ipNumber(address);
  const most = address.includes(':') ? V6_BITS : V4_BITS;
  if (number === undefined || more.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > most) return undefined;
  const size = 1n << BigInt(most - Number(length));
  const first = number - (number % size);
  return { first, last: first + size - 1n };
}

/** The same address whichever way it is written. */
export function canonicalIp(text: string): string | undefined {
  return ipNumber(text)?.toString(16);
}

function v4Number(text: string): bigint | undefined {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255)) return undefined;
  return octets.reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n);
}

function v6Number(text: string): bigint | undefined {
  const halves = text.split('::');
  if (!text.includes(':') || halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => groupsOf(half));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: halves.length === 2 ? missing : 0 }, () => 0n), ...(tail ?? [])];
  return groups.reduce((sum, group) => (sum << 16n) | group, 0n);
}

/** The groups of one half; the last may be an IPv4 address. */
function groupsOf(half: string): bigint[] | undefined {
  if (half === '') return [];
  const parts = half.split(':');
  const groups: bigint[] = [];
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 ? v4Number(part) : undefined;
    if (v4 !== undefined) groups.push(v4 >> 16n, v4 & 0xff_ffn);
    else if (GROUP.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}
