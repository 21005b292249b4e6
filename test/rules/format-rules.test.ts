import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PlantedTree, ROOT } from './planted-tree.ts';

const TYPES_AND_LINT = [
  'types-and-lint.ts',
  'clean-files.ts',
  'private-rule.mjs',
  'simulation-rules.mjs',
  'simulation-rules.d.mts',
  'shipped-rules.mjs',
  'test-rules.mjs',
].map((file) => `scripts/${file}`);

function run(tree: PlantedTree, script: string, parameters: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'node_modules', script), ...parameters], {
    cwd: tree.root,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

describe('the other checks', () => {
  it('prettier refuses a file that is formatted otherwise', () => {
    using tree = new PlantedTree({ 'good.ts': "export const a = 'x';\n", 'bad.ts': 'export const a = "x"\n' });
    copyFileSync(join(ROOT, '.prettierrc.json'), join(tree.root, '.prettierrc.json'));
    const { status, output } = run(tree, 'prettier/bin/prettier.cjs', ['--check', 'good.ts', 'bad.ts']);
    expect(status).toBe(1);
    expect(output).toContain('bad.ts');
    expect(output).not.toContain('good.ts');
  });

  it('knip refuses a file and an export that nothing uses', () => {
    using tree = new PlantedTree({
      'package.json': JSON.stringify({ name: 'planted', type: 'module' }),
      'src/main.ts': "import { used } from './noun.ts';\nused();\n",
      'src/noun.ts': 'export function used(): void {}\nexport function forgotten(): void {}\n',
      'src/orphan.ts': 'export const orphan = 1;\n',
    });
    copyFileSync(join(ROOT, 'knip.json'), join(tree.root, 'knip.json'));
    const { status, output } = run(tree, 'knip/bin/knip.js', ['--no-progress']);
    expect(status).toBe(1);
    expect(output).toMatch(/orphan\.ts/);
    expect(output).toMatch(/forgotten/);
    expect(output).not.toMatch(/^used/m);
  });

  it('the compiler refuses an index that may be absent', () => {
    using tree = new PlantedTree({ 'src/a.ts': 'const list: string[] = [];\nexport const first: string = list[0];\n' });
    const { status, output } = run(tree, 'typescript/bin/tsc', ['-p', '.', '--noEmit']);
    expect(status).not.toBe(0);
    expect(output).toContain('src/a.ts(2');
  });

  it('the compiler and the linter, on one program, read a file again when what it imports has changed', { timeout: 240_000 }, () => {
    const made = 'export function made(): void {\n  return;\n}\n';
    const planted = { 'src/http/wrong.ts': "export const count: number = 'one';\n", 'src/http/made.ts': made };
    using tree = new PlantedTree({
      ...planted,
      'package.json': JSON.stringify({ type: 'module' }),
      'src/http/uses.ts': "import { made } from './made.ts';\nmade();\n",
      'test/simulation/run-seed.ts': 'export {};\n',
    });
    for (const file of ['eslint.config.mjs', ...TYPES_AND_LINT]) tree.write(file, readFileSync(join(ROOT, file), 'utf8'));
    const check = (): { status: number | null; output: string } => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/types-and-lint.ts', '.'], { cwd: tree.root, encoding: 'utf8' });
      return { status, output: stdout + stderr };
    };
    const first = check();
    expect(first.status).toBe(1);
    expect(first.output).toContain('src/http/wrong.ts(1,14): error TS2322');
    expect(first.output).not.toContain('uses.ts');
    tree.write('src/http/wrong.ts', 'export const count = 1;\n');
    tree.write('src/http/made.ts', made.replace('function made(): void', 'async function made(): Promise<void>'));
    const last = check();
    expect(last.status).toBe(1);
    expect(last.output).not.toContain('error TS');
    expect(last.output).toMatch(/uses\.ts\n.*no-floating-promises/u);
  });
});
