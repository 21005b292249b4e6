import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { programPath } from '../../testbed/shipped/program.ts';

const MAIN = programPath('main');
const folder = mkdtempSync(join(tmpdir(), 'nodefence-frozen-'));
const memory = join(folder, 'memory');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file system of our own, in a mount namespace of our own; in memory: a busy disk answers late as well. What is frozen is thawed whatever happens to the test. */
const MOUNTED = `set -e
mkdir -p ${memory} && mount -t tmpfs tmpfs ${memory} && cd ${memory}
truncate -s 32M disk && mkfs.ext4 -q disk && mkdir mnt && mount -o loop disk mnt`;
const SCRIPT = `${MOUNTED}
(sleep 90; fsfreeze -u ${memory}/mnt) >/dev/null 2>&1 & thaw=$!
check() { set +e; "$NODE" "$MAIN" node check storage --state state --mount ${memory}/mnt --deadline "$1"; echo "code $?"; set -e; }
children() { ps -eo stat,args | grep '[s]torage-child.* ${folder}' | cut -c1 | tr -d '\\n'; echo ' children'; }
check 30
fsfreeze -f mnt
check 2; children
check 2; children
fsfreeze -u mnt
kill $thaw
sleep 2; children
check 30
cd / && umount --lazy ${memory}`;

const isAble =
  process.getuid?.() === 0 &&
  existsSync('/dev/loop-control') &&
  spawnSync('unshare', ['-m', 'sh', '-c', `${MOUNTED}; command -v fsfreeze ps; cd / && umount --lazy ${memory}`]).status === 0;

describe.skipIf(!isAble)('storage that holds its probe in the kernel, which not even SIGKILL ends (fsfreeze, as root)', { timeout: 180_000 }, () => {
  it('is lost, with one probe in all, until it answers again', () => {
    const env = { PATH: process.env['PATH'] ?? '', NODE: process.execPath, MAIN };
    const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', SCRIPT], { encoding: 'utf8', env });
    expect({ lines: stdout.replaceAll(/for [\d.]+ s/g, 'for N s').split('\n'), stderr }).toEqual({
      lines: [
        '1 storage target answered',
        'code 0',
        ...[1, 2].flatMap(() => [`no answer for N s: ${memory}/mnt`, 'code 1', 'D children']),
        ' children',
        '1 storage target answered',
        'code 0',
        '',
      ],
      stderr: '',
    });
  });
});
