import type { ApiTransport } from '../ports/api-transport.ts';

/** The first Kubernetes with the out-of-service taint on by default (KEP-2268). */
const OUT_OF_SERVICE_SINCE = [1, 26] as const;

/** Has this API server the out-of-service taint? Rejects when it does not say its version. */
export async function hasOutOfService(transport: ApiTransport, deadlineMs: number): Promise<boolean> {
  const response = await transport.request({ method: 'GET', path: '/version', deadlineMs });
  const { major, minor } = (response.body ?? {}) as { major?: string; minor?: string };
  if (response.status !== 200 || major === undefined || minor === undefined) {
    throw new Error(`the API server does not say its version (HTTP ${response.status}): check the server and the credentials of the kubeconfig`);
  }
  const [wantedMajor, wantedMinor] = OUT_OF_SERVICE_SINCE;
  return Number.parseInt(major, 10) > wantedMajor || (Number.parseInt(major, 10) === wantedMajor && Number.parseInt(minor, 10) >= wantedMinor);
}
