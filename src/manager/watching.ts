import { Reflector } from '../kube/reflector.ts';
import type { ReflectorOptions } from '../kube/reflector.ts';
import type { Lister, Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import { LEADER_LEASE } from './composition.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';

/** What every reflector on one API server is made of. */
export type WatchBase = Pick<ReflectorOptions<KubeObject>, 'transport' | 'clock' | 'random' | 'logger' | 'metrics' | 'timings' | 'onWentBack'>;

/** Reflectors that stand or go together; none is started yet. */
export interface Watching {
  watch: <T extends KubeObject>(resource: Resource<T>, more?: Partial<ReflectorOptions<T>>) => Lister<T>;
  /** One for every kind that `watch` was asked for. */
  reflectors: readonly Reflector<KubeObject>[];
}

/** Watches notice within their idle time, pause after pause. */
const REPORTED_AGAIN_MS = 300_000;
const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

export function watchBase(
  { transport, clock, random, logger, metrics, recorder }: ControllerPorts,
  { reflector: timings, namespace }: ControllerOptions,
): WatchBase & Required<Pick<WatchBase, 'onWentBack'>> {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  const onWentBack = (message: string): void => {
    // Every watch notices one restore; the log has each of them.
    if (clock.monotonicMs() - reportedAtMs < REPORTED_AGAIN_MS) return;
    reportedAtMs = clock.monotonicMs();
    recorder.event({ ...LEASE, metadata: { name: LEADER_LEASE, namespace } }, 'Warning', 'OlderStateDetected', message);
  };
  return { transport, clock, random, logger, metrics: metrics.watch, onWentBack, ...(timings !== undefined && { timings }) };
}

export function watching(base: WatchBase): Watching {
  const reflectors: Reflector<KubeObject>[] = [];
  return {
    reflectors,
    watch: (resource, more = {}) => {
      const reflector = new Reflector({ ...base, resource, ...more });
      reflectors.push(reflector as unknown as Reflector<KubeObject>);
      return reflector.lister;
    },
  };
}
