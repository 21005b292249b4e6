import { describe, expect, it } from 'vitest';
import { scenarioOf } from '../draws.ts';
import { lawfulSeeds } from '../lawful-seeds.ts';
import { scenarioWith } from '../secondary-controllers/draws.ts';
import { believable, DUMPS_SHARE, withDumps } from './draws.ts';
import type { DumpDeed, Forged } from './dumps.ts';

const TIMEOUT_MS = 240_000;
const FIRST = 11;
const SEEDS = 6;

describe('a world with crash kernels', { timeout: TIMEOUT_MS }, () => {
  it(`breaks no law in ${SEEDS} seeds, and P6 has something to say in most`, async () => {
    const { failed, judged } = await lawfulSeeds('dumps', { first: FIRST, seeds: SEEDS, law: 'P6' });
    expect(failed).toEqual([]);
    expect(judged).toBeGreaterThan(SEEDS / 2);
  });

  it('is played by a share of the seeds, and every other seed plays what it played before', () => {
    const seeds = Array.from({ length: 600 }, (_, index) => index + 1);
    const played = seeds.filter((seed) => scenarioWith(seed, 'all').dumps !== undefined);
    expect(played.length / seeds.length).toBeGreaterThan(DUMPS_SHARE / 2);
    expect(played.length / seeds.length).toBeLessThan(DUMPS_SHARE * 2);
    const others = seeds.filter((seed) => !played.includes(seed)).map(scenarioOf);
    expect(others.map((scenario) => withDumps(scenario, DUMPS_SHARE))).toEqual(others);
  });

  it.each([
    ['sound', 'panic', [{ what: 'fail', node: 'b', fault: 'hang' }], false],
    ['sound', 'panic', [{ what: 'switch', nodes: ['b', 'c'] }], false],
    ['everyone', 'panic', [{ what: 'fail', node: 'c', fault: 'partition' }], false],
    ['victim', 'hang', [], false],
    ['sound', 'hang', [{ what: 'fail', node: 'c', fault: 'hang' }], true],
    ['sound', 'panic', [{ what: 'fail', node: 'b', fault: 'panic' }], true],
    ['stranger', 'hang', [], true],
  ] as const)('has forged messages of %s, where the first node has a %s beside %j, well formed: %s', (whose, fault, others, isWellFormed) => {
    const forged = { what: 'forge', whose: whose satisfies Forged, everyMs: 1_000, isWellFormed: true, atMs: 0, durationMs: 1 } as const;
    const [story] = [11, 12, 13, 14].flatMap((seed) => scenarioWith(seed, 'dumps').dumps ?? []);
    if (story === undefined) throw new Error('no world with crash kernels');
    const disturbances = others.map((one) => ({ ...one, atMs: 0, durationMs: 1 }));
    const world = { nodes: ['a', 'b', 'c'], victim: 'a', fault, disturbances };
    const deeds: readonly DumpDeed[] = [forged];
    expect(believable({ ...story, evidence: 'admitted', deeds }, world).deeds).toEqual([{ ...forged, isWellFormed }]);
    expect(believable({ ...story, evidence: 'refused', deeds }, world).deeds).toEqual(deeds);
  });
});
