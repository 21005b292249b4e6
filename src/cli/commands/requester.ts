import { hostname, userInfo } from 'node:os';
import type { ClusterAccess } from '../cluster-access.ts';

const DEADLINE_MS = 5_000;
const TEXT_MAX = 200;

/** Who asks, for the record: as the API server knows him (Kubernetes 1.27), else the account on this machine. Never rejects. */
export async function requesterOf({ transport }: Pick<ClusterAccess, 'transport'>): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const asked = transport.request({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body, deadlineMs: DEADLINE_MS });
  const known = await asked.then(
    (response) => (response.status < 300 ? nameIn(response.body) : undefined),
    () => undefined,
  );
  return (known ?? `${localAccount()}@${hostname()}`).slice(0, TEXT_MAX);
}

function nameIn(body: unknown): string | undefined {
  const name = (body as { status?: { userInfo?: { username?: unknown } } } | undefined)?.status?.userInfo?.username;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** A container may run as an account that has no name. */
function localAccount(): string {
  try {
    return userInfo().username;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'somebody';
    throw error;
  }
}
