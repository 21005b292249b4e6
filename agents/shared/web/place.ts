import type { Place } from './trusted-socket.ts';

export const HTTPS_PORT = 443;

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** `host`, or `host:port` where the port is not the usual one. */
export function placeText({ host, port }: Pick<Place, 'host' | 'port'>, usualPort: number): string {
  return port === usualPort ? bracketed(host) : `${bracketed(host)}:${port}`;
}

/** The beginning of every URL there: `https://host:port`. */
export function originOf({ host, port, tls }: Place): string {
  return `${tls ? 'https' : 'http'}://${bracketed(host)}:${port}`;
}
