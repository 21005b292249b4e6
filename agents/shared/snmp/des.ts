import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import snmp from 'net-snmp';

const BLOCK = 8;

interface Engine {
  engineID: Buffer;
  engineBoots: number;
}

/** OpenSSL 3 has single DES no more, and many PDUs speak nothing better: three-key DES with one key three times is the same cipher. */
function tripled(key: Buffer): Buffer {
  const single = key.subarray(0, BLOCK);
  return Buffer.concat([single, single, single]);
}

/** RFC 3414 section 8.1.1.1: the second half of the localized key, mixed with the salt. */
function initialVector(key: Buffer, salt: Buffer): Buffer {
  return Buffer.from(salt.map((byte, index) => byte ^ key.readUInt8(BLOCK + index)));
}

function localizedKey(password: string, authentication: Hashing, engine: Engine): Buffer {
  return snmp.Authentication.passwordToKey(authentication, password, engine.engineID);
}

type Hashing = Exclude<snmp.AuthProtocols, snmp.AuthProtocols.none>;

function encryptPdu(
  pdu: Buffer,
  _protocol: unknown,
  password: string,
  authentication: Hashing,
  engine: Engine,
): { encryptedPdu: Buffer; msgPrivacyParameters: Buffer } {
  const key = localizedKey(password, authentication, engine);
  const boots = Buffer.alloc(4);
  boots.writeInt32BE(engine.engineBoots);
  const salt = Buffer.concat([boots, randomBytes(4)]);
  const cipher = createCipheriv('des-ede3-cbc', tripled(key), initialVector(key, salt)).setAutoPadding(false);
  const padded = Buffer.concat([pdu, Buffer.alloc((BLOCK - (pdu.length % BLOCK)) % BLOCK)]);
  return { encryptedPdu: Buffer.concat([cipher.update(padded), cipher.final()]), msgPrivacyParameters: salt };
}

function decryptPdu(encrypted: Buffer, _protocol: unknown, salt: Buffer, password: string, authentication: Hashing, engine: Engine): Buffer {
  const key = localizedKey(password, authentication, engine);
  if (salt.length !== BLOCK) throw new Error('a salt of another length');
  const decipher = createDecipheriv('des-ede3-cbc', tripled(key), initialVector(key, salt)).setAutoPadding(false);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]);
}

/** Gives the library a DES that works with OpenSSL 3. May be called any number of times. */
export function mendDes(): void {
  Object.assign(snmp.Encryption.algorithms[snmp.PrivProtocols.des], { encryptPdu, decryptPdu });
}
