import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Audience } from '../run/drill-run.ts';
import { runDrill } from '../run/drill-run.ts';
import { DEFAULT_OPTIONS, seeded, SHORT_SETTINGS } from '../run/options.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples', import.meta.url));
/** The sample says nothing of its BMCs' latency, so they may take their time. */
const SHORT = { ...SHORT_SETTINGS, power_timeout: '30s' };
/** The first seed whose victim is the node of the group: the third of three. */
const SEED_OF_GROUP = Array.from({ length: 100 }, (_unused, seed) => seed).find((seed) => {
  const random = seeded(seed);
  random();
  return random() > 0.67;
});

describe("the drill with the sample configuration and the drill's own short delays", () => {
  it('fences a node of the group, whose BMC it plays, and judges it', { timeout: 300_000 }, async () => {
    const told: string[] = [];
    const nothing = (): void => undefined;
    const audience: Audience = { says: (line) => told.push(line), opens: nothing, breaks: nothing, tells: nothing, closes: nothing };
    const result = await runDrill(
      { ...DEFAULT_OPTIONS, fault: 'panic', seed: SEED_OF_GROUP ?? 0, json: true, config: SAMPLES, settings: SHORT },
      audience,
      () => Promise.resolve(),
    );
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ node: 'worker-1', nodes: 3, outcome: 'recovered', expected: true });
    expect(result.laws.P9).toMatchObject({ violations: [] });
    expect(told).toContainEqual(
      expect.stringMatching(/^worker-1: worker-1\.bmc\.example\.com:443 is played at 127\.0\.0\.1:\d+; address, port and trust/),
    );
  });
});
