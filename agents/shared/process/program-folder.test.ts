import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ProgramFolder } from './program-folder.ts';

describe('a program that a configuration names', () => {
  let root = '';
  let folder = '';
  const programs = (): ProgramFolder => new ProgramFolder({ kind: 'folder', path: folder });
  const put = (path: string, mode = 0o755): void => {
    writeFileSync(path, '#!/bin/sh\n');
    chmodSync(path, mode);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'nodefence-programs-'));
    folder = join(root, 'programs');
    mkdirSync(folder, { mode: 0o755 });
    put(join(folder, 'filer'));
    put(join(root, 'outside'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is a file of the folder, by its name', () => {
    expect(programs().demand('filer', 'run')).toEqual({ file: join(folder, 'filer') });
  });

  it('may be a link within the folder, and is run as the file that it leads to', () => {
    symlinkSync('filer', join(folder, 'other'));
    expect(programs().demand('other', 'run')).toEqual({ file: join(folder, 'filer') });
  });

  it.each(['../outside', '..', '.', '', './filer', '/bin/sh', 'a/filer', '-c', '.hidden', 'filer\n', 'a b', '$(id)', 'a\0b'])(
    'is no path: %j',
    (name) => {
      expect(programs().locate(name, 'run')).toMatchObject({ kind: 'refused', message: expect.stringContaining('name of one file') as string });
    },
  );

  it('is refused where a link leads out of the folder', () => {
    symlinkSync('/bin/sh', join(folder, 'shell'));
    symlinkSync(join(root, 'outside'), join(folder, 'near'));
    for (const name of ['shell', 'near'])
      expect(programs().locate(name, 'run')).toMatchObject({ kind: 'refused', message: expect.stringContaining('leads out of') as string });
  });

  it('is refused where it is in a folder whose name only begins alike', () => {
    mkdirSync(`${folder}-2`);
    put(join(`${folder}-2`, 'filer'));
    symlinkSync(join(`${folder}-2`, 'filer'), join(folder, 'next'));
    expect(programs().locate('next', 'run')).toMatchObject({ kind: 'refused', message: expect.stringContaining('leads out of') as string });
  });

  it.each([
    ['the group', 0o775],
    ['everybody', 0o757],
  ])('is refused where %s may change it', (_who, mode) => {
    chmodSync(join(folder, 'filer'), mode);
    expect(programs().locate('filer', 'run')).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('can be changed by others') as string,
    });
  });

  it('is refused where others may put files into the folder: a ConfigMap that is mounted is such a one', () => {
    chmodSync(folder, 0o777);
    expect(programs().locate('filer', 'run')).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('can be changed by others') as string,
    });
  });

  it('has to be a file that may be run; one that is only read need not', () => {
    chmodSync(join(folder, 'filer'), 0o644);
    mkdirSync(join(folder, 'sub'));
    expect(programs().locate('filer', 'run')).toMatchObject({ kind: 'refused', message: expect.stringContaining('may not be run') as string });
    expect(programs().locate('filer', 'read')).toMatchObject({ kind: 'found' });
    expect(programs().locate('sub', 'read')).toMatchObject({ kind: 'refused' });
  });

  it('that is not there is told with the folder', () => {
    expect(programs().demand('filter', 'run')).toEqual({ refusal: `there is no filter in ${folder}, the folder of --programs` });
  });

  it('is not run where it is withheld, and is looked at all the same', () => {
    const withheld = new ProgramFolder({ kind: 'folder', path: folder, withheld: 'mode observe runs no program' });
    expect(withheld.locate('filer', 'run')).toMatchObject({ kind: 'found' });
    expect(withheld.demand('filer', 'run')).toEqual({ refusal: 'filer is not run: mode observe runs no program' });
  });

  it('is refused where no folder is named, and not looked for where the controller is elsewhere', () => {
    expect(new ProgramFolder().demand('filer', 'run')).toEqual({ refusal: expect.stringContaining('start it with --programs DIR') as string });
    expect(new ProgramFolder({ kind: 'elsewhere' }).locate('filer', 'run')).toMatchObject({ kind: 'unseen' });
    expect(new ProgramFolder({ kind: 'elsewhere', folder: '/opt/p' }).demand('filer', 'run')).toEqual({
      refusal: 'filer has to be in /opt/p: not looked for from here',
    });
  });
});
