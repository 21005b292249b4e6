import { isIP } from 'node:net';

export interface BindAddress {
  host: string;
  port: number;
}

/** `HOST:PORT`, `[IPv6]:PORT` or `:PORT` (all addresses). Port 0 takes a free one. */
export function parseBindAddress(text: string): BindAddress {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const bracketed = match?.[1];
  const host = bracketed ?? match?.[2] ?? '';
  const port = Number(match?.[3]);
  if (match === null || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) {
    throw new Error(`bind address "${text}": write HOST:PORT, [IPv6]:PORT or :PORT`);
  }
  return { host: host === '' ? '::' : host, port };
}
