import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../../laws/trace.ts';
import { offProblems } from './kdump-findings.ts';

const WINDOW = { fromMs: 10_000, untilMs: 20_000, because: 'it dumps' };
const set = (node: string, want: 'on' | 'off', at: number): TraceEvent =>
  ({ kind: 'device', at, node, device: 'bmc', plug: '', action: 'set', want }) as unknown as TraceEvent;

describe('the off of a node that dumps', () => {
  it.each<[what: string, trace: TraceEvent[], problems: string[]]>([
    ['in its time', [set('a', 'off', 12_000), set('a', 'on', 15_000)], []],
    ['in mid-dump', [set('a', 'off', 9_000)], ['it was switched off 1000 ms too early: it dumps']],
    ['long after', [set('a', 'off', 21_500)], ['it was switched off 1500 ms too late: it dumps']],
    ['that never came', [], ['it was never switched off']],
    ['and of another node', [set('a', 'off', 12_000), set('b', 'off', 13_000)], ['b was switched too']],
  ])('%s', (_what, trace, problems) => {
    expect(offProblems({ trace }, 'a', WINDOW)).toEqual(problems);
  });
});
