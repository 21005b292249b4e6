import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';
import type { Fault, Question } from './questions.ts';

export interface OtherInstallationOptions {
  cluster: Pick<Cluster, 'list'>;
  clock: Clock;
  /** Of our own Lease. */
  namespace: string;
  leaseName: string;
  /** Does this holder switch anything? One that only observes is in nobody's way. */
  acts: (lease: Lease) => boolean;
}

/** A live holder renews every two seconds, and has lost its Lease after fifteen without. */
const WATCHED_MS = 15_000;
const POLL_MS = 2_500;

/**
 * Whether another installation, in another namespace, fences the nodes of this cluster too. Only a Lease that is renewed while we watch tells of one: what an
 * installation left behind that is gone does not. Of two, the one whose Lease is younger, or not there yet, is the second.
 */
export function otherInstallation({ cluster, clock, namespace, leaseName, acts }: OtherInstallationOptions): Question {
  const name = 'whether another installation acts in this cluster';
  const leases = (): Promise<Lease[]> => leadersLeases(cluster, leaseName);
  return {
    name,
    ask: async () => {
      const others = firstOnes(await leases(), namespace, acts);
      for (let waitedMs = 0; others.length > 0 && waitedMs < WATCHED_MS; waitedMs += POLL_MS) {
        await clock.sleep(POLL_MS);
        const now = await leases();
        const live = others.find((other) => now.some((lease) => isRenewed(other, lease)));
        if (live !== undefined) return [secondBeside(live)];
      }
      return [];
    },
  };
}

/** The same at one look, for whoever may not wait: `isLive` tells by the Lease alone whether its holder is alive. */
export async function otherInstallationNow(
  { cluster, namespace, leaseName, acts }: Omit<OtherInstallationOptions, 'clock'>,
  isLive: (lease: Lease) => boolean,
): Promise<Fault[]> {
  const live = firstOnes(await leadersLeases(cluster, leaseName), namespace, acts).find(isLive);
  return live === undefined ? [] : [secondBeside(live)];
}

async function leadersLeases(cluster: Pick<Cluster, 'list'>, leaseName: string): Promise<Lease[]> {
  const found = await cluster.list(LEASES, { fieldSelector: `metadata.name=${leaseName}` });
  return found.filter(({ metadata }) => metadata.name === leaseName);
}

/** Leases of others that act and came first. */
function firstOnes(leases: readonly Lease[], namespace: string, acts: (lease: Lease) => boolean): Lease[] {
  const own = leases.find(({ metadata }) => metadata.namespace === namespace);
  return leases.filter((lease) => isOther(lease, namespace) && acts(lease) && isOlder(lease, own));
}

function secondBeside({ metadata: { namespace = '' }, spec }: Lease): Fault {
  const message = `another installation, in namespace ${namespace}, fences the nodes of this cluster (its leader is ${spec.holderIdentity ?? ''})`;
  return { part: 'installation', message, remedy: `kubectl -n ${namespace} delete deployment nodefence-controller, or remove this one` };
}

function isOther({ metadata, spec }: Lease, namespace: string): boolean {
  return metadata.namespace !== namespace && (spec.holderIdentity ?? '') !== '';
}

/** By the API server's own time of creation; equal ones by their names, so that both say the same. */
function isOlder(other: Lease, own: Lease | undefined): boolean {
  if (own === undefined) return true;
  const key = ({ metadata }: Lease): string => `${metadata.creationTimestamp ?? ''} ${metadata.namespace ?? ''}`;
  return key(other) < key(own);
}

function isRenewed(before: Lease, now: Lease): boolean {
  return now.metadata.uid === before.metadata.uid && (now.spec.holderIdentity ?? '') !== '' && now.spec.renewTime !== before.spec.renewTime;
}
