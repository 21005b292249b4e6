import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { DrillFolder } from './drill-folder.ts';
import { filerTemplate } from './filer.ts';

let folder: DrillFolder | undefined;
afterEach(() => folder?.remove());

it('gives the controllers a filer that they may run: by its name, in the folder of their --programs, changed by nobody else', () => {
  folder = new DrillFolder();
  const { programs } = folder;
  const template = filerTemplate(folder);
  const run = (key: string): string => {
    const [program = '', ...rest] = (template[key] ?? '').replaceAll('%client%', 'a').split(' ');
    expect(readdirSync(programs)).toContain(program);
    expect(statSync(join(programs, program)).mode & 0o022).toBe(0);
    return execFileSync(join(programs, program), rest, { encoding: 'utf8' });
  };
  expect(run('state_command')).toBe('open a\n');
  run('close_command');
  expect(run('state_command')).toBe('closed a\n');
  run('open_command');
  expect(run('state_command')).toBe('open a\n');
  expect(folder.traceOf('filer').map((event) => (event as { action?: string }).action)).toEqual(['read', 'set', 'read', 'set', 'read']);
});
