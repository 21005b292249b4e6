import { attestationName } from '../../domain/node-daemon/attestation.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { LEASES } from '../../ports/resources.ts';
import { readAttested } from './attested-nodes.ts';

/** By a consistent read, in words; a daemon says that it may register before it begins, and that it does not any more when all has ended. */
export async function mayRegister(cluster: Pick<Cluster, 'get'>, namespace: string, node: string): Promise<string | undefined> {
  const lease = await cluster.get(LEASES, attestationName(node), namespace);
  const { attestation } = (lease && readAttested(lease)) ?? {};
  if (attestation?.unfence?.state !== 'registering') return undefined;
  return `the daemon of boot ${attestation.bootID} is putting its storage registrations back: that they are gone proves nothing`;
}
