import type { Clock } from '../../ports/clock.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { PreservationCache } from './cache.ts';
import type { PreservationOptions } from './dependencies.ts';
import type { Pool } from './changes.ts';
import type { DrainFacts, Snapshot } from './snapshot.ts';
import type { WatchedFacts } from './watched-facts.ts';

export interface Circumstances {
  options: Pick<PreservationOptions, 'mode' | 'hasExpiryField' | 'spelling' | 'requestsWhenFailed'>;
  clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  /** By the uid of the Node. */
  drainOf: (uid: string) => DrainFacts | undefined;
}

/** All that is decided from about one pool. */
export function observe(cache: PreservationCache, { members, settings }: Pool, { options, clock, drainOf }: Circumstances): Snapshot {
  const { mode, hasExpiryField, spelling, requestsWhenFailed } = options;
  const { Machine, MachineSet, MachineDeployment } = cache.kinds;
  const nowMs = clock.wallMs();
  const { nodesResumedAtMs } = cache;
  return withoutUnlisted(cache, {
    mode,
    hasExpiryField,
    spelling,
    requestsWhenFailed,
    nowMs,
    ...(nodesResumedAtMs !== undefined && { freshSinceMs: nowMs - (clock.monotonicMs() - nodesResumedAtMs) }),
    machines: factsOf(Machine, members.Machine).map((facts) => cache.withSight(facts)),
    nodes: members.Node.map((key) => cache.seenNode(key, drainOf)).filter((facts) => facts !== undefined),
    machineSets: factsOf(MachineSet, members.MachineSet),
    machineDeployments: factsOf(MachineDeployment, members.MachineDeployment),
    pools: settings,
  });
}

/** Until all is listed only that counts which the Nodes show of themselves, and what is said on the Machines as soon as those are listed. */
function withoutUnlisted({ listed }: PreservationCache, snapshot: Snapshot): Snapshot {
  if (listed === 'all') return snapshot;
  const watching: Snapshot = { ...snapshot, mode: 'observe', requestsWhenFailed: false, pools: new Map() };
  return listed === 'machines' ? watching : { ...watching, hasExpiryField: true, machines: [], machineSets: [], machineDeployments: [] };
}

function factsOf<T extends KubeObject, F>(watched: WatchedFacts<T, F> | undefined, keys: readonly string[]): F[] {
  return keys.map((key) => watched?.get(key)?.facts).filter((facts) => facts !== undefined);
}
