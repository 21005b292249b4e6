import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_PROGRAMS } from '../../ports/programs.ts';
import type { ProgramRights } from '../../ports/programs.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { rightsOfController } from '../program-rights.ts';
import { HostSecrets } from './stores.ts';

const QUESTION = { node: 'a', method: 'off', agent: 'redfish', device: '10.0.0.7:443' };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-secrets-'));
  mkdirSync(join(folder, 'files'));
  mkdirSync(join(folder, 'programs'), { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function stores(programs: ProgramRights = NO_PROGRAMS): HostSecrets {
  return new HostSecrets({ files: join(folder, 'files'), programs, clock: new SystemClock() });
}

const fromFile = (name: string): Promise<Readonly<Record<string, string>>> => stores().read({ kind: 'file', name }, QUESTION);

describe('A login in a file of the controller’s machine', () => {
  it('is lines key=value, all behind the first = a value', async () => {
    put('files/bmc-a', '# rotated daily\n\nusername=root\r\npassword=a=b #c \n');
    expect(await fromFile('bmc-a')).toEqual({ username: 'root', password: 'a=b #c ' });
  });

  it('is a folder of one file for each key, as a volume of a Secret is, and never half of two of them', async () => {
    put('files/bmc-a/..2026_1/username', 'root');
    put('files/bmc-a/..2026_1/password', 'one');
    symlinkSync('..2026_1', join(folder, 'files/bmc-a/..data'));
    for (const key of ['username', 'password']) symlinkSync(`..data/${key}`, join(folder, 'files/bmc-a', key));
    expect(await fromFile('bmc-a')).toEqual({ username: 'root', password: 'one' });
    put('files/bmc-a/..2026_2/username', 'admin');
    put('files/bmc-a/..2026_2/password', 'two');
    symlinkSync('..2026_2', join(folder, 'files/bmc-a/..next'));
    renameSync(join(folder, 'files/bmc-a/..next'), join(folder, 'files/bmc-a/..data'));
    expect(await fromFile('bmc-a')).toEqual({ username: 'admin', password: 'two' });
  });

  it('is read anew each time', async () => {
    put('files/rack-3/bmc-a', 'password=one');
    const asked = stores();
    expect(await asked.read({ kind: 'file', name: 'rack-3/bmc-a' }, QUESTION)).toEqual({ password: 'one' });
    put('files/rack-3/bmc-a', 'password=two');
    expect(await asked.read({ kind: 'file', name: 'rack-3/bmc-a' }, QUESTION)).toEqual({ password: 'two' });
  });

  it('that is missing is told with its name and folder', async () => {
    await expect(fromFile('bmc-b')).rejects.toThrow(`secret_file bmc-b is missing: there is no such file or folder in ${folder}/files`);
    await expect(fromFile('bmc-b')).rejects.toMatchObject({ mayPass: false });
  });

  it.each(['../outside', '/etc/passwd', 'a/../../outside', '.hidden', '..data/x', '', 'a//b', 'a b', 'a\0b'])('is never %s', async (name) => {
    put('outside', 'password=stolen');
    expect(stores().problem({ kind: 'file', name })).toContain('no ..');
    await expect(fromFile(name)).rejects.toThrow('is no name of a file');
  });

  it('is not behind a link that leads out of the folder, also not one key of it', async () => {
    const outside = put('outside', 'password=stolen');
    symlinkSync(outside, join(folder, 'files/link'));
    put('files/bmc-a/username', 'root');
    symlinkSync(outside, join(folder, 'files/bmc-a/password'));
    await expect(fromFile('link')).rejects.toThrow('leads out of');
    await expect(fromFile('bmc-a')).rejects.toThrow('leads out of');
  });

  it('is no pipe, which would be waited for, and not larger than a login is', async () => {
    execFileSync('mkfifo', [join(folder, 'files/pipe')]);
    put('files/large', `password=${'x'.repeat(70_000)}`);
    await expect(fromFile('pipe')).rejects.toThrow('is no file');
    await expect(fromFile('large')).rejects.toThrow('more than 65536 bytes');
  });

  it('that is none is told by the number of its line, without its text', async () => {
    put('files/bmc-a', 'username=root\nhunter2\n');
    const refusal = expect(fromFile('bmc-a')).rejects;
    await refusal.toThrow('secret_file bmc-a');
    await expect(fromFile('bmc-a')).rejects.toThrow('line 2 is no key=value');
    await expect(fromFile('bmc-a')).rejects.not.toThrow('hunter2');
  });

  it('is read from nowhere without --secret-files', () => {
    const none = new HostSecrets({ files: undefined, programs: NO_PROGRAMS, clock: new SystemClock() });
    expect(none.problem({ kind: 'file', name: 'bmc-a' })).toContain('start the controller with --secret-files DIR');
  });
});

describe('A login from a program', () => {
  function program(name: string, text: string): void {
    chmodSync(put(`programs/${name}`, `#!/bin/sh\n${text}\n`), 0o755);
  }
  const ask = (name: string, mode: 'observe' | 'enforce' = 'enforce'): Promise<Readonly<Record<string, string>>> =>
    stores(rightsOfController(join(folder, 'programs'), mode)).read({ kind: 'program', name }, QUESTION);

  it('is what it prints for the question on its input', async () => {
    program('vault', 'read -r question; echo "username=root"; echo "password=$question"');
    const { username, password = '' } = await ask('vault');
    expect([username, JSON.parse(password)]).toEqual(['root', QUESTION]);
  });

  it('is not asked for in mode observe, nor without --programs', async () => {
    program('vault', `touch ${folder}/ran; echo password=x`);
    await expect(ask('vault', 'observe')).rejects.toThrow('mode observe runs no program');
    expect(stores().problem({ kind: 'program', name: 'vault' })).toContain('--programs DIR');
    expect(() => execFileSync('test', ['-e', `${folder}/ran`])).toThrow('Command failed');
  });

  it('is none where it fails, and what it said is not repeated', async () => {
    program('vault', 'echo password=hunter2; echo hunter2 >&2; exit 3');
    await expect(ask('vault')).rejects.toThrow('secret_program vault ended with code 3');
    await expect(ask('vault'), 'it may answer the next time').rejects.toMatchObject({ mayPass: true });
    await expect(ask('vault')).rejects.not.toThrow('hunter2');
  });

  it('is none where it prints too much', async () => {
    program('vault', 'yes password=x | head -c 70000');
    await expect(ask('vault')).rejects.toThrow('printed more than 65536 bytes');
  });

  it.each(['../vault', '/bin/sh'])('is never run by the path %s', (name) => {
    expect(stores(rightsOfController(join(folder, 'programs'), 'enforce')).problem({ kind: 'program', name })).toContain('is a path or no name');
  });
});
