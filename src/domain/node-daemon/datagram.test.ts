import { createHmac } from 'node:crypto';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DATAGRAM_MAX_BYTES, DATAGRAM_TYPES, decode, encode, MAC_BYTES, SIGNS } from './datagram.ts';
import type { Datagram } from './datagram.ts';
import { open, seal } from './seal.ts';

const keyed =
  (secret: string) =>
  (bytes: Uint8Array): Uint8Array =>
    createHmac('sha256', secret).update(bytes).digest();
const right = keyed('right');
const BOOT = '0123abcd-1111-4222-8333-444455556666';
const HEARTBEAT: Datagram = { type: 'heartbeat', counter: 1_700, bootID: BOOT, signs: SIGNS.watchdogArmed | SIGNS.kdumpArmed, sender: 'worker-1' };

const ORDER = { id: '76543210-aaaa-4bbb-8ccc-ddddeeeeffff', action: 'reboot' } as const;

const uuid = fc.uuid().filter((text) => !/^[0-]+$/.test(text));
const name = fc.stringMatching(/^[a-z0-9][-a-z0-9.]{0,250}[a-z0-9]$/);
const datagram: fc.Arbitrary<Datagram> = fc
  .record(
    {
      type: fc.constantFrom(...DATAGRAM_TYPES),
      counter: fc.maxSafeNat(),
      signs: fc.nat({ max: 0xffffffff }),
      sender: name,
      bootID: uuid,
      subject: name,
      subjectBootID: uuid,
      publicKey: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
      address: fc
        .oneof(fc.ipV4(), name, fc.constant('[2001:db8::7]'))
        .chain((host) => fc.integer({ min: 1, max: 65_535 }).map((port) => `${host.slice(0, 240)}:${port}`)),
    },
    { requiredKeys: ['type', 'counter', 'signs', 'sender'] },
  )
  .map((made): Datagram => (made.type === 'order' ? { ...made, order: ORDER } : made));

describe('a datagram', () => {
  it('has the layout that the page says', () => {
    const hex = Buffer.from(encode({ ...HEARTBEAT, type: 'promise-request', subject: 'w-2', subjectBootID: BOOT.replace('0', 'f') })).toString('hex');
    expect(hex.match(/.{1,32}/g)).toEqual(
      [
        '4e4601' + '04' + '00000000000006a4' + '0123abcd',
        '11114222833344445555' + '6666' + '00000011',
        'f123abcd11114222833344445555' + '6666',
        '08' + Buffer.from('worker-1').toString('hex') + '03' + Buffer.from('w-2').toString('hex') + '0000',
      ]
        .join('')
        .match(/.{1,32}/g),
    );
  });

  it('says what was sealed', () => {
    fc.assert(
      fc.property(datagram, (said) => {
        const bytes = seal(said, right);
        expect(bytes.length).toBeLessThanOrEqual(DATAGRAM_MAX_BYTES);
        expect(open(bytes, () => [keyed('older'), right])).toMatchObject({ datagram: said });
      }),
    );
  });

  it('is refused when one bit of it changed', () => {
    const bytes = seal(HEARTBEAT, right);
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const changed = Uint8Array.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(
        open(changed, () => [right]),
        `bit ${bit}`,
      ).toHaveProperty('problem');
    }
  });

  it('is refused under a key of somebody else, and where no key is known', () => {
    const bytes = seal(HEARTBEAT, keyed('other'));
    expect(open(bytes, () => [right])).toMatchObject({ problem: 'forged', claimed: { sender: 'worker-1' } });
    expect(open(bytes, () => [])).toMatchObject({ problem: 'unknown sender' });
  });

  it('is never misread, whatever comes: it says the same when it is sent on', () => {
    const start = fc.constant(encode(HEARTBEAT).subarray(0, 4));
    const rest = fc.uint8Array({ maxLength: 700 });
    fc.assert(
      fc.property(
        fc.oneof(
          rest,
          fc.tuple(start, rest).map(([a, b]) => Uint8Array.from([...a, ...b])),
        ),
        (bytes) => {
          const read = decode(bytes);
          const sentOn = read === undefined ? undefined : [...encode(read)];
          expect(sentOn).toEqual(read === undefined ? undefined : [...bytes.subarray(0, bytes.length - MAC_BYTES)]);
          const opened = open(bytes, () => [right]);
          expect('problem' in opened && opened.problem).toBe(read === undefined ? 'malformed' : 'forged');
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['counter', { counter: -1 }],
    ['counter', { counter: 2 ** 53 }],
    ['name', { sender: '' }],
    ['name', { sender: 'Worker_1' }],
    ['name', { subject: 'a'.repeat(254) }],
    ['boot ID', { bootID: 'boot-1' }],
    ['public key', { publicKey: 'AAAA' }],
  ])('that cannot be said is a defect: %s', (what, change) => {
    expect(() => encode({ ...HEARTBEAT, ...change })).toThrow(what);
  });

  it('carries an order at its end, where the page says', () => {
    const bytes = encode({ type: 'order', counter: 7, signs: 3, sender: 'nodefence-controllers', subject: 'a', subjectBootID: BOOT, order: ORDER });
    expect(Buffer.from(bytes.subarray(-17)).toString('hex')).toBe('76543210aaaa4bbb8cccddddeeeeffff02');
    const sealed = new Uint8Array([...bytes, ...new Uint8Array(MAC_BYTES)]);
    expect(decode(sealed)).toMatchObject({ type: 'order', signs: 3, order: ORDER });
    sealed[bytes.length - 1] = 3;
    expect(decode(sealed), 'an action that this version does not know').toBeUndefined();
  });

  it('is an order, or carries none', () => {
    expect(() => encode({ ...HEARTBEAT, order: ORDER })).toThrow(TypeError);
    expect(() => encode({ ...HEARTBEAT, type: 'order' })).toThrow(TypeError);
  });
});
