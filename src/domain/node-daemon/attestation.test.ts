import { describe, expect, it } from 'vitest';
import { ATTESTATION, parseAttestation } from './attestation.ts';
import type { Attestation } from './attestation.ts';

const WHOLE = { bootID: 'boot', systemUUID: 'uuid', peers: [] };
const parsed = (value: object): Attestation | undefined =>
  parseAttestation({ metadata: { annotations: { [ATTESTATION]: JSON.stringify({ ...WHOLE, ...value }) } } });

describe('an attestation', () => {
  it('of an older daemon says nothing of storage and kdump', () => {
    expect(parsed({})).toEqual(WHOLE);
  });

  it('says what the checks found', () => {
    const storageLease = { id: '0a1b2c3d-0000-4000-8000-00000000000f', slot: 7, intervalMs: 5_000 };
    const found = {
      storage: 'lost',
      storageLease,
      kdump: { isArmed: true, notifies: ['192.0.2.1', '192.0.2.2'] },
      proposedBmc: { address: '198.51.100.7' },
    };
    expect(parsed(found)).toEqual({ ...WHOLE, ...found });
  });

  it('says what its daemon found well, and leaves out what it does not know', () => {
    const well = { type: 'ReadonlyFilesystem', at: '2026-02-03T04:05:06Z' };
    expect(parsed({ foundWell: [well, { ...well, type: 'KernelDeadlock' }] })).toEqual({ ...WHOLE, foundWell: [well] });
    expect(parsed({ foundWell: 'all' })).toEqual(WHOLE);
  });

  it('says what became of the last orders, and leaves out what it does not know', () => {
    const done = { id: 'a', action: 'reboot', state: 'done', words: 'w' };
    expect(parsed({ orders: [done] })).toEqual({ ...WHOLE, orders: [done] });
    const odd = [{ ...done, state: 'postponed' }, { ...done, action: 'dance' }, { ...done, words: 1 }, 'x', { ...done, words: 'a\u001Bb' }];
    expect(parsed({ orders: odd })).toEqual({ ...WHOLE, orders: [{ ...done, words: 'a b' }] });
    const refused = { ...done, state: 'refused', why: 'expired' };
    expect(parsed({ orders: [refused, { ...refused, why: 'bad mood' }] })?.orders?.map(({ why }) => why)).toEqual(['expired', undefined]);
    expect(parsed({ orders: 'none' })).toEqual(WHOLE);
    expect(parsed({ orders: Array.from({ length: 9 }, (_, index) => ({ ...done, id: String(index) })) })?.orders?.map(({ id }) => id)).toEqual([
      '5',
      '6',
      '7',
      '8',
    ]);
  });

  it.each<[string, object]>([
    ['storage without a word', { storage: '' }],
    ['storage in too many words', { storage: 'x'.repeat(254) }],
    ['a storage lease without a slot', { storageLease: { id: '0a1b2c3d-0000-4000-8000-00000000000f', intervalMs: 5_000 } }],
    ['a storage lease whose slot is none', { storageLease: { id: '0a1b2c3d-0000-4000-8000-00000000000f', slot: 8_191, intervalMs: 5_000 } }],
    ['a storage lease that is renewed once a day', { storageLease: { id: '0a1b2c3d-0000-4000-8000-00000000000f', slot: 7, intervalMs: 86_400_000 } }],
    ['a storage lease whose ID is words', { storageLease: { id: 'call me', slot: 7, intervalMs: 5_000 } }],
    ['kdump that is a word', { kdump: 'armed' }],
    ['kdump that notifies nobody knows whom', { kdump: { isArmed: true } }],
    ['kdump that may be armed', { kdump: { isArmed: 'yes', notifies: [] } }],
    ['kdump that notifies too many', { kdump: { isArmed: true, notifies: Array.from({ length: 17 }, (_, index) => `192.0.2.${index}`) } }],
    ['kdump with an address that is too long', { kdump: { isArmed: true, notifies: ['x'.repeat(254)] } }],
    ['a BMC without an address', { proposedBmc: { mac: '02:00:5e:00:53:0a' } }],
    ['a BMC whose address is words', { proposedBmc: { address: 'call +1 555 0100' } }],
    ['a BMC whose MAC is words', { proposedBmc: { address: '198.51.100.7', mac: 'approved by the admin' } }],
  ])('with %s is not whole', (_, part) => {
    expect(parsed(part)).toBeUndefined();
  });
});
