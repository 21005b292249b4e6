import { defineConfig } from 'vitest/config';
import { CountsReporter } from './scripts/counts-reporter.ts';
import LongestFirst from './scripts/longest-first.ts';
import { TimesReporter } from './scripts/times-reporter.ts';

const ALL = ['src/**/*.test.ts', 'agents/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'];
/** Tests that live in memory: they start no program, and leave nothing behind in their process. */
const IN_MEMORY = [
  'src/{config,controllers,dispatch,domain,laws,manager,manifests,ports,telemetry}/**/*.test.ts',
  'test/{baremetal-host,machine-health-check,machine-remediation,metal3-remediation,node-remediation,ownership,preservation}/**/*.test.ts',
];
/** They start programs that compute, or build, in processes of their own. */
const COMPUTING = [
  'test/{fresh,mutants,package,rules}/**/*.test.ts',
  'test/simulation/{simulation,workers}.test.ts',
  'test/installation/image.test.ts',
];
/** Whole worlds and searches in memory: what one has loaded and warmed up serves the next. */
const WORLDS = ['test/{laws,simulation}/**/*.test.ts'];
/** They look at their own process, or say how many of their tests run at once: Vitest asks that once in a process. */
const ALONE = ['test/{fault-matrix,fuzz}/**/*.test.ts', 'scripts/assertion-runner.test.ts'];
/** Whole installations in real time. */
const SCENARIOS = ['test/scenarios/**/*.test.ts'];
const POLITE = ['./scripts/polite.ts'];
/** For what worlds make that does not live long. */
const ROOM = ['--max-semi-space-size=64'];

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    // The long ones wait in real time, for processes or devices, and use a tenth of a core each; what computes is polite to them.
    maxWorkers: 7,
    sequence: { sequencer: LongestFirst },
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A test that asserts nothing can not fail.
    expect: { requireAssertions: true },
    runner: './scripts/assertion-runner.ts',
    reporters: ['default', new CountsReporter(), new TimesReporter()],
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      { extends: true, test: { name: 'computing', include: COMPUTING, setupFiles: POLITE } },
      // All others start programs or serve devices, and close them. A process for each file takes half a second of a core, longer than most of these.
      {
        extends: true,
        test: { name: 'programs', include: ALL, exclude: [...IN_MEMORY, ...COMPUTING, ...WORLDS, ...ALONE, ...SCENARIOS], isolate: false },
      },
      // A scenario mostly waits: many of them share the processor well.
      { extends: true, test: { name: 'scenarios', include: SCENARIOS, maxConcurrency: 20, isolate: false } },
      { extends: true, test: { name: 'worlds', include: WORLDS, exclude: COMPUTING, setupFiles: POLITE, isolate: false, execArgv: ROOM } },
      { extends: true, test: { name: 'in memory', include: IN_MEMORY, setupFiles: POLITE, isolate: false } },
    ],
  },
});
