import { isIP } from 'node:net';

/** Did a connection come from this machine, or this pod? What `kubectl port-forward` brings does; an unknown peer did not. */
export function isOnThisMachine(remoteAddress: string | undefined): boolean {
  const address = (remoteAddress ?? '').replace(/^::ffff:/i, '');
  return address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);
}

/**
 * Was this machine asked for by a name of its own? A page in a browser here may have the name that it came from resolve to this machine, and is then of one
 * origin with what it reads: it says its own name. An address is no name that somebody else can give.
 */
export function isOwnName(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = (/^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, '')).toLowerCase();
  return name === 'localhost' || isIP(name) !== 0 || names.some((own) => own.toLowerCase() === name);
}
