import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = fileURLToPath(new URL('bundle.ts', import.meta.url));
const BUILD_DEADLINE_MS = 120_000;

/** Every file of a build, by its name. */
function filesOf(folder: string): Map<string, string> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** What Node reads before the first line of `name` runs: files of the build, and packages. */
function readWith(files: ReadonlyMap<string, string>, name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, from = ''] of (files.get(name) ?? '').matchAll(/^(?:import|export) (?:[^"]* from )?"([^"]+)";$/gm))
    readWith(files, from.replace(/^\.\//, ''), seen);
  return seen;
}

describe('the program that ships', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-bundle-'));
  const built: Map<string, string>[] = [];

  beforeAll(() => {
    for (const out of [join(folder, 'one'), join(folder, 'two')]) {
      execFileSync(process.execPath, [SCRIPT, '--out', out]);
      built.push(filesOf(out));
    }
  }, BUILD_DEADLINE_MS);

  afterAll(() => rmSync(folder, { recursive: true }));

  it('is the same each time it is built, and names no folder of the machine', () => {
    const [one = new Map<string, string>(), two] = built;
    expect(one.size).toBeGreaterThan(50);
    expect(two).toEqual(one);
    expect([...one].filter(([, text]) => text.includes(ROOT) || text.includes(folder)).map(([name]) => name)).toEqual([]);
  });

  it('is text of one byte a character, without comments but those that say which module follows', () => {
    const files = [...(built[0] ?? [])];
    expect(files.filter(([, text]) => /[^\x00-\x7f]/.test(text)).map(([name]) => name)).toEqual([]);
    const comments = files.flatMap(([, text]) => text.match(/^\s*(?:\/\/|\/\*).*$/gm) ?? []);
    expect(comments.length).toBeGreaterThan(500);
    expect(comments.filter((line) => !/^\/\/ (?:src|agents|node_modules|scripts\/supply|\\0rolldown)\/\S+$/.test(line))).toEqual([]);
  });

  it('reads with a controller no package, and neither the drill nor what talks to devices', () => {
    const files = built[0] ?? new Map<string, string>();
    const [entry = ''] = [...files.keys()].filter((name) => name.startsWith('controller-command-'));
    const read = [...readWith(files, entry)];
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((name) => !files.has(name) && !name.startsWith('node:'))).toEqual([]);
    const modules = read.flatMap((name) => files.get(name)?.match(/^\/\/ (?:src|agents)\/.*\.ts$/gm) ?? []);
    expect(modules).toEqual(expect.arrayContaining(['// src/cli/controller-command.ts', '// agents/ipmi/definition.ts']));
    // Those three change the Node, and reach no device.
    const loaded = modules.filter((name) => /^\/\/ (?:src\/(?:drill|testbed)\/|agents\/[a-z-]+\/agent\.ts)/.test(name));
    expect(loaded.sort()).toEqual(['cordon', 'taint', 'uncordon'].map((name) => `// agents/${name}/agent.ts`));
  });

  it('speaks HTTP without the client of fetch, which Node loads for whoever imports node:http by its name', () => {
    const [entry = ''] = [...(built[0] ?? [])].flatMap(([name, text]) => (text.includes('// src/kube/transport/connection.ts\n') ? [name] : []));
    const loaded = (program: string): string[] => {
      const ask = `${program}; console.log(JSON.stringify(process.moduleLoadList))`;
      return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', ask], { encoding: 'utf8' })) as string[];
    };
    const client = 'NativeModule internal/deps/undici/undici';
    expect(loaded("await import('node:http')")).toContain(client);
    const transport = loaded(`await import(${JSON.stringify(join(folder, 'one', entry))})`);
    expect(transport).toContain('NativeModule http');
    expect(transport).not.toContain(client);
    expect([...(built[0] ?? [])].filter(([, text]) => / from "(?:node:)?http"/.test(text)).map(([name]) => name)).toEqual([]);
  });
});
