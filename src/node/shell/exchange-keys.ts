import { createHmac, createPrivateKey, createPublicKey, createSecretKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Mac } from '../../domain/node-daemon/seal.ts';
import type { ExchangeKeyPairs, ExchangeKeys } from '../../ports/node-daemon.ts';

/** More daemons than there are nodes: a controller keeps one for each. */
const KEPT_MAX = 8_192;
const KEY_BYTES = 32;
const PURPOSE = 'nodefence datagram 1';

/** X25519 by OpenSSL. The keys of pairs are kept, so that a datagram costs one HMAC. */
export class X25519Keys implements ExchangeKeys {
  readonly publicKey: string;
  /** A JWK (RFC 8037): to be kept where only this daemon reads it. */
  readonly privateKey: string;
  readonly #private: KeyObject;
  /** The one that was used longest ago first. */
  readonly #macs = new Map<string, Mac>();
  readonly #keptMax: number;

  private constructor(key: KeyObject, keptMax: number) {
    const { x, d } = key.export({ format: 'jwk' });
    if (x === undefined || d === undefined) throw new TypeError('the private key is none of X25519');
    this.#private = key;
    this.publicKey = x;
    this.privateKey = JSON.stringify({ kty: 'OKP', crv: 'X25519', x, d });
    this.#keptMax = keptMax;
  }

  static generate(keptMax = KEPT_MAX): X25519Keys {
    return new X25519Keys(generateKeyPairSync('x25519').privateKey, keptMax);
  }

  /** Takes a JWK. Throws a TypeError where it is no key. */
  static of(privateKey: string, keptMax = KEPT_MAX): X25519Keys {
    const jwk = jwkOf(privateKey);
    if (jwk === undefined) throw new TypeError('the private key is no JWK of X25519');
    const keys = new X25519Keys(createPrivateKey({ key: jwk, format: 'jwk' }), keptMax);
    if (keys.publicKey !== jwk.x) throw new TypeError('the private key belongs to another public key than its JWK says');
    return keys;
  }

  macWith(publicKey: string): Mac {
    const kept = this.#macs.get(publicKey);
    const mac = kept ?? this.#derive(publicKey);
    this.#macs.delete(publicKey);
    this.#macs.set(publicKey, mac);
    if (this.#macs.size > this.#keptMax) for (const oldest of [...this.#macs.keys()].slice(0, 1)) this.#macs.delete(oldest);
    return mac;
  }

  /** Pairs whose keys are in memory. */
  get kept(): number {
    return this.#macs.size;
  }

  #derive(publicKey: string): Mac {
    const info = [PURPOSE, ...[this.publicKey, publicKey].sort()].join(' ');
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', this.sharedWith(publicKey), '', info, KEY_BYTES)));
    return (bytes) => createHmac('sha256', key).update(bytes).digest();
  }

  /** RFC 7748 section 6.1; keys are derived from it, it is none. Throws a TypeError for what is no key, or one whose secret everybody knows. */
  sharedWith(publicKey: string): Buffer {
    if (bytesOf(publicKey) === undefined) throw new TypeError('the public key is not 32 bytes in base64url');
    if (publicKey === this.publicKey) throw new TypeError('the public key is our own: a datagram of ours could come back as an answer');
    try {
      const other = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: publicKey }, format: 'jwk' });
      return diffieHellman({ privateKey: this.#private, publicKey: other });
    } catch (error) {
      // OpenSSL refuses a shared secret of zeros, which points of low order give.
      throw new TypeError(`the public key ${publicKey} gives no secret`, { cause: error });
    }
  }
}

/** One spelling for each key: another one would be another daemon. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === KEY_BYTES && bytes.toString('base64url') === text ? bytes : undefined;
}

/** Checked here: an error of the library could show what it read. */
function jwkOf(text: string): { kty: string; crv: string; x: string; d: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { kty, crv, x, d } = value as Readonly<Record<string, unknown>>;
    if (kty !== 'OKP' || crv !== 'X25519' || typeof x !== 'string' || typeof d !== 'string') return undefined;
    return bytesOf(x) === undefined || bytesOf(d) === undefined ? undefined : { kty, crv, x, d };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** For keys that the controllers share, in a Secret. */
export const X25519_KEY_PAIRS: ExchangeKeyPairs = {
  generate: () => X25519Keys.generate().privateKey,
  load: (privateKey) => X25519Keys.of(privateKey),
};
