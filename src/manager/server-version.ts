import type { ApiTransport } from '../ports/api-transport.ts';

/** The first Kubernetes with the out-of-service taint on by default (KEP-2268). */
const OUT_OF_SERVICE_SINCE = [1, 26] as const;
/** And the first in which nobody can switch it off. */
const STABLE_SINCE = [1, 28] as const;

/** Has this API server the out-of-service taint? Rejects when it does not say its version. */
export function hasOutOfService(transport: Pick<ApiTransport, 'request'>, deadlineMs: number): Promise<boolean> {
  return isAtLeast(OUT_OF_SERVICE_SINCE, transport, deadlineMs);
}

/** Has it the taint for good? Metal3 asks for that. */
export function hasStableOutOfService(transport: ApiTransport, deadlineMs: number): Promise<boolean> {
  return isAtLeast(STABLE_SINCE, transport, deadlineMs);
}

async function isAtLeast(
  [wantedMajor, wantedMinor]: readonly [number, number],
  transport: Pick<ApiTransport, 'request'>,
  deadlineMs: number,
): Promise<boolean> {
  const response = await transport.request({ method: 'GET', path: '/version', deadlineMs });
  const { major, minor } = (response.body ?? {}) as { major?: string; minor?: string };
  if (response.status !== 200 || major === undefined || minor === undefined) {
    throw new Error(`the API server does not say its version (HTTP ${response.status}): check the server and the credentials of the kubeconfig`);
  }
  return Number.parseInt(major, 10) > wantedMajor || (Number.parseInt(major, 10) === wantedMajor && Number.parseInt(minor, 10) >= wantedMinor);
}
