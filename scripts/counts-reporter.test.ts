import { describe, expect, it } from 'vitest';
import type { TestModule } from 'vitest/node';
import { countsLine, countTests, skippedLines } from './counts-reporter.ts';

function module(states: readonly string[], state = 'passed'): TestModule {
  const tests = states.map((each) => ({ result: () => ({ state: each }) }));
  return { children: { allTests: () => tests }, state: () => state } as unknown as TestModule;
}

describe('the last line', () => {
  it('counts passed, failed and skipped tests of all files', () => {
    const counts = countTests([module(['passed', 'skipped']), module(['passed', 'failed'], 'failed')], 0);
    expect(countsLine(counts)).toBe('2 passed, 1 failed, 1 skipped');
  });

  it('counts a file that does not load, a test that never ended and an error that nobody caught as failed', () => {
    expect(countTests([module([], 'failed'), module(['pending'])], 1)).toEqual({ passed: 0, failed: 3, skipped: 0 });
  });

  it('is preceded by the suites of which tests were skipped', () => {
    expect(skippedLines(['real server > a', 'real server > b > c', 'alone'])).toBe('skipped: real server: 2 test(s)\nskipped: alone: 1 test(s)\n');
  });
});
