import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  ['a timer', 'eslint(no-restricted-globals)', 'setTimeout(() => undefined, 1);'],
  ['performance', 'eslint(no-restricted-globals)', 'export const at = performance.now();'],
  ['fetch', 'eslint(no-restricted-globals)', "export const answer = fetch('http://x');"],
  ['crypto', 'eslint(no-restricted-globals)', 'export const id = crypto.randomUUID();'],
  ['a weak reference', 'eslint(no-restricted-globals)', 'export const weak = new WeakRef({});'],
  ['Math.random', 'eslint(no-restricted-properties)', 'export const dice = Math.random();'],
  ['Date.now', 'eslint(no-restricted-properties)', 'export const at = Date.now();'],
  ['AbortSignal.timeout', 'eslint(no-restricted-properties)', 'export const signal = AbortSignal.timeout(1);'],
  ['AbortSignal.any', 'eslint(no-restricted-properties)', 'export const signal = AbortSignal.any([]);'],
  ['the current date', 'nodefence(syntax)', 'export const at = new Date();'],
  ['a member that only the compiler hides', 'nodefence(syntax)', 'export class A {\n  private a(): void {}\n}'],
  ['a dynamic import', 'nodefence(syntax)', "export const later = import('./other.ts');"],
  ['node:fs', 'eslint(no-restricted-imports)', "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;"],
  ['node:timers', 'eslint(no-restricted-imports)', "import { setTimeout as wait } from 'node:timers/promises';\nexport { wait };"],
  ['axios', 'eslint(no-restricted-imports)', "import axios from 'axios';\nexport { axios };"],
];

const SIMULATED_FOLDERS = [
  'src/domain',
  'src/ports',
  'src/controllers/fence',
  'src/dispatch',
  'src/kube',
  'src/config',
  'src/manager',
  'src/laws',
  'src/testbed/apiserver',
  'src/testbed/cluster',
  'agents/cordon',
];

const EVERYWHERE: readonly Planted[] = [
  {
    what: 'a promise nobody waits for',
    rule: 'typescript(no-floating-promises)',
    path: 'src/http/floating.ts',
    text: 'async function f(): Promise<void> {}\nf();',
  },
  {
    what: 'a switch that forgets a case',
    rule: 'typescript(switch-exhaustiveness-check)',
    path: 'src/http/switch.ts',
    text: "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 2;\n}",
  },
  {
    what: 'a member that only the compiler hides',
    rule: 'nodefence(syntax)',
    path: 'src/http/hidden.ts',
    text: 'export class A {\n  private readonly a = 1;\n  b(): number {\n    return this.a;\n  }\n}',
  },
  { what: 'any', rule: 'typescript(no-explicit-any)', path: 'src/http/any.ts', text: 'export const x: any = 1;' },
  {
    what: 'a silenced compiler',
    rule: 'typescript(ban-ts-comment)',
    path: 'src/http/silenced.ts',
    text: `// ${['@ts', 'ignore'].join('-')}\nexport const x: number = 'a';`,
  },
  {
    what: 'an unfinished note',
    rule: 'eslint(no-warning-comments)',
    path: 'src/http/unfinished.ts',
    text: `// ${['to', 'do'].join('')}: later\nexport const x = 1;`,
  },
  { what: 'a write to the console', rule: 'eslint(no-console)', path: 'src/http/console.ts', text: "console.log('x');" },
  {
    what: 'an error swallowed',
    rule: 'eslint(no-empty)',
    path: 'src/http/empty.ts',
    text: 'try {\n  f();\n} catch {}\nfunction f(): void {}\nexport {};',
  },
  { what: 'a file over 400 lines', rule: 'eslint(max-lines)', path: 'src/http/long.ts', text: 'export {};\n'.repeat(401) },
  {
    what: 'a function over 70 lines',
    rule: 'eslint(max-lines-per-function)',
    path: 'src/http/long-function.ts',
    text: `export function f(): number {\n${'  g();\n'.repeat(80)}  return 1;\n}\nfunction g(): void {}\n`,
  },
  {
    what: 'what the compiler refuses',
    rule: 'typescript(TS2322)',
    path: 'src/http/wrong.ts',
    text: "export const count: number = 'one';",
  },
  {
    what: 'an index that may be absent',
    rule: 'typescript(TS2322)',
    path: 'src/http/absent.ts',
    text: 'const list: string[] = [];\nexport const first: string = list[0];',
  },
  {
    what: 'a rule switched off in the words of another linter',
    rule: 'eslint(no-console)',
    path: 'src/http/switched-off.ts',
    text: `/* ${['eslint', 'disable'].join('-')} */\nconsole.log('x');`,
  },
  {
    what: 'a focused test',
    rule: 'eslint(no-restricted-properties)',
    path: 'src/http/focused.test.ts',
    text: `import { it } from 'vitest';\n${['it', 'only'].join('.')}('x', () => {});`,
  },
];

/** Ways in which an assertion may never run. */
const GUARDED_TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['in an if', 'if (n > 1) expect(n).toBe(2);'],
  ['in an else', 'if (n > 1) n = 2;\n  else expect(n).toBe(1);'],
  ['in a choice', 'n > 1 ? expect(n).toBe(2) : undefined;'],
  ['after an and', 'n > 1 && expect(n).toBe(2);'],
  ['in a case', 'switch (n) {\n    case 1:\n      expect(n).toBe(1);\n  }'],
  ['in a catch', 'try {\n    n += 1;\n  } catch (error) {\n    expect(error).toBeInstanceOf(Error);\n  }'],
  ['of a rejection', 'await Promise.resolve().catch((error: unknown) => expect(error).toBeInstanceOf(Error));'],
  ['of a promise that is kept', 'await Promise.resolve(1).then((n) => expect(n).toBe(1));'],
  ['after a return', 'if (n > 1) return;\n  expect(n).toBe(1);'],
  ['after a continue', 'for (const m of [1]) {\n    if (m > 1) continue;\n    expect(m).toBe(1);\n  }'],
  ['in a helper', 'const sound = (m: number): void => expect(m).toBe(1);\n  if (n > 1) sound(n);'],
  ['in a helper of a helper', 'const a = (): void => expect(n).toBe(1);\n  function b(): void {\n    a();\n  }\n  if (n > 1) b();'],
  ['that polls', 'if (n > 1) await expect.poll(() => n).toBe(2);'],
];

const BY_ANOTHER_WAY: readonly Planted[] = [
  {
    what: 'a definition of ours out of memory',
    rule: 'eslint(no-restricted-imports)',
    path: 'test/preservation/planted.ts',
    text: "import { MACHINE_DEFINITIONS } from '../../src/manifests/machine-definitions.ts';\nexport { MACHINE_DEFINITIONS };",
  },
  {
    what: 'a role of ours out of memory, in the drill',
    rule: 'eslint(no-restricted-imports)',
    path: 'src/drill/run/planted.ts',
    text: "import { CONTROLLER_ACCESS } from '../../manifests/access.ts';\nexport { CONTROLLER_ACCESS };",
  },
  {
    what: 'a definition of ours, written by hand',
    rule: 'nodefence(syntax)',
    path: 'test/scenarios/planted.ts',
    text: "export const definition = { spec: { group: 'ha.k8s.io', versions: [] } };",
  },
  {
    what: 'a role of ours, written by hand',
    rule: 'nodefence(syntax)',
    path: 'src/cli/planted.test.ts',
    text: "export const role = { kind: 'ClusterRole', metadata: { name: 'nodefence-controller' }, rules: [] };",
  },
];

const PLANTED: readonly Planted[] = [
  ...EVERYWHERE,
  ...BY_ANOTHER_WAY,
  ...GUARDED_TEXTS.map(([what, text], index) => ({
    what: `an assertion ${what}`,
    rule: 'nodefence(guarded)',
    path: `src/http/guarded-${index}.test.ts`,
    text: `import { expect, it } from 'vitest';\nlet n = 1;\nit('x', async () => {\n  ${text}\n});\n`,
  })),
  {
    what: 'another object in the place of process.env',
    rule: 'nodefence(environment)',
    path: 'src/http/environment.test.ts',
    text: "export const replace = (): void => {\n  process.env = { HOME: '/' };\n};",
  },
  ...SIMULATED_TEXTS.map(([what, rule, text], index) => ({ what, rule, text, path: `src/domain/planted-${index}.ts` })),
  ...SIMULATED_FOLDERS.map((folder) => ({
    what: 'a timer',
    rule: 'eslint(no-restricted-globals)',
    path: `${folder}/planted-timer.ts`,
    text: 'setTimeout(() => undefined, 1);',
  })),
  // In no such folder, but loaded by the simulation.
  { what: 'a timer', rule: 'eslint(no-restricted-globals)', path: 'src/testbed/operators/host-fleet.ts', text: 'setTimeout(() => undefined, 1);' },
];

/** Conditions that no assertion stands behind. */
const STRAIGHT = `import { expect, it } from 'vitest';
let n = 1;
it('x', (context) => {
  if (n > 2) return context.skip('no machine');
  if (n > 1) throw new Error('x');
  const isOne = n === 1 ? true : (() => false)();
  if (isOne) n = 1;
  for (const m of [1, 2]) expect(m).toBeGreaterThan(0);
  expect(isOne && n).toBe(isOne ? 1 : false);
  if (n > 1) return;
});
`;

const ALLOWED: Readonly<Record<string, string>> = {
  'src/domain/clean.ts': 'export const at = new Date(0).toISOString();\n',
  'src/runtime/clock.ts': 'export const timer = setTimeout(() => undefined, 1);\n',
  'src/kube/https-transport.ts': "import { request } from 'node:https';\nexport { request };\n",
  'src/domain/clean.test.ts': 'export const at = Date.now();\n',
  'src/http/straight.test.ts': STRAIGHT,
  'test/scenarios/clean.ts': "import { NAMESPACE } from '../../src/manifests/access.ts';\nexport { NAMESPACE };\n",
  'test/scenarios/of-others.ts': "export const role = { kind: 'ClusterRole', metadata: { name: 'mcm' }, rules: [] };\n",
};

/** What the configuration is made of, and the entry whose imports say what is simulated. */
const CONFIGURATION = ['oxlint.config.ts', ...globSync('scripts/lint/*', { cwd: ROOT })];
const BESIDE: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ type: 'module' }),
  'src/domain/other.ts': 'export {};\n',
  'src/manifests/access.ts': "export const NAMESPACE = 'nodefence';\n",
  'test/simulation/run-seed.ts': "export * from '../../src/testbed/operators/host-fleet.ts';\n",
};

interface Finding {
  /** `typescript(no-floating-promises)`. */
  code: string;
  filename: string;
}

describe('oxlint', () => {
  let tree: PlantedTree;
  let found: readonly Finding[];
  const of = (path: string): string[] => found.filter(({ filename }) => filename === path).map(({ code }) => code);

  beforeAll(() => {
    const files = Object.fromEntries(PLANTED.map(({ path, text }) => [path, text]));
    tree = new PlantedTree({ ...files, ...ALLOWED, ...BESIDE });
    for (const file of CONFIGURATION) tree.write(file, readFileSync(join(ROOT, file), 'utf8'));
    const linter = join(ROOT, 'node_modules/oxlint/bin/oxlint');
    const { stdout } = spawnSync(process.execPath, [linter, '--format', 'json', '.'], { cwd: tree.root, encoding: 'utf8', maxBuffer: 2 ** 26 });
    found = (JSON.parse(stdout) as { diagnostics: Finding[] }).diagnostics;
  }, 60_000);
  afterAll(() => tree[Symbol.dispose]());

  it.each(PLANTED)('refuses $what in $path', ({ rule, path }) => {
    expect(of(path)).toContain(rule);
  });

  it.each(Object.keys(ALLOWED))('has nothing against %s', (path) => {
    expect(of(path)).toEqual([]);
  });
});
