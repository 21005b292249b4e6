import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Lease } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { roleBindingFor } from './failure.ts';

/** A Lease as it stands, or what the caller may not read, in words. */
export interface LeaseReading {
  lease: Lease | undefined;
  /** Absent: it was read. */
  unread?: string;
}

/** Of the own namespace. Nobody who may not read it is told that there is none. */
export async function readLease({ cluster, namespace }: Pick<ClusterAccess, 'cluster' | 'namespace'>, name: string): Promise<LeaseReading> {
  try {
    return { lease: await cluster.get(LEASES, name, namespace) };
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
    return { lease: undefined, unread: unreadLeases(namespace) };
  }
}

/** `Leases of x`, with what gives the right. */
export function unreadLeases(namespace: string): string {
  return `Leases of ${namespace} (ask an administrator: ${roleBindingFor(namespace)})`;
}
