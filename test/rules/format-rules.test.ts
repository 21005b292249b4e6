import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PlantedTree, ROOT } from './planted-tree.ts';

function run(tree: PlantedTree, script: string, parameters: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'node_modules', script), ...parameters], {
    cwd: tree.root,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

describe('the other checks', () => {
  it('oxfmt refuses a file that is formatted otherwise', () => {
    using tree = new PlantedTree({ 'good.ts': "export const a = 'x';\n", 'bad.ts': 'export const a = "x"\n' });
    copyFileSync(join(ROOT, '.oxfmtrc.json'), join(tree.root, '.oxfmtrc.json'));
    const { status, output } = run(tree, 'oxfmt/bin/oxfmt', ['--check', 'good.ts', 'bad.ts']);
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
});
