import { describe, expect, it } from 'vitest';
import { driftOf, soakWords } from './soak-figures.ts';
import type { Sample } from './soak-figures.ts';

const NODES = 1_000;
const BEFORE = { rssMb: 120, heapMb: 40 };

/** One for each 50 failures: until each node has failed once, and 2,000 more. `mbAfter`: megabytes after so many failures. */
function sampled(mbAfter: (fences: number) => number): Sample[] {
  return Array.from({ length: 60 }, (_unused, index) => {
    const fences = (index + 1) * 50;
    return { fences, underWay: 20, use: { rssMb: 120 + 2 * mbAfter(fences), heapMb: 40 + mbAfter(fences) } };
  });
}

describe('a soak', () => {
  it('is compared once each node has failed: what they filled until then is no drift, and is told', () => {
    const { rssMb, heapMb, underWay, filled } = driftOf(
      NODES,
      BEFORE,
      sampled((fences) => Math.min(fences, NODES) / 100),
    );
    expect([rssMb.driftPercent, heapMb.driftPercent]).toEqual([0, 0]);
    expect(underWay).toEqual({ early: 20, late: 20 });
    expect(filled).toEqual({ fences: NODES, rssMb: { before: 120, after: 140 }, heapMb: { before: 40, after: 50 } });
  });

  it('drifts by what goes on to be held of each fence', () => {
    const { heapMb } = driftOf(
      NODES,
      BEFORE,
      sampled((fences) => fences / 100),
    );
    expect(heapMb).toEqual({ early: 52.75, late: 67.75, driftPercent: 28.44 });
  });

  it('says what was filled before the minutes that it compares', () => {
    const figures = driftOf(
      NODES,
      BEFORE,
      sampled(() => 1),
    );
    const words = soakWords({
      ...figures,
      nodes: NODES,
      minutes: 60,
      speed: 10,
      fences: 3_000,
      finished: 3_000,
      handlesBefore: {},
      handlesAfter: {},
    });
    expect(words).toContain('before that each node failed once (1000), which fills what is bounded');
    expect(words).toContain('resident 120 → 122 MB, live heap 40 → 41 MB');
  });
});
