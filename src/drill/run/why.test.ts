import { describe, expect, it } from 'vitest';
import type { DrillResult } from './result.ts';
import { summaryOf } from './summary.ts';
import { whyLine } from './why.ts';

const result = {
  laws: {},
  timeline: {},
  devices: [],
  writers: { overlaps: 0 },
  rights: { requests: 1, refused: [] },
  planted: { secrets: 1, writes: 1, texts: 1, processes: 1, found: 0 },
  leaders: [],
  api: {},
  controller: { rssMb: 1, cpuMs: 1 },
  outcome: 'failed',
  message: '',
  problems: [],
  node: 'node-1',
} as unknown as DrillResult;

describe('the last line of a drill', () => {
  it.each([
    ['one', 'the drill failed: one'],
    ['first:\n  at x\n\nlast', 'the drill failed: first: … last'],
    ['', 'the drill failed: nothing is known'],
  ])('that could not be played names what failed and what it said last: %j', (message, line) => {
    expect(whyLine(new Error(message))).toBe(line);
  });

  it('that did not go as it must names the first problem and how many more', () => {
    const last = (problems: string[], isKept = false): string | undefined =>
      summaryOf({ ...result, expected: problems.length === 0, problems }, isKept)
        .trimEnd()
        .split('\n')
        .at(-1);
    expect(last(['P1 was broken', 'late'])).toBe('failed: P1 was broken; and 1 more, above');
    expect(last(['late'])).toBe('failed: late');
    expect(last([], true)).toBe('  kubectl get nodefence node-fence-node-1 -o yaml');
    expect(last([])).toMatch(/this cluster ends now; --keep/u);
  });
});
