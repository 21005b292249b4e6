import { PreservationController } from '../../controllers/preservation/controller.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { ApiClient } from '../../kube/client.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { ConfigMap, Lease } from '../../ports/objects.ts';
import type { ProofReader } from '../../ports/proof-reads.ts';
import { LEADER_LEASE } from '../composition.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { configuredPools, POOLS_CONFIG } from './configured-pools.ts';
import { rightsOf } from '../self-check/installed.ts';
import { watchMachines } from './machine-side.ts';
import { GatedPreservation } from './gated-preservation.ts';

export interface PreservationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'fences' | 'leases' | 'pods'>;
  configMaps: Lister<ConfigMap>;
  /** The leader's Lease alone. */
  leader: Lister<Lease>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  proofReader: ProofReader;
  /** These words, and no others, stand for this topic in `nodefence status`. */
  say: (topic: string, words: readonly string[]) => void;
}

/** Preservation over the watches that there are; `undefined` when it is switched off. */
export function setUpPreservation(
  { transport, clock, random, logger, metrics, recorder, machines: elsewhere }: ControllerPorts,
  { preservation: choice = 'off', namespace, machinesNamespace, mode, reflector: timings, detectionRestMs }: ControllerOptions,
  { cluster, listers, configMaps, leader, leadership, proofReader, say }: PreservationSources,
): GatedPreservation | undefined {
  if (choice === 'off') return undefined;
  const machines = {
    transport: elsewhere?.transport ?? transport,
    cluster: elsewhere === undefined ? cluster : new ApiClient({ transport: elsewhere.transport, isForeign: true }),
    recorder: elsewhere?.recorder ?? recorder,
    namespace: machinesNamespace,
  };
  const { nodes, fences, leases, pods } = listers;
  const pools = configuredPools(configMaps, namespace);
  const preservation = new GatedPreservation({
    choice,
    detection: { ...(detectionRestMs !== undefined && { detectionRestMs }) },
    enforce: mode === 'enforce',
    machines,
    base: {
      clock,
      nodes: { cluster, recorder, listers: { nodes, fences, leases, pods } },
      pools,
      leadership,
      proofReader,
      tellProblems: (problems) => say('preservation', problems),
      log: logger,
      metrics: metrics.preservation,
      mend: rightsOf(choice === 'own' ? 'preservation-own' : 'preservation-observe', namespace),
    },
    watchMachines: () => watchMachines(machines, { clock, random, logger, metrics: metrics.watch }, timings),
    controllerOf: (dependencies) => new PreservationController(dependencies),
    about: () => leader.get(`${namespace}/${LEADER_LEASE}`),
  });
  configMaps.onChange((before, after) => {
    if ((after ?? before)?.metadata.name === POOLS_CONFIG) preservation.wake();
  });
  return preservation;
}
