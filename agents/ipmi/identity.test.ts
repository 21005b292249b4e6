import { describe, expect, it } from 'vitest';

import { checkIdentity, meanings } from './identity.ts';

const WIRE = '00112233445566778899aabbccddee01';

describe('the meanings of a GUID', () => {
  it('are the four encodings that ipmitool knows', () => {
    expect(meanings(WIRE)).toEqual([
      '00112233445566778899aabbccddee01',
      '33221100554477668899aabbccddee01',
      '01eeddccbbaa99887766554433221100',
      'ccddee01aabb88997766554433221100',
    ]);
  });
});

describe('the identity of a machine', () => {
  it.each([
    '00112233-4455-6677-8899-aabbccddee01',
    '33221100-5544-7766-8899-AABBCCDDEE01',
    '{01eeddcc-bbaa-9988-7766-554433221100}',
    'urn:uuid:ccddee01-aabb-8899-7766-554433221100',
  ])('is verified by %s', (recorded) => {
    expect(checkIdentity(WIRE, recorded, undefined)).toEqual({ kind: 'verified' });
  });

  it('is another with any other digit', () => {
    const recorded = '00112233-4455-6677-8899-aabbccddee02';
    expect(checkIdentity(WIRE, recorded, undefined)).toEqual({
      kind: 'other',
      shown: '00112233-4455-6677-8899-aabbccddee01',
      expected: recorded,
      expectedBy: 'recorded',
    });
  });

  it.each([
    ['nothing is recorded', WIRE, undefined],
    ['a placeholder is recorded', WIRE, '03000200-0400-0500-0006-000700080009'],
    ['no UUID is recorded', WIRE, 'Not Settable'],
    ['the BMC has none', undefined, '00112233-4455-6677-8899-aabbccddee01'],
    ['the BMC shows zeros', '0'.repeat(32), '00112233-4455-6677-8899-aabbccddee01'],
    ['the BMC shows ones', 'f'.repeat(32), '00112233-4455-6677-8899-aabbccddee01'],
  ])('is unverified when %s', (_why, wire, recorded) => {
    expect(checkIdentity(wire, recorded, undefined).kind).toBe('unverified');
  });

  it('is never verified by a pinned GUID alone, and contradicted by one that differs', () => {
    const recorded = '4c4c4544-0030-5210-8047-c6c04f5a4333';
    expect(checkIdentity(WIRE, recorded, '00112233-4455-6677-8899-aabbccddee01').kind).toBe('unverified');
    expect(checkIdentity(WIRE, recorded, recorded)).toMatchObject({ kind: 'other', expectedBy: 'pinned' });
    expect(checkIdentity(undefined, recorded, recorded)).toMatchObject({ kind: 'other', expectedBy: 'pinned' });
    expect(checkIdentity(WIRE, '00112233-4455-6677-8899-aabbccddee01', '00112233-4455-6677-8899-aabbccddee01').kind).toBe('verified');
  });
});
