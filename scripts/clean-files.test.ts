import { join } from 'node:path';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlantedTree } from '../test/rules/planted-tree.ts';
import { CleanFiles } from './clean-files.ts';

const TEXTS = {
  'far.ts': 'export interface Far { size: number }\n',
  'near.ts': "import type { Far } from './far.ts';\nexport type Near = Far['size'];\n",
  'user.ts': "import type { Near } from './near.ts';\nexport const size: Near = 1;\n",
  'alone.ts': 'export const alone = 1;\n',
  'eslint.config.mjs': 'export default [];\n',
};
const FILES = Object.keys(TEXTS).filter((file) => file.endsWith('.ts'));

describe('the files that the linter had nothing against', () => {
  let tree: PlantedTree;
  beforeEach(() => {
    tree = new PlantedTree(TEXTS);
  });
  afterEach(() => tree[Symbol.dispose]());

  /** As a run of its own sees them. */
  const clean = (): CleanFiles => {
    const options: ts.CompilerOptions = { noLib: true, types: [], noEmit: true, incremental: true, tsBuildInfoFile: join(tree.root, 'info') };
    const resolved = { ...options, module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true };
    const builder = ts.createIncrementalProgram({ rootNames: FILES.map((file) => join(tree.root, file)), options: resolved });
    return new CleanFiles(tree.root, join(tree.root, 'clean.json'), builder);
  };
  const stillClean = (): string[] => {
    const now = clean();
    return FILES.filter((file) => now.has(file));
  };

  it('are read no more while nothing has changed, but for those with a finding', () => {
    expect(stillClean()).toEqual([]);
    clean().keep(new Map(FILES.map((file) => [file, file !== 'alone.ts'])));
    expect(stillClean()).toEqual(['far.ts', 'near.ts', 'user.ts']);
  });

  it('are read again when something changed that they import, however far', () => {
    clean().keep(new Map(FILES.map((file) => [file, true])));
    tree.write('far.ts', 'export interface Far { size: any }\n');
    expect(stillClean()).toEqual(['alone.ts']);
    tree.write('far.ts', TEXTS['far.ts']);
    expect(stillClean()).toEqual(FILES);
  });

  it('are all read again when a rule changed', () => {
    clean().keep(new Map(FILES.map((file) => [file, true])));
    tree.write('eslint.config.mjs', 'export default [{}];\n');
    expect(stillClean()).toEqual([]);
  });

  it('hold no file that the compiler does not know', () => {
    clean().keep(new Map([['eslint.config.mjs', true]]));
    expect(clean().has('eslint.config.mjs')).toBe(false);
  });
});
