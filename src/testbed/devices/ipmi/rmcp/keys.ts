import { createCipheriv, createDecipheriv, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Cipheriv, Decipheriv, KeyObject } from 'node:crypto';

import { fourBytes } from './handshake.ts';
import type { SessionPacket } from './packet.ts';
import type { CipherSuite } from './suites.ts';

/** Everything that both sides of a handshake know once RAKP 2 was sent, and the user's password. */
export interface HandshakeSecrets {
  suite: CipherSuite;
  consoleID: number;
  systemID: number;
  consoleNonce: Buffer;
  systemNonce: Buffer;
  guid: Buffer;
  roleByte: number;
  username: string;
  password: string;
  /** The BMC's own key; absent: the password serves as both. */
  kg?: string;
}

/** The code of RAKP 2: the BMC knows the password (section 13.28). */
export function rakp2Code(secrets: HandshakeSecrets): Buffer {
  const { consoleID, systemID, consoleNonce, systemNonce, guid } = secrets;
  return digest(secrets, secrets.password, [fourBytes(consoleID), fourBytes(systemID), consoleNonce, systemNonce, guid, identity(secrets)]);
}

/** The code of RAKP 3: the console knows it too. */
export function rakp3Code(secrets: HandshakeSecrets): Buffer {
  return digest(secrets, secrets.password, [secrets.systemNonce, fourBytes(secrets.consoleID), identity(secrets)]);
}

/** The session's integrity key (section 13.31). */
function sessionKey(secrets: HandshakeSecrets): Buffer {
  return digest(secrets, secrets.kg ?? secrets.password, [secrets.consoleNonce, secrets.systemNonce, identity(secrets)]);
}

function identity({ roleByte, username }: HandshakeSecrets): Buffer {
  return Buffer.concat([Buffer.from([roleByte, username.length]), Buffer.from(username, 'latin1')]);
}

function digest({ suite }: HandshakeSecrets, key: string | Buffer, parts: readonly Buffer[]): Buffer {
  const hmac = createHmac(suite.hash, typeof key === 'string' ? Buffer.from(key, 'latin1') : key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** Twenty for every hash, so that ipmitool and FreeIPMI understand suite 17 too. */
const CONSTANT_BYTES = 20;

/** Keys of one session: signs, verifies, encrypts, decrypts (sections 13.28.4, 13.29, 13.32). */
export class SessionKeys {
  /** Of RAKP 4. */
  readonly finalCode: Buffer;
  readonly #suite: CipherSuite;
  /** A key object: Node takes bytes for a key many times slower than it signs with one. */
  readonly #integrityKey: KeyObject;
  /** One for all packets of a direction: the making of one takes longer than its work. CBC goes on from packet to packet, and what comes first in each is its vector. */
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;

  constructor(secrets: HandshakeSecrets) {
    const key = sessionKey(secrets);
    const { suite } = secrets;
    this.#suite = suite;
    this.finalCode = digest(secrets, key, [secrets.consoleNonce, fourBytes(secrets.systemID), secrets.guid]).subarray(0, suite.codeBytes);
    this.#integrityKey = createSecretKey(digest(secrets, key, [Buffer.alloc(CONSTANT_BYTES, 1)]));
    const cipherKey = createSecretKey(digest(secrets, key, [Buffer.alloc(CONSTANT_BYTES, 2)]).subarray(0, 16));
    this.#cipher = createCipheriv('aes-128-cbc', cipherKey, Buffer.alloc(16)).setAutoPadding(false);
    this.#decipher = createDecipheriv('aes-128-cbc', cipherKey, Buffer.alloc(16)).setAutoPadding(false);
  }

  sign(covered: Buffer): Buffer {
    return createHmac(this.#suite.hash, this.#integrityKey).update(covered).digest().subarray(0, this.#suite.codeBytes);
  }

  /** The plain payload of a packet that carries a right code and is encrypted; `undefined` for any other. */
  open(packet: SessionPacket): Buffer | undefined {
    if (!packet.isAuthenticated || !packet.isEncrypted || packet.rest.length < this.#suite.codeBytes + 2) return undefined;
    const code = packet.covered.subarray(-this.#suite.codeBytes);
    const covered = packet.covered.subarray(0, -this.#suite.codeBytes);
    return timingSafeEqual(this.sign(covered), code) ? this.#decrypt(packet.payload) : undefined;
  }

  /** `chance`: 16 bytes, of which the initial vector is made. */
  encrypt(payload: Buffer, chance: Buffer): Buffer {
    const padBytes = (16 - ((payload.length + 1) % 16)) % 16;
    const padding = Buffer.from([...Array.from({ length: padBytes }, (_, index) => index + 1), padBytes]);
    return this.#cipher.update(Buffer.concat([chance, payload, padding]));
  }

  #decrypt(payload: Buffer): Buffer | undefined {
    if (payload.length < 32 || payload.length % 16 !== 0) return undefined;
    const plain = this.#decipher.update(payload).subarray(16);
    const padBytes = plain.readUInt8(plain.length - 1);
    return padBytes < 16 && padBytes < plain.length ? plain.subarray(0, plain.length - 1 - padBytes) : undefined;
  }
}

/** Two codes are the same, told in constant time. */
export function isSameCode(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
