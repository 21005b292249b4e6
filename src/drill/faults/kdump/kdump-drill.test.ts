import { describe, expect, it } from 'vitest';
import { SILENT } from '../../run/display.ts';
import { runDrill } from '../../run/drill-run.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';

/** The shortest drill with a hold; what sends, what hears and what judges is the same in all four. The others are played by `drill --matrix`. */
describe('the drill of a crash kernel that hangs', () => {
  it('holds the fence while messages come and 20 s more, by real datagrams, and ends as it must', { timeout: 300_000 }, async () => {
    const result = await runDrill({ ...DEFAULT_OPTIONS, fault: 'kdump-hang', seed: 1, json: true }, SILENT, () => Promise.resolve());
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ outcome: 'recovered', expected: true, did: '3 kdump messages were sent' });
    expect(result.laws.P6).toMatchObject({ violations: [] });
    expect(result.timeline.poweredOffAt).toBeGreaterThan(20_000);
  });
});
