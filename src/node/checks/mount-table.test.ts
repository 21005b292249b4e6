import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mountOf, mountsIn } from './mount-table.ts';

const TABLE = [
  '30 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro',
  '31 30 0:42 / /mnt/two\\040words ro,relatime master:2 propagate_from:3 - nfs4 filer:/a\\040b rw,vers=4.2',
  '32 30 253:2 / /var rw - xfs /dev/vda2 rw',
  '33 32 253:3 / /var rw - xfs /dev/vda3 rw',
].join('\n');

describe('a table of mounts', () => {
  it('says of each its file system, with blanks in names, and the options of the file system itself', () => {
    expect(mountsIn(`${TABLE}\n`).slice(0, 2)).toEqual([
      { device: '253:1', point: '/', type: 'ext4', source: '/dev/vda1', options: ['rw', 'errors=remount-ro'] },
      { device: '0:42', point: '/mnt/two words', type: 'nfs4', source: 'filer:/a b', options: ['rw', 'vers=4.2'] },
    ]);
  });

  it.each([
    ['/etc/hosts', '253:1'],
    ['/mnt/two words', '0:42'],
    ['/mnt/two words more', '253:1'],
    ['/var/lib/nodefence', '253:3'],
  ])('tells that %s lies on %s: the innermost, and the last that was mounted there', (path, device) => {
    expect(mountOf(mountsIn(TABLE), path)?.device).toBe(device);
  });

  it('never throws, whatever stands there', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(mountsIn(text).length).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
