import { expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { composeController } from '../../src/manager/compose.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { install } from '../../src/drill/run/installation.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { Site } from '../metal3-remediation/site.ts';

const quiet = (): void => undefined;

it('a controller without any right says once of each kind that it may not read it, and leads when it is given them, without a restart', async () => {
  const clock = new ManualClock({ wallMs: Date.UTC(2027, 0, 1) });
  const site = new Site(clock);
  const lines: string[] = [];
  const say = (message: string, { resource }: Readonly<Record<string, unknown>> = {}): void =>
    void lines.push(typeof resource === 'string' ? `${message} ${resource}` : message);
  const controller = composeController(
    {
      transport: site.controllers,
      clock,
      random: testRandom(),
      registry: standardRegistry(),
      logger: { debug: quiet, info: say, warn: say, error: say },
      metrics: NO_METRICS,
      recorder: { event: quiet },
      planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
      exit: (reason) => say(reason),
    },
    {
      mode: 'enforce',
      ownNode: undefined,
      outOfService: true,
      staleAfterMs: 90_000,
      namespace: NAMESPACE,
      identity: 'a',
      concurrency: 1,
      syncDeadlineMs: 60_000,
    },
  );
  const starting = controller.start();
  await clock.advance(20_000);
  expect(new Set(lines)).toContain('watch failed nodes');
  expect(new Set(lines)).toContain('watch failed nodefences.ha.k8s.io');
  // Of each kind that it may not watch it, and then that it may not list it.
  expect(lines.length).toBeLessThanOrEqual(2 * 13);
  await clock.advance(20_000);
  expect(lines.length).toBeLessThanOrEqual(2 * 13);
  await install({ transport: site.transport, cluster: site.operator });
  await clock.advance(120_000);
  await starting;
  expect(controller.elector.isLeading).toBe(true);
  expect(lines).toContain('watch stands again nodes');
  const stopping = controller.stop(1_000);
  await clock.advance(5_000);
  await stopping;
});
