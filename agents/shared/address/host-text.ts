import { isIP } from 'node:net';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;
/** An IPv4 address or nothing: what is none would be asked of the name service, or read as octal, by some programs. */
const DIGITS = /^[\d.]+$/;
const ZONE = /^[A-Za-z0-9._-]{1,64}$/;

/** A host name or an address, without port; an IPv6 address may stand in brackets, both of them. No option, blank or control character can be spelled with it. */
export function isHost(text: string): boolean {
  if (DIGITS.test(text)) return isIP(text) === 4;
  if (NAME.test(text)) return true;
  const [address = '', zone, ...rest] = (/^\[([^[\]]*)\]$/.exec(text)?.[1] ?? text).split('%');
  return isIP(address) === 6 && rest.length === 0 && (zone === undefined || ZONE.test(zone));
}
