/**
 * X.509 certificates for a server that was given none, and for those of the drill: made at start and trusted by nobody else. The few DER structures that
 * RFC 5280 asks for are written here, because Node can read certificates but not make them.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

export interface CertificateRequest {
  commonName: string;
  /** DNS names and IP addresses the server is reached by. */
  hosts: readonly string[];
  /** From now; negative makes an expired certificate. Default 30 days. */
  lifetimeMs?: number;
}

export interface IssuedCertificate {
  certificatePem: string;
  /** PKCS #8. */
  keyPem: string;
  /** Lower-case hexadecimal without colons, of the DER certificate. */
  fingerprintSha256: string;
}

export interface CertificateAuthority {
  /** What clients must trust. */
  certificatePem: string;
  issue(request: CertificateRequest): IssuedCertificate;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';

/** Makes an authority with a fresh P-256 key; `name` becomes its common name. */
export function createAuthority(name: string): CertificateAuthority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const now = Date.now();
  const root = certificate({
    issuer: name,
    subject: name,
    publicKey,
    signingKey: privateKey,
    notBefore: now - DAY_MS,
    notAfter: now + 3650 * DAY_MS,
    extensions: [extension(BASIC_CONSTRAINTS, true, sequence(boolean(true))), extension(KEY_USAGE, true, bitString(Buffer.from([0x06]), 1))],
  });
  return {
    certificatePem: pem(root),
    issue(request) {
      return issue(name, privateKey, request);
    },
  };
}

/** SHA-256 of a certificate's DER, as lower-case hexadecimal without colons. */
export function fingerprintSha256(certificatePem: string): string {
  return createHash('sha256').update(new X509Certificate(certificatePem).raw).digest('hex');
}

function issue(issuer: string, signingKey: KeyObject, request: CertificateRequest): IssuedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const notAfter = Date.now() + (request.lifetimeMs ?? 30 * DAY_MS);
  const leaf = certificate({
    issuer,
    subject: request.commonName,
    publicKey,
    signingKey,
    notBefore: Math.min(Date.now(), notAfter) - DAY_MS,
    notAfter,
    extensions: [
      extension(BASIC_CONSTRAINTS, true, sequence()),
      extension(KEY_USAGE, true, bitString(Buffer.from([0x80]), 7)),
      extension(EXTENDED_KEY_USAGE, false, sequence(objectIdentifier(SERVER_AUTHENTICATION))),
      extension(SUBJECT_ALTERNATIVE_NAME, false, sequence(...request.hosts.map(alternativeName))),
    ],
  });
  const certificatePem = pem(leaf);
  return {
    certificatePem,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    fingerprintSha256: fingerprintSha256(certificatePem),
  };
}

interface CertificateFacts {
  issuer: string;
  subject: string;
  publicKey: KeyObject;
  signingKey: KeyObject;
  notBefore: number;
  notAfter: number;
  extensions: readonly Buffer[];
}

function certificate(facts: CertificateFacts): Buffer {
  const algorithm = sequence(objectIdentifier(ECDSA_WITH_SHA256));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    distinguishedName(facts.issuer),
    sequence(generalizedTime(facts.notBefore), generalizedTime(facts.notAfter)),
    distinguishedName(facts.subject),
    facts.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...facts.extensions)),
  );
  return sequence(toBeSigned, algorithm, bitString(sign('sha256', toBeSigned, facts.signingKey), 0));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function tagged(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return tagged(0x30, ...contents);
}

function integer(value: Buffer): Buffer {
  return tagged(0x02, value);
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function bitString(bits: Buffer, unusedBits: number): Buffer {
  return tagged(0x03, Buffer.from([unusedBits]), bits);
}

/** RFC 5280 asks for UTCTime until 2049; every reader takes GeneralizedTime, and strict ones only after 2049. */
function generalizedTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return digits < '2050' ? tagged(0x17, Buffer.from(`${digits.slice(2)}Z`)) : tagged(0x18, Buffer.from(`${digits}Z`));
}

function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(objectIdentifier(COMMON_NAME), tagged(0x0c, Buffer.from(commonName)))));
}

function extension(identifier: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectIdentifier(identifier), ...(critical ? [boolean(true)] : []), tagged(0x04, value));
}

function alternativeName(host: string): Buffer {
  const family = isIP(host);
  if (family === 0) return tagged(0x82, Buffer.from(host));
  if (family === 4) return tagged(0x87, Buffer.from(host.split('.').map(Number)));
  return tagged(0x87, addressOfSix(host));
}

function addressOfSix(host: string): Buffer {
  const [head = '', tail] = host.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
