import { X509Certificate } from 'node:crypto';

import { z } from 'zod';

import type { ParameterProblem } from '../../../src/ports/agents.ts';
import { parseBoolean, type Documentation } from '../parameter-schema.ts';
import { MIN_TLS_VERSION, minTlsVersion, tlsVersionOf } from './tls-version.ts';
import type { Trust } from './trusted-socket.ts';

const FINGERPRINT = /^(?:sha-?256[:=\s]\s*)?(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}$/i;

/** A word that is no known boolean is an error: whether certificates are checked is never guessed. */
export const booleanWord = z.string().transform((text, context) => {
  const value = parseBoolean(text);
  if (value === undefined) context.addIssue({ code: 'custom', message: 'must be yes or no (also true, false, on, off, 1, 0)' });
  return value ?? false;
});

/** Bundles that are known to be good; a fleet shares one or a few. */
const BUNDLES_MAX = 64;
const goodBundles = new Set<string>();

function isCertificateBundle(pem: string): boolean {
  if (goodBundles.has(pem)) return true;
  const isGood = isCertificate(pem);
  if (goodBundles.size >= BUNDLES_MAX) goodBundles.clear();
  if (isGood) goodBundles.add(pem);
  return isGood;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/** Whom to believe, as parameters. */
export const trustShape = {
  ca: z
    .string()
    .transform((text) => text.replaceAll('\\n', '\n'))
    .refine(isCertificateBundle, 'must be one or more certificates in PEM form')
    .optional(),
  ssl_fingerprint: z.string().regex(FINGERPRINT, 'must be a SHA-256 fingerprint: 64 hexadecimal digits, colons allowed').optional(),
  ssl_insecure: booleanWord.default(false),
  ssl_min_version: minTlsVersion,
};

export const loginTimeout = z
  .string()
  .regex(/^\d{1,3}(\.\d+)?$/, 'must be a number of seconds')
  .transform(Number)
  .default(5);

export const LOGIN_TIMEOUT = { description: 'Seconds for connecting and for TLS.', default: '5' } satisfies Documentation;

/** `owner`: whose certificate; `lie`: what a stranger could lie about. */
export function trustDocumentation(owner: string, lie: string): Record<keyof typeof trustShape, Documentation> {
  return {
    ca: { description: `Certificates (PEM) that may sign the ${owner}'s; the system's otherwise.`, aliases: ['ssl_ca', 'cacert'] },
    ssl_fingerprint: { description: `SHA-256 fingerprint of the ${owner}'s own certificate; it alone is trusted then.`, aliases: ['fingerprint'] },
    ssl_insecure: {
      description: `Trust any certificate. Anybody on the path can then read the password and lie about the ${lie}.`,
      default: 'no',
      aliases: ['ssl-insecure'],
    },
    ssl_min_version: MIN_TLS_VERSION,
  };
}

/** What the parameters of trust, by their canonical names, say against each other. */
export function trustContradictions(named: Readonly<Record<string, string>>): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const isInsecure = parseBoolean(named['ssl_insecure'] ?? 'no') === true;
  if (isInsecure && (named['ca'] !== undefined || named['ssl_fingerprint'] !== undefined))
    problems.push({ parameter: 'ssl_insecure', message: 'trusts any certificate, but ca or ssl_fingerprint is given too: remove one' });
  if (named['ssl_secure'] !== undefined && parseBoolean(named['ssl_secure']) === isInsecure)
    problems.push({ parameter: 'ssl_secure', message: 'and ssl_insecure contradict each other: certificates are verified unless ssl_insecure=yes' });
  return problems;
}

/** `ssl` and `ipport` as they are written, for a place whose own text says neither; a port that is none is told by the schema. */
export function writtenDefaults(named: Readonly<Record<string, string>>): { port: number | undefined; tls: boolean } {
  const port = /^\d{1,5}$/.test(named['ipport'] ?? '') ? Number(named['ipport']) : undefined;
  return { port, tls: parseBoolean(named['ssl'] ?? 'yes') !== false };
}

/** A user without a password, or a password without a user. */
export function loginContradictions({ username, password }: { username?: string | undefined; password?: string | undefined }): ParameterProblem[] {
  if ((username === undefined) === (password === undefined)) return [];
  return [{ parameter: username === undefined ? 'username' : 'password', message: 'is missing beside the other one' }];
}

/** 64 lower-case hexadecimal digits. */
export function plainFingerprint(written: string | undefined): string | undefined {
  return written
    ?.toLowerCase()
    .replace(/^sha-?256[:=\s]\s*/, '')
    .replaceAll(':', '');
}

interface TrustValues {
  ca?: string | undefined;
  ssl_fingerprint?: string | undefined;
  ssl_insecure: boolean;
  ssl_min_version: string;
  login_timeout: number;
}

/** Of parsed parameters that have `trustShape` and `login_timeout`. */
export function trustOf({ ca, ssl_fingerprint, ssl_insecure, ssl_min_version, login_timeout }: TrustValues): Trust {
  const minVersion = tlsVersionOf(ssl_min_version);
  return { ca, fingerprint: plainFingerprint(ssl_fingerprint), insecure: ssl_insecure, minVersion, connectTimeoutMs: login_timeout * 1000 };
}
