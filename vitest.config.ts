import { defineConfig } from 'vitest/config';
import { CountsReporter } from './scripts/counts-reporter.ts';
import LongestFirst from './scripts/longest-first.ts';
import { TimesReporter } from './scripts/times-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['src/**/*.test.ts', 'agents/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    pool: 'forks',
    // Most of the long ones wait in real time, for processes or devices.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A test that asserts nothing can not fail.
    expect: { requireAssertions: true },
    runner: './scripts/assertion-runner.ts',
    reporters: ['default', new CountsReporter(), new TimesReporter()],
  },
});
