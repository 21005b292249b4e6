import { relative } from 'node:path';
import { ESLint } from 'eslint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlantedTree, ROOT } from './planted-tree.ts';

interface Planted {
  /** What the rule forbids, in words. */
  what: string;
  rule: string;
  path: string;
  text: string;
}

const SIMULATED_TEXTS: readonly (readonly [what: string, rule: string, text: string])[] = [
  ['a timer', 'no-restricted-globals', 'setTimeout(() => undefined, 1);'],
  ['performance', 'no-restricted-globals', 'export const at = performance.now();'],
  ['fetch', 'no-restricted-globals', "export const answer = fetch('http://x');"],
  ['crypto', 'no-restricted-globals', 'export const id = crypto.randomUUID();'],
  ['a weak reference', 'no-restricted-globals', 'export const weak = new WeakRef({});'],
  ['Math.random', 'no-restricted-properties', 'export const dice = Math.random();'],
  ['Date.now', 'no-restricted-properties', 'export const at = Date.now();'],
  ['AbortSignal.timeout', 'no-restricted-properties', 'export const signal = AbortSignal.timeout(1);'],
  ['AbortSignal.any', 'no-restricted-properties', 'export const signal = AbortSignal.any([]);'],
  ['the current date', 'no-restricted-syntax', 'export const at = new Date();'],
  ['a dynamic import', 'no-restricted-syntax', "export const later = import('./other.ts');"],
  ['node:fs', '@typescript-eslint/no-restricted-imports', "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;"],
  ['node:timers', '@typescript-eslint/no-restricted-imports', "import { setTimeout as wait } from 'node:timers/promises';\nexport { wait };"],
  ['axios', '@typescript-eslint/no-restricted-imports', "import axios from 'axios';\nexport { axios };"],
];

const SIMULATED_FOLDERS = [
  'src/domain',
  'src/ports',
  'src/controllers/fence',
  'src/dispatch',
  'src/kube',
  'src/config',
  'src/drill/apiserver',
  'src/drill/world',
  'agents/cordon',
];

const EVERYWHERE: readonly Planted[] = [
  {
    what: 'a promise nobody waits for',
    rule: '@typescript-eslint/no-floating-promises',
    path: 'src/http/floating.ts',
    text: 'async function f(): Promise<void> {}\nf();',
  },
  {
    what: 'a switch that forgets a case',
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    path: 'src/http/switch.ts',
    text: "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 2;\n}",
  },
  { what: 'any', rule: '@typescript-eslint/no-explicit-any', path: 'src/http/any.ts', text: 'export const x: any = 1;' },
  {
    what: 'a silenced compiler',
    rule: '@typescript-eslint/ban-ts-comment',
    path: 'src/http/silenced.ts',
    text: `// ${['@ts', 'ignore'].join('-')}\nexport const x: number = 'a';`,
  },
  {
    what: 'an unfinished note',
    rule: 'no-warning-comments',
    path: 'src/http/unfinished.ts',
    text: `// ${['to', 'do'].join('')}: later\nexport const x = 1;`,
  },
  { what: 'a write to the console', rule: 'no-console', path: 'src/http/console.ts', text: "console.log('x');" },
  { what: 'an error swallowed', rule: 'no-empty', path: 'src/http/empty.ts', text: 'try {\n  f();\n} catch {}\nfunction f(): void {}\nexport {};' },
  { what: 'a file over 400 lines', rule: 'max-lines', path: 'src/http/long.ts', text: 'export {};\n'.repeat(401) },
  {
    what: 'a function over 70 lines',
    rule: 'max-lines-per-function',
    path: 'src/http/long-function.ts',
    text: `export function f(): number {\n${'  g();\n'.repeat(80)}  return 1;\n}\nfunction g(): void {}\n`,
  },
  {
    what: 'a focused test',
    rule: 'no-restricted-properties',
    path: 'src/http/focused.test.ts',
    text: `import { it } from 'vitest';\n${['it', 'only'].join('.')}('x', () => {});`,
  },
];

const BY_ANOTHER_WAY: readonly Planted[] = [
  {
    what: 'a definition of ours out of memory',
    rule: 'no-restricted-imports',
    path: 'test/preservation/planted.ts',
    text: "import { MACHINE_DEFINITIONS } from '../../src/manifests/machine-definitions.ts';\nexport { MACHINE_DEFINITIONS };",
  },
  {
    what: 'a role of ours out of memory, in the drill',
    rule: 'no-restricted-imports',
    path: 'src/drill/run/planted.ts',
    text: "import { CONTROLLER_ACCESS } from '../../manifests/access.ts';\nexport { CONTROLLER_ACCESS };",
  },
  {
    what: 'a definition of ours, written by hand',
    rule: 'no-restricted-syntax',
    path: 'test/scenarios/planted.ts',
    text: "export const definition = { spec: { group: 'ha.k8s.io', versions: [] } };",
  },
  {
    what: 'a role of ours, written by hand',
    rule: 'no-restricted-syntax',
    path: 'src/cli/planted.test.ts',
    text: "export const role = { kind: 'ClusterRole', metadata: { name: 'nodefence-controller' }, rules: [] };",
  },
];

const PLANTED: readonly Planted[] = [
  ...EVERYWHERE,
  ...BY_ANOTHER_WAY,
  ...SIMULATED_TEXTS.map(([what, rule, text], index) => ({ what, rule, text, path: `src/domain/planted-${index}.ts` })),
  ...SIMULATED_FOLDERS.map((folder) => ({
    what: 'a timer',
    rule: 'no-restricted-globals',
    path: `${folder}/planted-timer.ts`,
    text: 'setTimeout(() => undefined, 1);',
  })),
];

const ALLOWED: Readonly<Record<string, string>> = {
  'src/domain/clean.ts': 'export const at = new Date(0).toISOString();\n',
  'src/runtime/clock.ts': 'export const timer = setTimeout(() => undefined, 1);\n',
  'src/kube/https-transport.ts': "import { request } from 'node:https';\nexport { request };\n",
  'src/domain/clean.test.ts': 'export const at = Date.now();\n',
  'test/scenarios/clean.ts': "import { NAMESPACE } from '../../src/manifests/access.ts';\nexport { NAMESPACE };\n",
  'test/scenarios/of-others.ts': "export const role = { kind: 'ClusterRole', metadata: { name: 'mcm' }, rules: [] };\n",
};

describe('eslint', () => {
  let tree: PlantedTree;
  const found = new Map<string, string[]>();

  beforeAll(async () => {
    const files = Object.fromEntries(PLANTED.map(({ path, text }) => [path, text]));
    tree = new PlantedTree({ ...files, ...ALLOWED, 'src/domain/other.ts': 'export {};\n' });
    const eslint = new ESLint({ cwd: tree.root, overrideConfigFile: `${ROOT}eslint.config.mjs` });
    for (const { filePath, messages } of await eslint.lintFiles(['.'])) {
      found.set(
        relative(tree.root, filePath),
        messages.map(({ ruleId, message }) => ruleId ?? message),
      );
    }
  }, 60_000);
  afterAll(() => tree[Symbol.dispose]());

  it.each(PLANTED)('refuses $what in $path', ({ rule, path }) => {
    expect(found.get(path)).toContain(rule);
  });

  it.each(Object.keys(ALLOWED))('has nothing against %s', (path) => {
    expect(found.get(path)).toEqual([]);
  });

  it('does not let code switch a rule off', async () => {
    const eslint = new ESLint({ cwd: tree.root, overrideConfigFile: `${ROOT}eslint.config.mjs` });
    const text = `/* ${['eslint', 'disable'].join('-')} */\nconsole.log('x');\n`;
    const [result] = await eslint.lintText(text, { filePath: 'src/http/console.ts' });
    expect(result?.messages.map(({ ruleId }) => ruleId)).toContain('no-console');
  });
});
