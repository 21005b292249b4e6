import { isIP } from 'node:net';

/** One address, or a range of them. */
export interface AddressRange {
  address: string;
  prefix: number;
  family: 4 | 6;
  isHost: boolean;
  /** `10.0.0.5/32`. */
  cidr: string;
}

/** `10.0.0.5`, `10.0.0.5/32`, `fd00::5/128`, several separated by blanks or commas; or what is wrong in words. */
export function parseRanges(text: string): AddressRange[] | string {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0) return 'must hold at least one address';
  if (words.length > 32) return 'must hold at most 32 addresses';
  const ranges: AddressRange[] = [];
  for (const word of words) {
    const [address = '', prefixText, ...rest] = word.split('/');
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const prefix = prefixText === undefined ? longest : Number(prefixText);
    if ((family !== 4 && family !== 6) || rest.length > 0 || address.includes('%'))
      return 'must be addresses or ranges such as 10.0.0.5 or 10.0.0.5/32';
    if (prefixText !== undefined && (!/^\d{1,3}$/.test(prefixText) || prefix > longest || prefix === 0))
      return 'has a range with an impossible length';
    const plain = plainAddress(address);
    ranges.push({ address: plain, prefix, family, isHost: prefix === longest, cidr: `${plain}/${prefix}` });
  }
  return ranges;
}

/** An IPv6 address as Ceph and the API server write it (RFC 5952), however it was written here; any other text in lower case. */
export function plainAddress(text: string): string {
  const isPlain = isIP(text) === 6 && !/[.%]/.test(text);
  return isPlain ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text.toLowerCase();
}
