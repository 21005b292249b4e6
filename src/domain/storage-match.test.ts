import { describe, expect, it } from 'vitest';
import { isOnStorage, unknownTerms } from './storage-match.ts';
import type { VolumeFacts } from './storage-match.ts';

const RBD: VolumeFacts = {
  name: 'pv-1',
  storageClass: 'fast',
  driver: 'rbd.csi.ceph.com',
  handle: '0001-pool-7',
  nfs: undefined,
  iscsi: undefined,
};
const NFS: VolumeFacts = { ...RBD, name: 'pv-2', storageClass: undefined, driver: undefined, handle: undefined, nfs: '10.0.0.5' };
const ISCSI: VolumeFacts = { ...NFS, name: 'pv-3', nfs: undefined, iscsi: '10.0.0.7:3260' };

describe('storage_match', () => {
  it.each([
    ['driver:rbd.csi.ceph.com', RBD, true],
    ['driver:rbd.csi', RBD, false],
    ['handle:0001-', RBD, true],
    ['driver:rbd.csi.ceph.com+handle:0002-', RBD, false],
    ['nfs:10.0.0.9 class:fast', RBD, true],
    ['class:fast', NFS, false],
    ['nfs:10.0.0.5', NFS, true],
    ['iscsi:10.0.0.7', ISCSI, true],
    ['iscsi:10.0.0.7:3260', ISCSI, true],
    ['iscsi:10.0.0.70', ISCSI, false],
    ['volume:pv-3', ISCSI, true],
    ['', RBD, false],
    ['colour:red', RBD, false],
    ['handle:', RBD, false],
  ])('%j of %j is %s', (match, volume, expected) => {
    expect(isOnStorage(match, volume)).toBe(expected);
  });

  it('tells which of its terms mean nothing', () => {
    expect(unknownTerms('driver:x colour:red nfs: class')).toEqual(['colour:red', 'nfs:', 'class:']);
    expect(unknownTerms('driver:x+handle:y')).toEqual([]);
  });
});
