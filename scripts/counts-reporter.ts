import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Where the counts go instead of stdout, so that `npm test` can add the checks to them and print one last line. */
export const COUNTS_FILE_VARIABLE = 'NODEFENCE_COUNTS_FILE';

export function countsLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

/** A file that does not load and an error that no test caught count as one failed test each. */
export function countTests(modules: readonly TestModule[], strayErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: strayErrors, skipped: 0 };
  for (const module of modules) {
    const tests = [...module.children.allTests()];
    const states = tests.map((test) => test.result().state);
    counts.passed += states.filter((state) => state === 'passed').length;
    counts.failed += states.filter((state) => state === 'failed' || state === 'pending').length;
    counts.skipped += states.filter((state) => state === 'skipped').length;
    if (module.state() === 'failed' && !states.includes('failed')) counts.failed += 1;
  }
  return counts;
}

/** One line per suite of which tests were skipped, with their number. */
export function skippedLines(fullNames: readonly string[]): string {
  const suites = new Map<string, number>();
  for (const name of fullNames) {
    const suite = name.split(' > ')[0] ?? name;
    suites.set(suite, (suites.get(suite) ?? 0) + 1);
  }
  return [...suites].map(([suite, count]) => `skipped: ${suite}: ${count} test(s)\n`).join('');
}

/** Ends a run with the plain line `N passed, N failed, N skipped`, and names what was skipped. */
export class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const counts = countTests(modules, strayErrors.length);
    process.stdout.write(skippedLines(modules.flatMap((module) => [...module.children.allTests('skipped')].map((test) => test.fullName))));
    const file = process.env[COUNTS_FILE_VARIABLE];
    // The default reporter writes its summary after this hook has run.
    if (file === undefined) process.on('exit', () => process.stdout.write(`${countsLine(counts)}\n`));
    else writeFileSync(file, JSON.stringify(counts));
  }
}
