import { createHmac, hkdfSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { open, seal } from '../../domain/node-daemon/seal.ts';
import { loadExchangeKeys } from './exchange-key-file.ts';
import { X25519_KEY_PAIRS, X25519Keys } from './exchange-keys.ts';

const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

/** RFC 7748 section 6.1. */
const ALICE = '77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a';
const ALICE_PUBLIC = '8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a';
const BOB = '5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb';
const BOB_PUBLIC = 'de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f';
const SHARED = '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742';

/** Points of order 1, 2, 4 and 8 (RFC 7748 section 6.1 demands the check, its section 7 says why). */
const LOW_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

const jwk = (d: string, x: string): string => JSON.stringify({ kty: 'OKP', crv: 'X25519', x: base64url(x), d: base64url(d) });
const alice = X25519Keys.of(jwk(ALICE, ALICE_PUBLIC));
const bob = X25519Keys.of(jwk(BOB, BOB_PUBLIC));

describe('X25519Keys', () => {
  it('agrees with RFC 7748', () => {
    expect([alice.publicKey, bob.publicKey]).toEqual([base64url(ALICE_PUBLIC), base64url(BOB_PUBLIC)]);
    expect([alice.sharedWith(bob.publicKey), bob.sharedWith(alice.publicKey)].map((secret) => secret.toString('hex'))).toEqual([SHARED, SHARED]);
  });

  it('makes HMAC-SHA256 under a key that HKDF-SHA256 derives from the secret and both public keys', () => {
    const info = `nodefence datagram 1 ${[alice.publicKey, bob.publicKey].sort().join(' ')}`;
    const key = Buffer.from(hkdfSync('sha256', Buffer.from(SHARED, 'hex'), '', info, 32));
    const text = Buffer.from('I live');
    const expected = createHmac('sha256', key).update(text).digest('hex');
    expect(Buffer.from(alice.macWith(bob.publicKey)(text)).toString('hex')).toBe(expected);
    expect(Buffer.from(bob.macWith(alice.publicKey)(text)).toString('hex')).toBe(expected);
  });

  it('lets two daemons read what they seal, and a third one nothing', () => {
    const [a, b, c] = [X25519Keys.generate(), X25519Keys.generate(), X25519Keys.generate()];
    const sealed = seal({ type: 'vouch', counter: 7, signs: 0, sender: 'node-1' }, a.macWith(b.publicKey));
    expect(open(sealed, () => [b.macWith(a.publicKey)])).toMatchObject({ datagram: { sender: 'node-1', counter: 7 } });
    expect(open(sealed, () => [c.macWith(a.publicKey)])).toMatchObject({ problem: 'forged' });
  });

  it.each(LOW_ORDER)('refuses the public key %s, whose secret everybody knows', (hex) => {
    const keys = X25519Keys.generate();
    expect(() => keys.macWith(base64url(hex))).toThrow(TypeError);
    expect(keys.kept).toBe(0);
  });

  it.each(['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}B`, `${'A'.repeat(42)}!`, `${'A'.repeat(43)}=`])(
    'refuses %j, which is no key',
    (text) => {
      expect(() => alice.macWith(text)).toThrow(new TypeError('the public key is not 32 bytes in base64url'));
      expect(() => X25519Keys.of(JSON.stringify({ kty: 'OKP', crv: 'X25519', x: alice.publicKey, d: text }))).toThrow(
        new TypeError('the private key is no JWK of X25519'),
      );
    },
  );

  it.each(['', 'null', '7', '{}', '{"kty":"EC"}', jwk(ALICE, ALICE_PUBLIC).replace('X25519', 'Ed25519'), jwk(ALICE, ALICE_PUBLIC).slice(0, -1)])(
    'refuses %j as a private key, and shows nothing of it',
    (text) => {
      expect(() => X25519_KEY_PAIRS.load(text)).toThrow(new TypeError('the private key is no JWK of X25519'));
    },
  );

  it('refuses a private key with the public key of another one', () => {
    expect(() => X25519_KEY_PAIRS.load(jwk(ALICE, BOB_PUBLIC))).toThrow('belongs to another public key');
  });

  it('makes private keys that can be loaded, each another one', () => {
    const [a, b] = [X25519_KEY_PAIRS.generate(), X25519_KEY_PAIRS.generate()];
    expect(X25519_KEY_PAIRS.load(a).publicKey).toBe((JSON.parse(a) as { x: string }).x);
    expect(X25519_KEY_PAIRS.load(b).publicKey).not.toBe(X25519_KEY_PAIRS.load(a).publicKey);
  });

  it('derives nothing with itself, so that no datagram of ours comes back as an answer', () => {
    expect(() => alice.macWith(alice.publicKey)).toThrow('our own');
  });

  it('derives once for each daemon, and keeps so many, those that were used last', () => {
    const keys = X25519Keys.generate(2);
    const [a, b, c] = [X25519Keys.generate().publicKey, X25519Keys.generate().publicKey, X25519Keys.generate().publicKey];
    const first = keys.macWith(a);
    expect(keys.macWith(a)).toBe(first);
    keys.macWith(b);
    keys.macWith(a);
    keys.macWith(c);
    expect(keys.kept).toBe(2);
    expect(keys.macWith(a)).toBe(first);
  });
});

describe('loadExchangeKeys', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodefence-keys-'));
    path = join(folder, 'run', 'exchange-key');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('makes a key that only its user reads, and finds it again', () => {
    const { keys, problem } = loadExchangeKeys(path);
    expect([problem, statSync(path).mode & 0o777, statSync(join(folder, 'run')).mode & 0o777]).toEqual([undefined, 0o600, 0o700]);
    expect(loadExchangeKeys(path).keys.publicKey).toBe(keys.publicKey);
    expect(readdirSync(join(folder, 'run'))).toEqual(['exchange-key']);
  });

  it('makes another one where others may have read it, and says so', () => {
    const old = loadExchangeKeys(path).keys;
    chmodSync(path, 0o644);
    const { keys, problem } = loadExchangeKeys(path);
    expect(problem).toBe(`${path}: others may have read it; a new key was made`);
    expect(keys.publicKey).not.toBe(old.publicKey);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('makes another one where the file was cut, and says so', () => {
    loadExchangeKeys(path);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 20));
    expect(loadExchangeKeys(path).problem).toBe(`${path}: the private key is no JWK of X25519; a new key was made`);
    expect(loadExchangeKeys(path).problem).toBeUndefined();
  });

  it('gives the file no old mode that a leftover had', () => {
    loadExchangeKeys(path);
    rmSync(path);
    writeFileSync(`${path}.new`, 'cut', { mode: 0o644 });
    loadExchangeKeys(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('throws where no key can be kept', () => {
    writeFileSync(join(folder, 'run'), 'a file');
    expect(() => loadExchangeKeys(path)).toThrow('ENOTDIR');
  });
});
