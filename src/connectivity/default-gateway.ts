import { readFile } from 'node:fs/promises';

const ROUTES = '/proc/net/route';
/** RTF_UP and RTF_GATEWAY of the kernel. */
const UP_AND_GATEWAY = 0x3;

/** The IPv4 default gateway of this network namespace; `undefined`: there is none, or no such file. */
export async function defaultGateway(path: string = ROUTES): Promise<string | undefined> {
  try {
    return gatewayIn(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** `Iface Destination Gateway Flags ...`, addresses in hexadecimal with the last byte first. The route with the least metric wins. */
export function gatewayIn(routes: string): string | undefined {
  const candidates = routes
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1] === '00000000' && (Number.parseInt(fields[3] ?? '0', 16) & UP_AND_GATEWAY) === UP_AND_GATEWAY)
    .map((fields) => ({ gateway: fields[2] ?? '', metric: Number(fields[6] ?? 0) }))
    .filter(({ gateway }) => /^[0-9A-Fa-f]{8}$/.test(gateway))
    .sort((left, right) => left.metric - right.metric);
  const [first] = candidates;
  if (first === undefined) return undefined;
  return [6, 4, 2, 0].map((at) => Number.parseInt(first.gateway.slice(at, at + 2), 16)).join('.');
}
