import { expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { composeController } from '../../src/manager/compose.ts';
import type { ComposedController } from '../../src/manager/compose.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';
import { Way } from '../way.ts';

const quiet = (): void => undefined;
const SYNC_MS = 60_000;

async function servedBehind(): Promise<{ way: Way; clock: ManualClock }> {
  const users = [
    { name: 'operator', groups: ['system:masters'] },
    { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS },
  ];
  const server = new ApiServer({ clock: new SystemClock(), random: new SystemRandom(), users, authorization: 'rbac' });
  const admin = inProcessTransport(server, 'operator');
  await install({ transport: admin, cluster: new ApiClient({ transport: admin }) });
  return { way: new Way(inProcessTransport(server, CONTROLLER_USER)), clock: new ManualClock() };
}

function composed(transport: ApiTransport, clock: ManualClock, lines: string[]): ComposedController {
  return composeController(
    {
      transport,
      clock,
      random: new SystemRandom(),
      registry: standardRegistry(),
      logger: { debug: quiet, info: quiet, warn: quiet, error: (message, { error } = {}) => void lines.push(`${message}: ${String(error)}`) },
      metrics: NO_METRICS,
      recorder: { event: quiet },
      planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
      exit: (reason) => void lines.push(reason),
    },
    {
      mode: 'enforce',
      ownNode: undefined,
      outOfService: true,
      staleAfterMs: 90_000,
      namespace: NAMESPACE,
      identity: 'a',
      concurrency: 1,
      syncDeadlineMs: SYNC_MS,
    },
  );
}

it('a controller that begins while the API server is away for long says so each minute, and leads when it is back', async () => {
  const { way, clock } = await servedBehind();
  const lines: string[] = [];
  way.cut();
  const controller = composed(way.transport, clock, lines);
  let failure: unknown;
  const starting = controller.start().catch((error: unknown) => (failure = error));
  await clock.advance(5.5 * SYNC_MS);
  expect(failure).toBeUndefined();
  expect(lines).toHaveLength(5);
  expect(lines[0]).toMatch(/^this process waits for its first look at the cluster, and does not lead: .*no first list after 60000 ms .*no way there/);
  way.mend();
  await clock.advance(SYNC_MS);
  await starting;
  expect(controller.elector.isLeading).toBe(true);
  const stopping = controller.stop(1_000);
  await clock.advance(30_000);
  await stopping;
});

it('a controller that is stopped while it waits for the API server waits no longer', async () => {
  const { way, clock } = await servedBehind();
  way.cut();
  const controller = composed(way.transport, clock, []);
  let failure: unknown;
  const starting = controller.start().catch((error: unknown) => (failure = error));
  await clock.advance(1.5 * SYNC_MS);
  const stopping = controller.stop(1_000);
  await clock.advance(30_000);
  await Promise.all([stopping, starting]);
  expect(String(failure)).toContain('closed before its first list');
});
