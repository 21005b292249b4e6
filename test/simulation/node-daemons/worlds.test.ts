import { describe, expect, it } from 'vitest';
import { runSeed } from '../run-seed.ts';
import { withNodeDaemons } from './draws.ts';

const TIMEOUT_MS = 240_000;
const FIRST = 21;
const SEEDS = 10;

describe('a world with node daemons', { timeout: TIMEOUT_MS }, () => {
  it(`breaks no law in ${SEEDS} seeds, and every one has its node daemons`, async () => {
    const failed: unknown[] = [];
    const seen = { silences: 0, resets: 0, releases: 0, spared: 0 };
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const scenario = withNodeDaemons(seed);
      const { violations, checks, resets = 0, releases, ...result } = await runSeed(seed, { scenario });
      if (violations.length > 0) failed.push([seed, result.scenario, ...violations]);
      seen.silences += checks['P11'] ?? 0;
      seen.resets += resets;
      seen.releases += releases;
      seen.spared += scenario.daemons?.deeds.some(({ what }) => what === 'outage') === true && resets === 0 ? 1 : 0;
    }
    expect(failed).toEqual([]);
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
  });

  it('replays exactly: the same trace, line by line', async () => {
    const runs = [[], []] as [string[], string[]];
    for (const lines of runs) await runSeed(25, { scenario: withNodeDaemons(25), onLine: (line) => lines.push(line) });
    expect(runs[0].length).toBeGreaterThan(1_000);
    expect(runs[1]).toEqual(runs[0]);
  });
});
