import { Reflector } from '../kube/reflector.ts';
import type { ReflectorOptions } from '../kube/reflector.ts';
import { Workqueue } from '../kube/workqueue.ts';
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

/** A controller with its queue and its watches, served for as long as its kinds are there and ours. */
export interface ServedPart {
  start(): void;
  /** Looks at everything. */
  wake(): void;
  /** What keeps it from its work, in words. */
  problems(): string[];
  /** Begins nothing more; resolves when nothing is under way. */
  close(): Promise<void>;
  reflectors: readonly Reflector<KubeObject>[];
}

/** Keys worked on at the same time. */
const CONCURRENCY = 16;
const CLOSE_DEADLINE_MS = 5_000;
/** Watches notice within their idle time, pause after pause. */
const TOLD_AGAIN_MS = 300_000;
const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

export function watchBase(
  { transport, clock, random, logger, metrics, recorder }: ControllerPorts,
  { reflector: timings, namespace }: ControllerOptions,
): WatchBase & Required<Pick<WatchBase, 'onWentBack'>> {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const onWentBack = (message: string): void => {
    // Every watch notices one restore; the log has each of them.
    if (clock.monotonicMs() - toldAtMs < TOLD_AGAIN_MS) return;
    toldAtMs = clock.monotonicMs();
    recorder.event({ ...LEASE, metadata: { name: LEADER_LEASE, namespace } }, 'Warning', 'ClusterWentBack', message);
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

export function partQueue(
  { clock, random, logger, metrics }: ControllerPorts,
  name: string,
  handler: (key: string) => Promise<{ afterMs: number } | undefined>,
): Workqueue {
  return new Workqueue({ name, clock, random, logger, metrics: metrics.workqueue, concurrency: CONCURRENCY, handler });
}

export function servedPart(
  controller: { start(): void; wake(): void; close(): void; problems(): string[] },
  queue: Workqueue,
  reflectors: ServedPart['reflectors'],
): ServedPart {
  return {
    reflectors,
    start: () => {
      controller.start();
    },
    wake: () => {
      controller.wake();
    },
    problems: () => controller.problems(),
    close: async () => {
      controller.close();
      await queue.close(CLOSE_DEADLINE_MS);
    },
  };
}
