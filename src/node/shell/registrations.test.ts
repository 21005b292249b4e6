import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { SystemClock } from '../../runtime/system-clock.ts';
import { Children } from '../checks/children.ts';
import { PersistRegistrations } from './registrations.ts';
import { UnfenceRecordFile } from './unfence-record-store.ts';

/** As sg_persist 1.46 prints them. */
const WITH = '  PR generation=0x6, 2 registered reservation keys follow:\n    0x123abc01\n    0x123abc02\n';
const WITHOUT = '  PR generation=0x7, 1 registered reservation key follows:\n    0x123abc02\n';

const KEYS_FILE = '@KEYS@';

describe('the registrations of a node, by a played sg_persist', () => {
  let folder: string;
  let program: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodefence-registrations-'));
    program = join(folder, 'sg_persist');
    writeFileSync(join(folder, 'keys'), WITHOUT);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Says what it was told, and answers from a file; `register` is what it does when it is told to register. */
  function played(register: string, first = ''): void {
    const lines = [`printf "%s\\n" "$*" >> ${folder}/told`, first, `case "$*" in *-o*) ${register} ;; *) cat ${folder}/keys ;; esac`];
    writeFileSync(program, ['#!/bin/sh', ...lines].join('\n'), { mode: 0o755 });
  }

  function registrations(devices: readonly string[] = ['/dev/disk/by-id/wwn-1'], isMultipath = false): PersistRegistrations {
    const children = new Children({ clock: new SystemClock(), stateFolder: join(folder, 'state') });
    return new PersistRegistrations(children, { devices, key: '0x0123ABC01', isMultipath, program });
  }

  const told = (): string[] => readFileSync(join(folder, 'told'), 'utf8').trim().split('\n');

  it('are put back, and found when they are read', async () => {
    played(`printf '%s' '${WITH}' > ${folder}/keys`);
    const own = registrations();
    expect((await own.read()).found).toBe('missing');
    await own.register();
    expect((await own.read()).found).toBe('registered');
    expect(told()).toEqual([
      '-n -i -k -d /dev/disk/by-id/wwn-1',
      '-n -o -I -S 0x123abc01 -d /dev/disk/by-id/wwn-1',
      '-n -i -k -d /dev/disk/by-id/wwn-1',
    ]);
  });

  it('are not there because a program says so', async () => {
    played('echo registered');
    const own = registrations();
    await own.register();
    expect((await own.read()).found).toBe('missing');
  });

  it('are asked for once more where a device tells first that it was reset', async () => {
    played('exit 0', `[ -e ${folder}/again ] || { touch ${folder}/again; exit 6; }`);
    expect((await registrations().read()).found).toBe('missing');
  });

  it.each([
    ['a list that is not whole', `printf '%s' '${WITH.slice(0, -2)}' > ${KEYS_FILE}`],
    ['a program that fails', 'exit 1'],
  ])('are unknown by %s', async (what, first) => {
    played('exit 0', first.replaceAll(KEYS_FILE, `${folder}/keys`));
    expect((await registrations().read()).found, what).toBe('unknown');
  });

  it('are unknown where there is no such program', async () => {
    expect(await registrations().read()).toMatchObject({ found: 'unknown', detail: expect.stringContaining('is not installed') as string });
  });

  it('are there only on every device', async () => {
    played('exit 0', `case "$*" in *wwn-2) printf '%s' '${WITH}'; exit 0 ;; esac`);
    expect((await registrations(['/dev/wwn-2']).read()).found).toBe('registered');
    for (const devices of [
      ['/dev/wwn-1', '/dev/wwn-2'],
      ['/dev/wwn-2', '/dev/wwn-1'],
    ])
      expect((await registrations(devices).read()).found).toBe('missing');
  });

  it('are those of multipath maps by the words of mpathpersist', async () => {
    played('exit 0');
    const own = registrations(['/dev/mapper/shared'], true);
    await own.register();
    await own.read();
    expect(told()).toEqual(['-o -I -S 0x123abc01 -d /dev/mapper/shared', '-i -k -d /dev/mapper/shared']);
  });

  it('are recorded for one boot, and a record that is broken is told', async () => {
    const path = join(folder, 'run', 'unfence.json');
    const record = { lacks: true, isRegistering: false, epoch: 3 };
    new UnfenceRecordFile(path, 'boot-1').write(record);
    expect(await new UnfenceRecordFile(path, 'boot-1').read()).toEqual(record);
    expect(await new UnfenceRecordFile(path, 'boot-2').read()).toBeUndefined();
    writeFileSync(path, '{}');
    await expect(new UnfenceRecordFile(path, 'boot-1').read()).rejects.toThrow('no record');
  });
});
