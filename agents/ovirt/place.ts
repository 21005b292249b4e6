import type { Place } from '../shared/web/trusted-socket.ts';

/** Where the engine's API is. */
export interface EnginePlace extends Place {
  /** Without a slash at its end: `/ovirt-engine/api`. */
  path: string;
}

/** Source: oVirt's "REST API Guide", "Accessing API"; older engines have it at `/api` too. */
export const API_PATH = '/ovirt-engine/api';

interface Otherwise {
  port?: number | undefined;
  tls?: boolean | undefined;
  path?: string | undefined;
}

/** Of a host name, an address, either with a port, or a URL of the API such as `OVIRT_URL` holds; undefined for anything else. */
export function placeOf(written: string, { port, tls, path }: Otherwise = {}): EnginePlace | undefined {
  const text = written.trim();
  const isURL = /^https?:\/\//i.test(text);
  const isBareIPv6 = !isURL && /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text);
  const full = isURL ? text : `${tls === false ? 'http' : 'https'}://${isBareIPv6 ? `[${text}]` : text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (url === undefined || host === '' || /\s/.test(text) || (!isURL && url.pathname !== '/')) return undefined;
  // `URL` leaves out a port that is the scheme's own: one that is written wins all the same.
  const inside = /^[a-z]+:\/\/(?:[^/@]*@)?(?:\[[^\]]*\]|[^:/]*):(\d+)/i.exec(full)?.[1];
  const isSecure = url.protocol === 'https:';
  const chosen = inside === undefined ? (port ?? (isSecure ? 443 : 80)) : Number(inside);
  if (chosen < 1 || chosen > 65_535) return undefined;
  const own = url.pathname.replace(/\/+$/, '');
  return { host, port: chosen, tls: isSecure, path: path ?? (own === '' ? API_PATH : own) };
}
