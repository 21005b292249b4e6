import { describe, expect, it } from 'vitest';
import { judge, violationsOf } from './judge.ts';
import { LAW_NAMES } from './law.ts';
import { goodTrace, without } from './sample-trace.ts';

describe('the judge', () => {
  it('puts every law to the test on a whole fence and finds nothing', () => {
    const judgement = judge(goodTrace(), { secrets: ['hunter2'] });
    expect(violationsOf(judgement)).toEqual([]);
    // No watchdog is waited for in it.
    for (const name of LAW_NAMES.filter((law) => law !== 'P11')) expect(judgement.laws[name].checks, name).toBeGreaterThan(0);
  });

  it('does not mind the order in which the processes wrote their files', () => {
    expect(violationsOf(judge(goodTrace().reverse()))).toEqual([]);
  });

  it('names law, time and deed', () => {
    const judgement = judge(without((event) => event.kind === 'power' && event.state === 'off'));
    expect(violationsOf(judgement)).toContainEqual(
      'P1 at 14500: the out-of-service taint was set on a, but a was not powered off from its proof until then',
    );
  });

  it('finds an empty trace lawful and untested', () => {
    expect(judge([]).laws.P1).toEqual({ checks: 0, violations: [] });
  });
});
