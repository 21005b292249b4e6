import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import { microTimestamp } from '../../src/ports/clock.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { LEASES } from '../../src/ports/resources.ts';
import type { World } from './world.ts';

const DEADLINE_MS = 10_000;

const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/medik8s-leases/roles/nodefence-node-leases';

/** medik8s is installed: its namespace is there and, unless told otherwise, `kubectl apply -k config/medik8s` was run. `read`: and the role cut down to that. */
export async function installMedik8s({ transport }: Pick<World, 'transport'>, rights: 'all' | 'read' | 'none' = 'all'): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: MEDIK8S_LEASE_NAMESPACE } };
  const { status } = await transport.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace, deadlineMs: DEADLINE_MS });
  if (status >= 300) throw new Error(`the namespace ${MEDIK8S_LEASE_NAMESPACE} was refused: ${status}`);
  if (rights === 'none') return;
  await sendShipped(transport, ['medik8s']);
  if (rights === 'all') return;
  const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'watch'] }];
  const request = { method: 'PATCH' as const, path: ROLES, body: { rules }, contentType: 'application/merge-patch+json', deadlineMs: DEADLINE_MS };
  const narrowed = await transport.request(request);
  if (narrowed.status !== 200) throw new Error(`the role was not narrowed: ${narrowed.status}`);
}

/** The node is in the hands of somebody for so long. */
export async function leaseOut(
  { cluster, clock }: Pick<World, 'cluster' | 'clock'>,
  node: string,
  seconds: number,
  holderIdentity = 'node-maintenance',
): Promise<void> {
  const now = microTimestamp(clock);
  const spec = { holderIdentity, leaseDurationSeconds: seconds, acquireTime: now, renewTime: now, leaseTransitions: 3 };
  await cluster.create(LEASES, { metadata: { name: `node-${node}`, namespace: MEDIK8S_LEASE_NAMESPACE }, spec });
}

export function nodeLease({ cluster }: Pick<World, 'cluster'>, node: string): Promise<Lease | undefined> {
  return cluster.get(LEASES, `node-${node}`, MEDIK8S_LEASE_NAMESPACE);
}
