import { standardRegistry } from '../../agents/registry.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { composeController } from '../../src/manager/compose.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';

const quiet = (): void => undefined;
const STOP_MS = 5_000;

/** A controller in this process, on whichever server. */
export interface Running {
  /** `reason: message` of what it told by Events. */
  readonly events: readonly string[];
  readonly isLeading: boolean;
  stop(): Promise<void>;
}

export function lead(transport: ApiTransport, { identity = 'a', clock = new SystemClock() }: { identity?: string; clock?: Clock } = {}): Running {
  const events: string[] = [];
  const controller = composeController(
    {
      transport,
      clock,
      random: new SystemRandom(),
      registry: standardRegistry(),
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      metrics: NO_METRICS,
      recorder: { event: (_about, _type, reason, message) => void events.push(`${reason}: ${message}`) },
      planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
      exit: quiet,
    },
    {
      mode: 'enforce',
      ownNode: undefined,
      outOfService: true,
      staleAfterMs: 90_000,
      namespace: NAMESPACE,
      identity,
      concurrency: 1,
      syncDeadlineMs: 10_000,
    },
  );
  void controller.start().catch(quiet);
  return {
    events,
    get isLeading() {
      return controller.elector.isLeading;
    },
    stop: () => controller.stop(STOP_MS).then(quiet),
  };
}

export function clusterOf(transport: ApiTransport): Cluster {
  return new ApiClient({ transport });
}
