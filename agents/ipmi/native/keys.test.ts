import { createCipheriv, createDecipheriv } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { roleByte } from './handshake.ts';
import { isSameCode, rakp2Code, rakp3Code, SessionKeys, type Handshake } from './keys.ts';
import { SUITES } from './suites.ts';

function counted(from: number): Buffer {
  return Buffer.from(Array.from({ length: 16 }, (_, index) => from + index));
}

/** Computed by Python's hmac and hashlib from the formulas of sections 13.20 to 13.32. */
const VECTORS = [
  {
    suite: '3',
    bmcKey: undefined,
    rakp2: '6b4e9d1a719f721050748de4bcca40b98c99559a',
    rakp3: '156269a6cc413cf57dd562673011c6c49945d189',
    rakp4: '1d227b29bd39b1afc75c8025',
    signed: 'cd99d4f2e61dcdbc508f595d',
    cipherKey: '79890b987d11934f602246b749395ef7',
  },
  {
    suite: '17',
    bmcKey: undefined,
    rakp2: 'ca80cb1645bceefcaced1bf79dd0602bc5d78fa7bfca7fd9d5c3958bb90debe8',
    rakp3: 'ad88f5e8efa4296955ee3958a048d88b12ec74170f4675e75bcc6d3006d6baf4',
    rakp4: '8d4f3aa3259ba9420f3e82c04340a30d',
    signed: 'f710d6e1fd31655e74611835be3fa286',
    cipherKey: '1bcd502ad17419611de78a30a82249df',
  },
  {
    suite: '3',
    bmcKey: 'ff00fe01',
    rakp2: '6b4e9d1a719f721050748de4bcca40b98c99559a',
    rakp3: '156269a6cc413cf57dd562673011c6c49945d189',
    rakp4: '20bb4ea25a198c40766e040f',
    signed: '53c88ec8de58c042fd227eda',
    cipherKey: 'd6a359a1ce8b1f6848d5f8711fa1c9b1',
  },
  {
    suite: '17',
    bmcKey: 'ff00fe01',
    rakp2: 'ca80cb1645bceefcaced1bf79dd0602bc5d78fa7bfca7fd9d5c3958bb90debe8',
    rakp3: 'ad88f5e8efa4296955ee3958a048d88b12ec74170f4675e75bcc6d3006d6baf4',
    rakp4: '62149376f3032df1e5c75806c495746f',
    signed: 'c5e7aa11db102bc0486b1383bb5f3804',
    cipherKey: '64ba3e66969ac4fbcec98464b29dd294',
  },
] as const;

function handshake(suite: keyof typeof SUITES, bmcKey: string | undefined): Handshake {
  const password = Buffer.from('secret-of-the-bmc');
  return {
    suite: SUITES[suite],
    consoleID: 0x11223344,
    systemID: 0x55667788,
    consoleNonce: counted(0),
    systemNonce: counted(16),
    guid: counted(32),
    role: roleByte('administrator'),
    username: Buffer.from('fence'),
    password,
    bmcKey: bmcKey === undefined ? password : Buffer.from(bmcKey, 'hex'),
  };
}

describe.each(VECTORS)('the codes and keys of suite $suite, key of the BMC $bmcKey', ({ suite, bmcKey, rakp2, rakp3, rakp4, signed, cipherKey }) => {
  const secrets = handshake(suite, bmcKey);
  const keys = new SessionKeys(secrets);

  it('are those of the specification', () => {
    expect(rakp2Code(secrets).toString('hex')).toBe(rakp2);
    expect(rakp3Code(secrets).toString('hex')).toBe(rakp3);
    expect(keys.rakp4Code.toString('hex')).toBe(rakp4);
    expect(keys.sign(Buffer.from('abc')).toString('hex')).toBe(signed);
  });

  it('encrypt so that AES-CBC with that key and the padding 1, 2, 3, ..., length opens it', () => {
    for (let length = 0; length < 40; length += 1) {
      const plain = Buffer.alloc(length, 0xa5);
      const payload = keys.encrypt(plain);
      const decipher = createDecipheriv('aes-128-cbc', Buffer.from(cipherKey, 'hex'), payload.subarray(0, 16)).setAutoPadding(false);
      const opened = Buffer.concat([decipher.update(payload.subarray(16)), decipher.final()]);
      const padBytes = opened[opened.length - 1] ?? 0;
      expect(padBytes).toBeLessThan(16);
      expect(opened.length).toBe(length + padBytes + 1);
      expect(opened.subarray(0, length)).toEqual(plain);
      expect([...opened.subarray(length, -1)]).toEqual(Array.from({ length: padBytes }, (_, index) => index + 1));
      expect(keys.decrypt(payload)).toEqual(plain);
    }
  });

  it('open each packet by its own vector, whatever came before it', () => {
    const sealed = (text: string, vector: number): Buffer => {
      const cipher = createCipheriv('aes-128-cbc', Buffer.from(cipherKey, 'hex'), Buffer.alloc(16, vector)).setAutoPadding(false);
      const padBytes = 15 - (text.length % 16);
      const padding = Array.from({ length: padBytes }, (_, index) => index + 1);
      return Buffer.concat([Buffer.alloc(16, vector), cipher.update(Buffer.concat([Buffer.from(text), Buffer.from([...padding, padBytes])]))]);
    };
    const [first, second] = [sealed('the first answer, of two blocks', 1), sealed('the second', 2)];
    for (const [payload, text] of [
      [second, 'the second'],
      [first, 'the first answer, of two blocks'],
      [second, 'the second'],
    ] as const) {
      expect(keys.decrypt(payload)?.toString()).toBe(text);
      expect(keys.decrypt(payload.subarray(0, -16))).toBeUndefined();
      keys.encrypt(Buffer.from('a request between them'));
    }
  });

  it('never encrypt twice alike', () => {
    const vectors = Array.from({ length: 300 }, () => keys.encrypt(Buffer.from('off')).toString('hex', 0, 16));
    expect(new Set(vectors).size).toBe(300);
    expect(vectors.some((vector) => /^0+$/.test(vector))).toBe(false);
  });

  it('know their signature from every other', () => {
    const trailed = Buffer.concat([Buffer.from('abc'), Buffer.from(signed, 'hex')]);
    expect(keys.isSigned(trailed)).toBe(true);
    for (let index = 0; index < trailed.length; index += 1) {
      expect(keys.isSigned(Buffer.from(trailed.map((byte, at) => (at === index ? byte ^ 1 : byte))))).toBe(false);
      expect(keys.isSigned(trailed.subarray(0, index))).toBe(false);
    }
    expect(keys.isSigned(Buffer.concat([trailed, Buffer.from([0])]))).toBe(false);
  });

  it('do not open what is no whole block or not padded as it must be', () => {
    const payload = keys.encrypt(Buffer.from('a response of more than one block'));
    expect(keys.decrypt(payload.subarray(0, -1))).toBeUndefined();
    expect(keys.decrypt(payload.subarray(0, 16))).toBeUndefined();
    expect(keys.decrypt(payload.subarray(0, -16))).toBeUndefined();
  });
});

describe('a code', () => {
  it('is the same only byte for byte', () => {
    expect(isSameCode(Buffer.from([1, 2]), Buffer.from([1, 2]))).toBe(true);
    expect(isSameCode(Buffer.from([1, 2]), Buffer.from([1, 3]))).toBe(false);
    expect(isSameCode(Buffer.from([1, 2]), Buffer.from([1]))).toBe(false);
    expect(isSameCode(Buffer.from([1, 2]), Buffer.alloc(0))).toBe(false);
  });
});
