import type { FenceDependencies } from '../controllers/fence/dependencies.ts';
import { LeasePlace } from '../controllers/shared/claims/lease-place.ts';
import { NodeLeases } from '../controllers/shared/claims/node-leases.ts';
import { Reflector } from '../kube/reflector.ts';
import type { Lister } from '../ports/cluster.ts';
import type { Lease } from '../ports/objects.ts';
import { LEASES } from '../ports/resources.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';

/** Node leases with the watch behind them. Nothing waits for that: the namespace need not exist. Where it does and is not ours to read, nothing begins. */
export interface WatchedNodeLeases {
  leases: NodeLeases;
  /** As they are. */
  lister: Lister<Lease>;
  place: LeasePlace;
  start(): void;
  listAnew(): void;
  close(): void;
}

/** `undefined` without `nodeLeaseNamespace`. */
export function watchNodeLeases(
  { transport, clock, random, logger, metrics }: ControllerPorts,
  { nodeLeaseNamespace: namespace, reflector: timings }: ControllerOptions,
  { cluster, listers, leadership, queue }: Pick<FenceDependencies, 'cluster' | 'listers' | 'leadership' | 'queue'>,
): WatchedNodeLeases | undefined {
  if (namespace === undefined) return undefined;
  const base = { transport, clock, random, logger, metrics: metrics.watch, ...(timings === undefined ? {} : { timings }) };
  const watch = new Reflector<Lease>({ ...base, resource: LEASES, namespace });
  const place = new LeasePlace({ cluster, clock, log: logger, namespace });
  // Before, each list would be refused, or of nothing.
  place.onChange((state) => {
    if (state === 'readable') watch.start();
  });
  const { nodes, fences } = listers;
  const wake = (node: string): void => queue.add(node);
  const leases = new NodeLeases({ cluster, clock, log: logger, place, leases: watch.lister, nodes, fences, leadership, namespace, wake });
  return {
    leases,
    lister: watch.lister,
    place,
    start: () => {
      place.start();
      leases.start();
    },
    listAnew: () => {
      watch.listAnew();
    },
    close: () => {
      place.close();
      leases.close();
      watch.close();
    },
  };
}
