import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, symlinkSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { Children } from './children.ts';
import { checkStorage, judgeStorage, reachOf } from './storage.ts';
import type { StorageVerdict } from './storage.ts';
import { outcomeOf } from './storage-probe.ts';
import type { StorageTarget, TargetOutcome } from './storage-probe.ts';
import { MachineFolder } from './testing/machine-folder.ts';

let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

const PROBE = `.nodefence-probe-${hostname()}`;
const mount = (path: string): StorageTarget => ({ kind: 'mount', path });
const device = (path: string): StorageTarget => ({ kind: 'device', path });
const fifo = (path: string): void => expect(spawnSync('mkfifo', [join(machine.root, path)]).status).toBe(0);

/** A program of the machine in the test's folder. */
function program(name: string, script: string): string {
  machine.write({ [name]: `#!/bin/sh\n${script}\n` });
  chmodSync(join(machine.root, name), 0o700);
  return join(machine.root, name);
}

async function check(
  targets: readonly StorageTarget[],
  programs: { multipathd?: string; multipath?: string } = {},
  deadlineMs = 20_000,
): Promise<StorageVerdict> {
  const children = new Children({ clock: new SystemClock(), stateFolder: machine.stateFolder });
  const absent = { multipathd: 'nodefence-no-multipathd', multipath: 'nodefence-no-multipath' };
  return checkStorage({ root: machine.root, children, ...absent, ...programs }, { targets, deadlineMs });
}

describe('a mount', { timeout: 60_000 }, () => {
  it('is reachable when a write, its sync and a read are answered', async () => {
    machine.mount('/mnt/shared');
    expect(await check([mount('/mnt/shared')])).toEqual({ health: 'ok', reach: 'reachable', sentence: '1 storage target answered' });
    expect(readdirSync(join(machine.root, 'mnt/shared'))).toEqual([PROBE]);
  });

  it('is lost when nothing is mounted there: the disk below would answer', async () => {
    machine.mount('/mnt/other');
    expect(await check([mount('/mnt/shared')])).toEqual({ health: 'problem', reach: 'lost', sentence: 'not mounted: /mnt/shared' });
  });

  it('is lost when it hangs, and nothing waits for it', async () => {
    machine.mount('/mnt/shared');
    fifo(`mnt/shared/${PROBE}`);
    expect(await check([mount('/mnt/shared')], {}, 3_000)).toEqual({ health: 'problem', reach: 'lost', sentence: 'no answer for 3 s: /mnt/shared' });
  });

  it('of which others made a link into the machine writes nothing there', async () => {
    machine.mount('/mnt/shared');
    machine.write({ 'etc/passwd': 'root' });
    symlinkSync(join(machine.root, 'etc/passwd'), join(machine.root, 'mnt/shared', PROBE));
    expect(await check([mount('/mnt/shared/')])).toMatchObject({ reach: 'unknown', sentence: 'not checked: open fails with ELOOP (/mnt/shared/)' });
    expect(readFileSync(join(machine.root, 'etc/passwd'), 'utf8')).toBe('root');
  });

  it('is found in the table of mounts of a node with hundreds of pods', async () => {
    machine.mount(...Array.from({ length: 800 }, (_, index) => `/var/lib/kubelet/pods/${String(index).padStart(36, '0')}/volumes`), '/mnt/shared');
    expect(await check([mount('/mnt/shared')])).toMatchObject({ reach: 'reachable' });
  });

  it('is unknown where the table of mounts is not there', async () => {
    expect(await check([mount('/mnt/shared')])).toMatchObject({
      health: 'unknown',
      sentence: 'not checked: /proc/self/mountinfo is not there (/mnt/shared)',
    });
  });
});

describe('a device', { timeout: 60_000 }, () => {
  it('is reachable when its first block can be read', async () => {
    machine.write({ 'dev/shared': 'x'.repeat(8_192) });
    expect(await check([device('/dev/shared')])).toMatchObject({ reach: 'reachable' });
  });

  it('is lost when a read hangs', async () => {
    machine.write({ 'dev/null': '' });
    fifo('dev/shared');
    expect(await check([device('/dev/shared')], {}, 2_000)).toMatchObject({ reach: 'lost', sentence: 'no answer for 2 s: /dev/shared' });
  });

  it('that is not there is unknown', async () => {
    expect(await check([device('/dev/shared')])).toMatchObject({ reach: 'unknown', sentence: 'not checked: read fails with ENOENT (/dev/shared)' });
  });
});

describe('the verdict', () => {
  const of = (outcome: TargetOutcome, path = '/mnt/a'): StorageVerdict => judgeStorage([{ ...mount(path), outcome }], {});

  it.each(['EIO', 'ESTALE', 'EROFS', 'EBADE', 'ENOTCONN', 'ENODEV', 'ETIMEDOUT'])('of %s is lost', (code) => {
    expect(of({ kind: 'refused', code, step: 'sync' })).toEqual({ health: 'problem', reach: 'lost', sentence: `sync fails with ${code}: /mnt/a` });
  });

  it.each(['ENOSPC', 'EDQUOT'])('of %s is reachable: it answered', (code) => {
    expect(of({ kind: 'refused', code, step: 'write' }).reach).toBe('reachable');
  });

  it.each(['EACCES', 'EPERM', 'ENOENT', 'EINVAL', 'EMFILE'])('of %s is unknown: it says nothing of the storage', (code) => {
    expect(of({ kind: 'refused', code, step: 'open' })).toMatchObject({ health: 'unknown', reach: 'unknown' });
  });

  it('is lost where one of several is lost, whatever else is unknown', () => {
    const readings = [
      { ...mount('/mnt/a'), outcome: { kind: 'not-probed', why: 'x' } },
      { ...mount('/mnt/b'), outcome: { kind: 'silent', forMs: 61_234 } },
      { ...mount('/mnt/c'), outcome: { kind: 'not-mounted' } },
    ] as const;
    expect(judgeStorage(readings, { fc: { total: 2, up: 0 } })).toEqual({
      health: 'problem',
      reach: 'lost',
      sentence: 'no answer for 61.2 s: /mnt/b; 2 of 3 are lost; 0 of 2 FC ports up',
    });
  });

  it('of a named target is not changed by the paths of maps that nobody named', () => {
    const paths = { maps: [{ name: 'old', usable: 0, paths: 2 }] };
    expect(judgeStorage([{ ...mount('/mnt/a'), outcome: { kind: 'answered' } }], paths)).toMatchObject({
      reach: 'reachable',
      sentence: '1 storage target answered; 0 of 2 paths up',
    });
  });

  it('is that of the paths where nothing is named', () => {
    expect(judgeStorage([], {})).toMatchObject({ reach: 'unknown', health: 'unknown' });
    expect(judgeStorage([], { fc: { total: 2, up: 1 } })).toMatchObject({ reach: 'reachable', sentence: '1 of 2 FC ports up' });
    expect(judgeStorage([], { fc: { total: 2, up: 0 } })).toMatchObject({ reach: 'lost', sentence: 'no FC port of 2 is up' });
    expect(judgeStorage([], { iscsi: { total: 1, up: 0 } })).toMatchObject({ reach: 'lost', sentence: 'no iSCSI session of 1 is up' });
    expect(judgeStorage([], { maps: [{ name: 'mpatha', usable: 0, paths: 4 }] })).toMatchObject({
      reach: 'lost',
      sentence: 'no usable path of 4 paths: mpatha',
    });
    expect(judgeStorage([], { multipathUnknown: 'multipath -ll did not end in time' })).toMatchObject({ reach: 'unknown' });
  });
});

describe('the paths', { timeout: 60_000 }, () => {
  it('are those of multipathd, FC ports and iSCSI sessions', async () => {
    machine.write({
      'sys/class/fc_host/host1/port_state': 'Online\n',
      'sys/class/fc_host/host2/port_state': 'Linkdown\n',
      'sys/class/iscsi_session/session1/state': 'LOGGED_IN\n',
      'sys/class/iscsi_session/session2/state': 'FAILED\n',
    });
    const multipathd = program('multipathd', 'echo "mpatha sda active ready running"; echo "mpatha sdb failed faulty running"');
    expect(await check([], { multipathd })).toEqual({
      health: 'ok',
      reach: 'reachable',
      sentence: '1 of 2 paths up, 1 of 2 FC ports up, 1 of 2 iSCSI sessions up',
    });
  });

  it('are those of multipath -ll where the daemon does not answer', async () => {
    const multipathd = program('multipathd', 'echo "error receiving packet"; exit 1');
    const multipath = program('multipath', "printf 'mpatha (36001) dm-0 A,B\\n`-+- policy\\n  `- 3:0:0:1 sda 8:0 failed faulty running\\n'");
    expect(await check([], { multipathd, multipath })).toMatchObject({ reach: 'lost', sentence: 'no usable path of 1 path: mpatha' });
  });

  it('are unknown where multipath hangs', async () => {
    expect(await check([], { multipath: program('multipath', 'exec sleep 60') }, 1_000)).toMatchObject({
      reach: 'unknown',
      sentence: 'not checked: multipath -ll did not end in time',
    });
  });
});

describe('what is read', () => {
  it('of a probe is one of two sentences, or nothing', () => {
    const said = (output: string): string => outcomeOf({ kind: 'ended', code: 0, output, errors: '' }, 1_000).kind;
    expect(said('begins\nanswered\n')).toBe('answered');
    expect(said('begins\nrefused EIO sync\n')).toBe('refused');
    expect(said('begins\n')).toBe('not-probed');
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(said(text)).toBe('not-probed');
      }),
    );
  });

  it('of a probe that is late tells a storage that hangs from a machine that is too busy, and hears an answer that was given in time', () => {
    const late = (output: string): string => outcomeOf({ kind: 'late', isGone: true, output }, 1_000).kind;
    const there = (hasSpoken: boolean): string => outcomeOf({ kind: 'still-there', pid: 7, forMs: 9_000, hasSpoken }, 1_000).kind;
    expect([late(''), late('begins\n'), late('begins\nanswered\n')]).toEqual(['not-probed', 'silent', 'answered']);
    expect([there(false), there(true)]).toEqual(['not-probed', 'silent']);
  });

  it('of one that takes the node down is less than of a condition: where nothing is mounted nothing is written', () => {
    const reach = (outcome: TargetOutcome): string => reachOf({ ...mount('/mnt/a'), outcome });
    expect(reach({ kind: 'not-mounted' })).toBe('unknown');
    expect(reach({ kind: 'not-probed', why: 'x' })).toBe('unknown');
    expect(reach({ kind: 'silent', forMs: 5_000 })).toBe('lost');
    expect(reach({ kind: 'refused', code: 'EIO', step: 'sync' })).toBe('lost');
    expect(reach({ kind: 'refused', code: 'ENOSPC', step: 'write' })).toBe('reachable');
  });
});
