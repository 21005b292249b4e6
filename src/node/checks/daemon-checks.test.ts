import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckFound, CheckName } from '../../ports/node-checks.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { Children } from './children.ts';
import type { ChildResult } from './children.ts';
import { daemonChecks } from './daemon-checks.ts';
import { MachineFolder } from './testing/machine-folder.ts';

let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

const PROBE = `.nodefence-probe-${hostname()}-daemon`;

async function run(name: CheckName, mounts: readonly string[] = [], children?: Pick<Children, 'run'>): Promise<CheckFound> {
  const clock = new SystemClock();
  const real = new Children({ clock, stateFolder: machine.stateFolder });
  const folders = { runFolder: machine.stateFolder, stateFolder: join(machine.root, 'var/lib/nodefence/checks') };
  const checks = daemonChecks(
    { root: machine.root, seesFiles: true, clock, children: children ?? real, probes: children ?? real, ...folders },
    mounts.map((path) => ({ kind: 'mount', path })),
  );
  const check = checks.find((one) => one.name === name);
  if (check === undefined) throw new Error(`no check ${name}`);
  return check.run();
}

const answering = (result: ChildResult): Pick<Children, 'run'> => ({ run: () => Promise.resolve(result) });

describe('a check that the daemon runs', { timeout: 60_000 }, () => {
  it('of storage says of each target whether it is reached, and writes to a file of its own', async () => {
    machine.mount('/mnt/shared', '/mnt/hung');
    expect(spawnSync('mkfifo', [join(machine.root, 'mnt/hung', PROBE)]).status).toBe(0);
    expect(await run('storage', ['/mnt/shared', '/mnt/hung', '/mnt/none'])).toEqual({
      health: 'problem',
      sentence: 'no answer for 5 s: /mnt/hung; 2 of 3 are lost',
      targets: [
        { path: '/mnt/shared', reach: 'reachable' },
        { path: '/mnt/hung', reach: 'lost' },
        { path: '/mnt/none', reach: 'unknown' },
      ],
    });
    expect(readdirSync(join(machine.root, 'mnt/shared'))).toEqual([PROBE]);
  });

  it.each<[string, ChildResult]>([
    ['cannot be started', { kind: 'not-started', why: 'EAGAIN' }],
    ['is not started, for too many hang', { kind: 'too-many', count: 8 }],
    ['did not get to run', { kind: 'late', isGone: false, output: '' }],
  ])('of storage loses nothing where the probe %s', async (_, result) => {
    machine.mount('/mnt/shared');
    expect(await run('storage', ['/mnt/shared'], answering(result))).toMatchObject({ health: 'unknown', targets: [{ reach: 'unknown' }] });
  });

  it('of kdump tells who is notified, from a process of its own', async () => {
    machine.write({
      'sys/kernel/kexec_crash_loaded': '1\n',
      'sys/kernel/kexec_crash_size': '268435456\n',
      'etc/kdump.conf': 'fence_kdump_nodes 192.0.2.1 192.0.2.2\n',
    });
    expect(await run('kdump')).toEqual({
      health: 'ok',
      sentence: 'kdump is armed, and notifies 192.0.2.1, 192.0.2.2',
      kdump: { isArmed: true, notifies: ['192.0.2.1', '192.0.2.2'] },
    });
  });

  it('is none of kdump and of the previous boot where it is not shown the files of the node', () => {
    const { root, stateFolder } = machine;
    const none = answering({ kind: 'absent' });
    const ports = { root, clock: new SystemClock(), children: none, probes: none, runFolder: stateFolder, stateFolder };
    const names = (seesFiles: boolean): string[] => daemonChecks({ ...ports, seesFiles }, []).map(({ name }) => name);
    expect(names(false)).toEqual(['multipath', 'watchdog', 'bmc', 'hardware']);
    expect(names(true)).toEqual(['multipath', 'watchdog', 'bmc', 'hardware', 'kdump', 'previous-boot']);
  });

  it('of file systems is one only where it is asked for, and writes to its own folder and to those that are named', async () => {
    const { root, stateFolder } = machine;
    const asked: string[] = [];
    const run: Children['run'] = (_key, _program, [, what = '', path = '']) => {
      asked.push(`${what} ${path}`);
      return Promise.resolve({
        kind: 'ended',
        code: 0,
        errors: '',
        output: what === 'mount' ? 'begins\nanswered\n' : '{"health":"ok","sentence":"well"}',
      });
    };
    const ports = { root, clock: new SystemClock(), children: { run }, probes: { run }, runFolder: stateFolder, stateFolder, seesFiles: true };
    const fileSystems = { ownFolder: '/var/lib/nodefence', written: ['/data'], byDesign: ['/usr'] };
    const found = await daemonChecks({ ...ports, fileSystems }, [])
      .find(({ name }) => name === 'file-systems')
      ?.run();
    expect(found).toEqual({ health: 'ok', sentence: 'well', well: ['ReadonlyFilesystem'] });
    expect(asked).toEqual([`mount ${join('/var/lib/nodefence', PROBE)}`, `mount ${join(root, 'data', PROBE)}`, `file-systems ${root}`]);
    expect(daemonChecks({ ...ports, fileSystems, seesFiles: false }, []).map(({ name }) => name)).not.toContain('file-systems');
  });

  it('remembers what it must know in its next run', async () => {
    machine.write({ 'sys/devices/system/edac/mc/mc0/ce_count': '1\n', 'sys/devices/system/edac/mc/mc0/ue_count': '0\n' });
    expect(await run('hardware')).toMatchObject({ sentence: 'first reading of the memory errors: a baseline' });
    machine.write({ 'sys/devices/system/edac/mc/mc0/ue_count': '1\n' });
    expect(await run('hardware')).toMatchObject({ health: 'problem', sentence: '1 uncorrected memory error in 24 h, more than 0' });
  });

  it.each<CheckName>(['multipath', 'watchdog', 'bmc', 'kdump', 'hardware', 'previous-boot'])(
    'of %s cannot look at what the machine does not have, and says so',
    async (name) => {
      expect(await run(name)).toMatchObject({ health: 'unknown', sentence: expect.stringMatching(/^not checked: /) as string });
    },
  );

  it.each<[string, ChildResult, string]>([
    ['hangs', { kind: 'late', isGone: false, output: '' }, 'check did not end in time'],
    ['still hangs', { kind: 'still-there', pid: 7, forMs: 1, hasSpoken: false }, 'an earlier check still hangs (process 7)'],
    ['says nothing', { kind: 'ended', code: 1, output: '', errors: '' }, 'the check ended without a word'],
    ['says something else', { kind: 'ended', code: 0, output: '{"health":"fine","sentence":"x"}', errors: '' }, 'the check ended without a word'],
  ])('of files that %s could not look', async (_, result, why) => {
    expect(await run('kdump', [], answering(result))).toEqual({ health: 'unknown', sentence: `not checked: ${why}` });
  });
});
