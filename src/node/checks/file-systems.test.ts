import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckFound } from '../../ports/node-checks.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { Children } from './children.ts';
import type { ChildResult } from './children.ts';
import { checkFileSystems } from './file-systems.ts';
import { mountOf, mountsIn } from './mount-table.ts';
import { judgeMounts } from './mount-verdict.ts';
import { MachineFolder } from './testing/machine-folder.ts';

let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

const line = (device: string, point: string, what: string, mount = 'rw'): string => `30 1 ${device} / ${point} ${mount},relatime - ${what}`;
const ROOT = line('8:1', '/', 'ext4 /dev/sda1 rw');
/** What a pod is shown of its node's disk. */
const OWN = mountsIn([line('0:70', '/', 'overlay overlay rw'), line('8:1', '/var/lib/nodefence', 'ext4 /dev/sda1 rw')].join('\n'));
const judged = (lines: readonly string[], byDesign: readonly string[] = [], folder = '/var/lib/nodefence'): string =>
  judgeMounts(mountsIn([ROOT, ...lines].join('\n')), OWN, { folders: [folder], byDesign }).sentence;

describe('the mounts of a node', () => {
  it('are well where no file system of a disk is read-only, however its mounts are', () => {
    const others = [
      line('8:1', '/usr', 'ext4 /dev/sda1 rw', 'ro'),
      line('8:2', '/data', 'xfs /dev/sda2 rw'),
      line('7:1', '/snap/core', 'squashfs /dev/loop1 ro'),
      line('11:0', '/media', 'iso9660 /dev/sr0 ro'),
      line('0:22', '/sys', 'sysfs sysfs ro'),
    ];
    expect(judged(others)).toBe('none of 2 file systems is read-only, 1 of them written to');
  });

  it.each([
    ['was remounted read-only', 'ext4 /dev/sdb1 ro'],
    ['takes no writes since Linux 6.12', 'ext4 /dev/sdb1 rw,errors=remount-ro,emergency_ro'],
    ['was shut down', 'ext4 /dev/sdb1 rw,shutdown'],
    ['has no device of its own', 'btrfs /dev/sdb ro'],
    ['is a pool', 'zfs tank/data ro'],
  ])('are not where one %s', (_, what) => {
    expect(judged([line('8:17', '/data', what)])).toBe(`read-only: /data (${what.split(' ')[1]})`);
  });

  it('are well where that is by design, and only there', () => {
    const two = [
      line('254:0', '/usr', 'ext4 /dev/dm-0 ro'),
      line('254:1', '/data', 'ext4 /dev/dm-1 ro'),
      line('254:1', '/data/a', 'ext4 /dev/dm-1 ro'),
    ];
    expect(judged(two)).toBe('read-only: /usr (/dev/dm-0), and 1 other');
    expect(judged(two, ['/usr'])).toBe('read-only: /data (/dev/dm-1)');
    expect(judged(two, ['/usr', '/data'])).toBe('none of 3 file systems is read-only, 1 of them written to');
  });

  it('say nothing where what was written to is none of them', () => {
    expect(judged([], [], '/tmp')).toBe('not checked: /tmp lies on no disk of the node');
    const memory = mountsIn(line('0:30', '/', 'tmpfs tmpfs rw'));
    expect(judgeMounts(memory, OWN, { folders: [], byDesign: [] }).sentence).toBe(
      'not checked: process 1 of the node has mounted no file system of a disk',
    );
  });
});

async function look(folder: string, root = machine.root, byDesign: string[] = [], children?: Pick<Children, 'run'>): Promise<CheckFound> {
  const real = new Children({ clock: new SystemClock(), stateFolder: machine.stateFolder });
  return checkFileSystems({ root, children: children ?? real }, { folders: [folder], byDesign, prober: '-test', deadlineMs: 20_000 });
}

/** The disk that the folder of this test really lies on, as one of the machine's. */
function ownDisk(options = 'rw'): string {
  const own = mountOf(mountsIn(readFileSync('/proc/self/mountinfo', 'utf8')), machine.root);
  return line(own?.device ?? '', '/', `ext4 /dev/sda1 ${options}`);
}

describe('a look at file systems', { timeout: 90_000 }, () => {
  it('writes, reads the mounts of process 1, and tells what is over', async () => {
    machine.write({ 'proc/1/mountinfo': `${ownDisk()}\n` });
    expect(await look(machine.root)).toEqual({
      health: 'ok',
      sentence: 'none of 1 file system is read-only, 1 of them written to',
      well: ['ReadonlyFilesystem'],
    });
  });

  it('tells nothing to be over where one is read-only, though another takes writes', async () => {
    machine.write({ 'proc/1/mountinfo': `${ownDisk()}\n${line('8:17', '/data', 'ext4 /dev/sdb1 ro')}\n` });
    expect(await look(machine.root)).toEqual({ health: 'problem', sentence: 'read-only: /data (/dev/sdb1)' });
  });

  it('tells nothing where the mounts of process 1 are not there', async () => {
    expect(await look(machine.root)).toEqual({ health: 'unknown', sentence: 'not checked: /proc/1/mountinfo is not there' });
  });

  it.each<[string, ChildResult, CheckFound]>([
    ['hangs', { kind: 'late', isGone: false, output: 'begins\n' }, { health: 'problem', sentence: 'no answer for 20 s: /a' }],
    ['is refused', ended('begins\nrefused EROFS open\n'), { health: 'problem', sentence: 'open fails with EROFS: /a' }],
    [
      'finds no room',
      ended('begins\nrefused ENOSPC write\n'),
      { health: 'unknown', sentence: 'not checked: nothing can be written to /a, which is full' },
    ],
    [
      'did not get to run',
      { kind: 'late', isGone: true, output: '' },
      { health: 'unknown', sentence: 'not checked: the probe did not get to run (/a)' },
    ],
  ])('tells nothing to be over where the write %s', async (_, result, found) => {
    expect(await look('/a', machine.root, [], { run: () => Promise.resolve(result) })).toEqual(found);
  });
});

function ended(output: string): ChildResult {
  return { kind: 'ended', code: 0, output, errors: '' };
}

/** A file as a disk, with ext4 on it. */
function mounted(): string | undefined {
  const [image, point] = [join(machine.root, 'disk'), join(machine.root, 'mnt')];
  mkdirSync(point);
  writeFileSync(image, Buffer.alloc(16_777_216));
  const run = (program: string, ...words: string[]): boolean => spawnSync(program, words).status === 0;
  return run('mkfs.ext4', '-q', image) && run('mount', '-o', 'loop,errors=remount-ro', image, point) ? point : undefined;
}

/** The real lines of this disk and of what is mounted there: others may run this test too. */
function ofThisTest(mount: string): string {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return [ownDisk(), ...lines.filter((each) => mountsIn(each)[0]?.point === mount), ''].join('\n');
}

const isRoot = process.getuid?.() === 0 && existsSync('/dev/loop-control') && spawnSync('mkfs.ext4', ['-V']).error === undefined;

describe.runIf(isRoot)('a real ext4 that meets an error (needs root, loop devices and mkfs.ext4)', { timeout: 120_000 }, () => {
  let point: string | undefined;
  afterEach(() => {
    if (point !== undefined) spawnSync('umount', [point]);
  });

  it('is well before, and read-only after', async (context) => {
    point = mounted();
    if (point === undefined) return context.skip('this kernel mounts no file as a disk');
    const found = mountsIn(readFileSync('/proc/self/mountinfo', 'utf8')).find((one) => one.point === point);
    const trigger = `/sys/fs/ext4/${basename(found?.source ?? '')}/trigger_fs_error`;
    if (!existsSync(trigger)) return context.skip(`this kernel has no ${trigger}`);
    machine.write({ 'proc/1/mountinfo': ofThisTest(point) });
    expect(await look(point)).toMatchObject({ well: ['ReadonlyFilesystem'] });

    writeFileSync(trigger, '1');
    expect(await look(point)).toEqual({ health: 'problem', sentence: `open fails with EROFS: ${point}` });
    const elsewhere = await lookedElsewhere(point);
    expect(elsewhere.sentence).toBe(`read-only: ${point} (${found?.source})`);
    expect(elsewhere.well).toBeUndefined();
  });

  /** A write to another disk says nothing of this one, and its line in the table does. */
  async function lookedElsewhere(point: string): Promise<CheckFound> {
    const folder = new MachineFolder();
    try {
      folder.write({ 'proc/1/mountinfo': ofThisTest(point) });
      return await look(folder.root, folder.root);
    } finally {
      folder.remove();
    }
  }
});
