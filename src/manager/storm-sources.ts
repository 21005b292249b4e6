import type { FenceDependencies } from '../controllers/fence/dependencies.ts';
import { ForeignObjects } from '../controllers/fence/storm/foreign-objects.ts';
import { Predecessor } from '../controllers/fence/storm/predecessor.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { Lease } from '../ports/objects.ts';
import type { ControllerPorts } from './composition.ts';

export interface StormSources {
  /** This process leads from now on. */
  acquired(): void;
  foreignMarks: Pick<ForeignObjects, 'start' | 'close'>;
  given: Pick<FenceDependencies, 'connectivity' | 'foreignMarks' | 'tookOver'>;
}

/** What storm policies know beside the watched nodes and fences. `leader`: the leader's Lease; `identity`: ours on it. */
export function stormSources(ports: ControllerPorts, cluster: Cluster, leader: Lister<Lease>, identity: () => string): StormSources {
  const { clock, logger } = ports;
  const predecessor = new Predecessor(leader, clock, identity);
  const foreignMarks = new ForeignObjects({ cluster, clock, log: logger });
  const connectivity = ports.connectivity?.(cluster);
  return {
    acquired: () => predecessor.acquired(),
    foreignMarks,
    given: {
      ...(connectivity === undefined ? {} : { connectivity }),
      foreignMarks,
      tookOver: () => predecessor.tookOver,
    },
  };
}
