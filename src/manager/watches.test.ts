import { describe, expect, it } from 'vitest';
import { ScriptedTransport } from '../kube/testing/scripted-transport.ts';
import { TransportError } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { testRandom } from '../testbed/apiserver/test-support.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import { watchCluster } from './watches.ts';

const WATCHES = 12;
/** Far fewer than all of them at once. */
const PEAK_MAX = 8;
const AFTER_MS = 15_000;
const OUTAGE_MS = 60_000;
const quiet = (): void => undefined;
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** When the watches of a replica try, in milliseconds since an API server that served them went away. */
async function attemptsInOutage(seed: number): Promise<number[]> {
  const clock = new ManualClock({ monotonicMs: 0 });
  const transport = new ScriptedTransport();
  const attempts: number[] = [];
  const outage: { sinceMs?: number } = {};
  const fail = (): TransportError => {
    attempts.push(clock.monotonicMs() - (outage.sinceMs ?? 0));
    return new TransportError('unreachable', 'refused');
  };
  const broken = {
    request: async (...asked: Parameters<ScriptedTransport['request']>) => {
      if (outage.sinceMs !== undefined) throw fail();
      return transport.request(...asked);
    },
    watch: (...[request, sink]: Parameters<ScriptedTransport['watch']>) => {
      if (outage.sinceMs === undefined) return transport.watch(request, sink);
      const error = fail();
      queueMicrotask(() => sink.onEnd(error));
      return quiet;
    },
  };
  const ports = { transport: broken, clock, random: testRandom(seed), logger: SILENT, metrics: { watch: NO_METRICS.watch } };
  const { reflectors, announced } = watchCluster(ports as unknown as ControllerPorts, { namespace: 'ns' } as ControllerOptions);
  const all = [...reflectors, announced];
  for (const reflector of all) reflector.start();
  await clock.settle();
  for (const watch of transport.watches) watch.open();
  await clock.advance(AFTER_MS);
  outage.sinceMs = clock.monotonicMs();
  expect(transport.watches).toHaveLength(WATCHES);
  for (const watch of transport.watches) watch.end(new TransportError('unreachable', 'reset'));
  await clock.advance(OUTAGE_MS);
  for (const reflector of all) reflector.close();
  return attempts;
}

/** The most within any one second. */
function peakPerSecond(timesMs: readonly number[]): number {
  return Math.max(0, ...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + 1_000).length));
}

describe('the watches of a replica whose API server is gone', () => {
  it.each(Array.from({ length: 40 }, (_none, index) => index + 1))('knock gently after a quarter of a minute, and go on (seed %i)', async (seed) => {
    const calm = (await attemptsInOutage(seed)).filter((at) => at > AFTER_MS);
    expect(calm.length).toBeGreaterThan(WATCHES);
    expect(peakPerSecond(calm)).toBeLessThanOrEqual(PEAK_MAX);
  });
});
