import { describe, expect, it } from 'vitest';
import { testsOf } from './changed-tests.ts';

const RULES = ['scripts/generated-files.test.ts', 'test/rules/glossary.test.ts', 'test/rules/page-links.test.ts', 'test/rules/sources.test.ts'];

/** Path → what it imports. */
const IMPORTS: Record<string, string[]> = {
  'src/domain/plan.ts': [],
  'src/domain/plan.test.ts': ['./plan.ts'],
  'src/controllers/node-remediation/decide.ts': ['../../domain/plan.ts'],
  'src/controllers/node-remediation/controller.ts': ['./decide.ts'],
  'src/controllers/fence/runs.ts': ['../../domain/plan.ts'],
  'src/controllers/fence/runs.test.ts': ['./runs.ts'],
  'src/manager/compose.ts': ['../controllers/node-remediation/controller.ts', '../controllers/fence/runs.ts'],
  'src/manager/gate.test.ts': ['./compose.ts'],
  'src/manager/pool.test.ts': [],
  'test/node-remediation/world.ts': ['../../src/controllers/node-remediation/controller.ts'],
  'test/node-remediation/crash.test.ts': ['./world.ts'],
  'test/node-remediation/composed.test.ts': ['../../src/manager/compose.ts'],
  'test/scenarios/storm.test.ts': ['../../src/manager/compose.ts'],
  'test/rules/lint-rules.test.ts': [],
};
const SOURCES = new Map([
  ...Object.entries(IMPORTS).map(([file, imports]) => [file, imports.map((path) => `import { x } from '${path}';\n`).join('')] as const),
  ...RULES.map((file) => [file, ''] as const),
  ['test/installation/page.test.ts', "readFileSync('systemd/README.md')"] as const,
  ['test/scenarios/transcripts.test.ts', "files.filter((file) => file.endsWith('.txt'))"] as const,
]);

function touched(...changed: string[]): string[] {
  return testsOf(changed, SOURCES).tests.filter((file) => !RULES.includes(file));
}

describe('the tests of a change', () => {
  it('of one controller are those that import it and those of its folder, and not what is reached through the composition', () => {
    const { tests, leftOut } = testsOf(['src/controllers/node-remediation/decide.ts'], SOURCES);
    expect(tests).toEqual([...RULES, 'test/node-remediation/composed.test.ts', 'test/node-remediation/crash.test.ts'].toSorted());
    expect(leftOut).toEqual({ tests: 2, through: ['src/manager/compose.ts'] });
  });

  it('of the domain are those of every controller that stands on it', () => {
    expect(touched('src/domain/plan.ts')).toEqual([
      'src/controllers/fence/runs.test.ts',
      'src/domain/plan.test.ts',
      'test/node-remediation/crash.test.ts',
    ]);
  });

  it('of the composition are those that import it, and those beside it', () => {
    expect(touched('src/manager/compose.ts')).toEqual([
      'src/manager/gate.test.ts',
      'src/manager/pool.test.ts',
      'test/node-remediation/composed.test.ts',
      'test/scenarios/storm.test.ts',
    ]);
  });

  it('are those that name a page, or read all files like it in their folder', () => {
    expect(touched('systemd/README.md')).toEqual(['test/installation/page.test.ts']);
    expect(touched('test/scenarios/storm.txt')).toEqual(['test/scenarios/transcripts.test.ts']);
  });

  it('hold a changed test itself, and rules are broken on purpose only where the rules have changed', () => {
    expect(touched('test/scenarios/storm.test.ts')).toContain('test/scenarios/storm.test.ts');
    expect(touched('oxlint.config.ts')).toEqual(['test/rules/lint-rules.test.ts']);
    expect(touched('src/manager/pool.test.ts')).not.toContain('test/rules/lint-rules.test.ts');
  });

  it('without a change are the rules over the whole repository', () => {
    expect(testsOf([], SOURCES)).toEqual({ tests: RULES.toSorted(), leftOut: { tests: 0, through: [] } });
  });
});
