import { describe, expect, it } from 'vitest';
import { cpuMsSoFar, timesTable } from './times-reporter.ts';

describe('the table of times', () => {
  it('has the longest and the costliest files first and the sum of all, also of those that it does not name', () => {
    const short = Array.from({ length: 40 }, (_, index) => ({ file: `short-${index}.test.ts`, wallMs: 100, cpuMs: 50 }));
    const long = { file: 'long.test.ts', wallMs: 61_250, cpuMs: 20 };
    const costly = { file: 'costly.test.ts', wallMs: 50, cpuMs: 400 };
    const lines = timesTable([...short, long, costly]).split('\n');
    expect(lines.slice(0, 2)).toEqual(['  wall s    CPU s  file, by wall time', '    61.3      0.0  long.test.ts']);
    expect(lines.slice(26, 28)).toEqual(['  wall s    CPU s  file, by CPU time', '     0.1      0.4  costly.test.ts']);
    expect(lines.filter((line) => line.includes('short-'))).toHaveLength(48);
    expect(lines.at(-2)).toBe('    65.3      2.4  42 files together');
  });

  it('counts what this process has worked', () => {
    const before = cpuMsSoFar();
    const until = performance.now() + 50;
    while (performance.now() < until) Math.sqrt(until);
    expect(cpuMsSoFar()).toBeGreaterThan(before);
  });
});
