import type { ApiTransport } from '../../ports/api-transport.ts';

const DEADLINE_MS = 10_000;
/** A drill that is kept stays for days. */
const VALID_SECONDS = 7 * 86_400;

/** A token of this ServiceAccount by the TokenRequest API, as a kubelet gets one for a pod. */
export async function boundToken(transport: ApiTransport, namespace: string, account: string): Promise<string> {
  const { status, body } = await transport.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: VALID_SECONDS } },
    deadlineMs: DEADLINE_MS,
  });
  const token = (body as { status?: { token?: string } }).status?.token;
  if (status !== 201 || token === undefined) throw new Error(`no token for ServiceAccount ${account}: ${status} ${JSON.stringify(body)}`);
  return token;
}
