import { describe, expect, it } from 'vitest';
import type { TestModule } from 'vitest/node';
import { countRun, countsLine, countTests, skippedLines, withSecondRun } from './counts-reporter.ts';

function module(states: readonly string[], state = 'passed', moduleId = 'a.test.ts'): TestModule {
  const tests = states.map((each, index) => ({ fullName: `test ${index}`, result: () => ({ state: each }) }));
  return { moduleId, children: { allTests: () => tests }, state: () => state } as unknown as TestModule;
}

describe('the last line', () => {
  it('counts passed, failed and skipped tests of all files', () => {
    const counts = countTests([module(['passed', 'skipped']), module(['passed', 'failed'], 'failed')], 0);
    expect(countsLine(counts)).toBe('2 passed, 1 failed, 1 skipped');
  });

  it('counts a file that does not load, a test that never ended and an error that nobody caught as failed', () => {
    expect(countTests([module([], 'failed'), module(['pending'])], 1)).toEqual({ passed: 0, failed: 3, skipped: 0 });
  });

  it('counts what passed when it ran again alone, and what failed twice', () => {
    const run = countRun([module(['passed', 'passed']), module(['passed', 'failed', 'failed', 'skipped'], 'failed', 'b.test.ts')], 0);
    expect(run.failedFiles).toEqual({ 'b.test.ts': { passed: 1, failed: 2, skipped: 1, tests: ['test 1', 'test 2'] } });
    expect(withSecondRun(run, { passed: 3, failed: 0, skipped: 1 })).toEqual({ passed: 5, failed: 0, skipped: 1 });
    expect(withSecondRun(run, { passed: 2, failed: 1, skipped: 1 })).toEqual({ passed: 4, failed: 1, skipped: 1 });
  });

  it('keeps an error that no test caught as failed, whatever ran again', () => {
    expect(withSecondRun(countRun([module(['failed'], 'failed')], 1), { passed: 1, failed: 0, skipped: 0 }).failed).toBe(1);
  });

  it('is preceded by the suites of which tests were skipped', () => {
    expect(skippedLines(['real server > a', 'real server > b > c', 'alone'])).toBe('skipped: real server: 2 test(s)\nskipped: alone: 1 test(s)\n');
  });
});
