import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { programPath } from '../../testbed/shipped/program.ts';

const SRC = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nodefence-frozen-lease-'));
const memory = join(folder, 'memory');
const mount = join(memory, 'mnt');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Renews a slot as the daemon does, and tells each time what it found, whether in time, and whether its event loop got its turns meanwhile. */
const RENEWING = `
import { spawnSync } from 'node:child_process';
import { LeaseDisk } from '${SRC}node/checks/lease-disk.ts';
import { StorageLease } from '${SRC}node/checks/storage-lease.ts';
import { SystemClock } from '${SRC}runtime/system-clock.ts';
const clock = new SystemClock();
const path = process.argv[2];
const disk = new LeaseDisk({ clock, path, stateFolder: '${memory}/state' });
const own = { node: 'a', systemUUID: 'u-a', bootID: '11111111-2222-4333-8444-555555555555', intervalMs: 5000, cluster: 'prod', path };
const lease = new StorageLease(clock, disk, own);
let turns = 0;
setInterval(() => (turns += 1), 50).unref();
const renew = async (when) => {
  turns = 0;
  const beganMs = performance.now();
  const { health, lease: found } = await lease.renew();
  const tookMs = performance.now() - beganMs;
  console.log(when, health, found.reach, tookMs < 8000 ? 'in time' : 'late', turns >= Math.floor(tookMs / 250) - 1 ? 'gets on' : 'stood still');
};
/** Not by its command line, which one that is ending has no more. */
const children = () => {
  const { stdout } = spawnSync('ps', ['--ppid', String(process.pid), '-o', 'stat=,comm='], { encoding: 'utf8' });
  return stdout.split('\\n').filter((line) => line !== '' && !line.endsWith(' ps')).map((line) => line[0]).join('');
};
await renew('first');
await renew('second');
spawnSync('fsfreeze', ['-f', '${mount}']);
for (const when of ['frozen', 'again', 'and again']) {
  await renew(when);
  console.log('children', children());
}
spawnSync('fsfreeze', ['-u', '${mount}']);
for (let waits = 0; children() !== '' && waits < 100; waits += 1) await clock.sleep(100);
await renew('thawed');
await renew('after');
disk.close();
`;
/** A file system of our own, in a mount namespace of our own; in memory: a disk that others keep busy answers late without being frozen. What is frozen is thawed whatever happens to the test. */
const MOUNTED = `set -e
mkdir -p ${memory} && mount -t tmpfs tmpfs ${memory} && cd ${memory}
truncate -s 32M disk && mkfs.ext4 -q disk && mkdir mnt && mount -o loop disk mnt`;
/** Whoever looks at loop devices just then may hold it for a moment: what is unmounted lazily goes after that. */
const SCRIPT = `${MOUNTED}
truncate -s 1M mnt/lease
path=${mount}/lease
[ "$KIND" = file ] || path=$(losetup --find --show mnt/lease)
"$NODE" "$MAIN" node storage-lease init $path --cluster prod --slots 8 --state cli
(sleep 90; fsfreeze -u ${mount}) >/dev/null 2>&1 & thaw=$!
"$NODE" ${folder}/renewing.mjs $path
kill $thaw
[ "$KIND" = file ] || losetup --detach $path
cd / && umount --lazy ${memory}`;

const isAble =
  process.getuid?.() === 0 &&
  existsSync('/dev/loop-control') &&
  spawnSync('unshare', ['-m', 'sh', '-c', `${MOUNTED}; command -v fsfreeze ps; cd / && umount --lazy ${memory}`]).status === 0;

describe.skipIf(!isAble)(
  'a storage lease whose write the kernel holds, which not even SIGKILL ends (fsfreeze, as root)',
  { timeout: 180_000 },
  () => {
    // A block device that hangs: the kernel keeps what is written to it waiting for the file below.
    it.each(['file', 'block device'])('on a %s is lost in time, with one child in all, holds up nothing, and is renewed again after it', (kind) => {
      writeFileSync(join(folder, 'renewing.mjs'), RENEWING);
      const env = { PATH: process.env['PATH'] ?? '', NODE: process.execPath, MAIN: programPath('main'), KIND: kind };
      const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', SCRIPT], { encoding: 'utf8', env });
      expect({ lines: stdout.split('\n'), stderr }).toEqual({
        lines: [
          'laid out: 8 slots in sectors of 4096 bytes for cluster prod',
          ...['first', 'second'].map((when) => `${when} ok reachable in time gets on`),
          ...['frozen', 'again', 'and again'].flatMap((when) => [`${when} problem lost in time gets on`, 'children D']),
          ...['thawed', 'after'].map((when) => `${when} ok reachable in time gets on`),
          '',
        ],
        stderr: '',
      });
    });
  },
);
