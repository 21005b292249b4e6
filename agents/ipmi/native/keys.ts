import { createCipheriv, createDecipheriv, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Cipheriv, Decipheriv, KeyObject } from 'node:crypto';

import { fourBytes } from './handshake.ts';
import type { Suite } from './suites.ts';

const BLOCK_BYTES = 16;
/** Bytes of the constants that keys are derived from (section 13.32), for SHA-256 too. */
const CONSTANT_BYTES = 20;

const NO_BLOCK = Buffer.alloc(BLOCK_BYTES);

/** What both sides of a handshake know after RAKP 2. Secrets are bytes of their own and go nowhere else. */
export interface Handshake {
  suite: Suite;
  consoleID: number;
  systemID: number;
  consoleNonce: Buffer;
  systemNonce: Buffer;
  guid: Buffer;
  role: number;
  username: Buffer;
  password: Buffer;
  /** The password where the BMC has no key of its own. */
  bmcKey: Buffer;
}

function code(suite: Suite, key: Buffer, parts: readonly Buffer[]): Buffer {
  // As a key object: Node takes bytes for a key only after a look at what they may be instead, which takes five times as long as the code itself.
  const hmac = createHmac(suite.hash, createSecretKey(key));
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function who({ role, username }: Handshake): Buffer {
  return Buffer.concat([Buffer.from([role, username.length]), username]);
}

/** What RAKP 2 must carry: the BMC knows the password (section 13.21). */
export function rakp2Code(handshake: Handshake): Buffer {
  const { suite, password, consoleID, systemID, consoleNonce, systemNonce, guid } = handshake;
  return code(suite, password, [fourBytes(consoleID), fourBytes(systemID), consoleNonce, systemNonce, guid, who(handshake)]);
}

/** What RAKP 3 carries: so do we (section 13.22). */
export function rakp3Code(handshake: Handshake): Buffer {
  const { suite, password, consoleID, systemNonce } = handshake;
  return code(suite, password, [systemNonce, fourBytes(consoleID), who(handshake)]);
}

/** Two codes are the same, told in constant time. */
export function isSameCode(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * The keys of one session: signs, verifies, encrypts, decrypts (sections 13.23, 13.28 to 13.32). One cipher for each direction: a packet's vector is the
 * block before its first, so that CBC goes on from packet to packet as if they were one text.
 */
export class SessionKeys {
  readonly codeBytes: number;
  /** What RAKP 4 must carry: the BMC knows its own key. */
  readonly rakp4Code: Buffer;
  readonly #hash: Suite['hash'];
  readonly #integrityKey: KeyObject;
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;

  constructor(handshake: Handshake) {
    const { suite, bmcKey, consoleNonce, systemNonce, systemID, guid } = handshake;
    const sessionKey = code(suite, bmcKey, [consoleNonce, systemNonce, who(handshake)]);
    this.codeBytes = suite.codeBytes;
    this.rakp4Code = code(suite, sessionKey, [consoleNonce, fourBytes(systemID), guid]).subarray(0, suite.codeBytes);
    this.#hash = suite.hash;
    this.#integrityKey = createSecretKey(code(suite, sessionKey, [Buffer.alloc(CONSTANT_BYTES, 1)]));
    const cipherKey = createSecretKey(code(suite, sessionKey, [Buffer.alloc(CONSTANT_BYTES, 2)]).subarray(0, BLOCK_BYTES));
    this.#cipher = createCipheriv('aes-128-cbc', cipherKey, NO_BLOCK).setAutoPadding(false);
    this.#decipher = createDecipheriv('aes-128-cbc', cipherKey, NO_BLOCK).setAutoPadding(false);
  }

  sign(covered: Buffer): Buffer {
    return createHmac(this.#hash, this.#integrityKey).update(covered).digest().subarray(0, this.codeBytes);
  }

  /** Does the end of a packet carry the code of all before it? */
  isSigned(trailed: Buffer): boolean {
    const codeAt = trailed.length - this.codeBytes;
    return codeAt > 0 && timingSafeEqual(this.sign(trailed.subarray(0, codeAt)), trailed.subarray(codeAt));
  }

  encrypt(plain: Buffer): Buffer {
    const padBytes = BLOCK_BYTES - 1 - (plain.length % BLOCK_BYTES);
    const padAt = BLOCK_BYTES + plain.length;
    const padded = Buffer.alloc(padAt + padBytes + 1);
    plain.copy(padded, BLOCK_BYTES);
    for (let index = 0; index < padBytes; index += 1) padded[padAt + index] = index + 1;
    padded[padAt + padBytes] = padBytes;
    // The empty block before the text becomes the vector, made of the last block that was sent: nobody without the key can tell it beforehand (NIST SP 800-38A, appendix C).
    return this.#cipher.update(padded);
  }

  /** `undefined` where the bytes are no whole blocks, or not padded as they must be. Only for what is signed. Never throws. */
  decrypt(payload: Buffer): Buffer | undefined {
    if (payload.length < 2 * BLOCK_BYTES || payload.length % BLOCK_BYTES !== 0) return undefined;
    // What comes of the vector itself means nothing.
    const padded = this.#decipher.update(payload).subarray(BLOCK_BYTES);
    const padBytes = padded.readUInt8(padded.length - 1);
    const end = padded.length - 1 - padBytes;
    if (padBytes >= BLOCK_BYTES || end < 0) return undefined;
    for (let index = 1; index <= padBytes; index += 1) if (padded[end + index - 1] !== index) return undefined;
    return padded.subarray(0, end);
  }
}
