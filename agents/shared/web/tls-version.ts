import type { SecureContextOptions } from 'node:tls';

import { z } from 'zod';

import { lookup } from '../../../src/domain/lookup.ts';
import type { Documentation } from '../parameter-schema.ts';

const VERSIONS = { '1.0': 'TLSv1', '1.1': 'TLSv1.1', '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const;
export type TlsVersion = (typeof VERSIONS)[keyof typeof VERSIONS];
export const USUAL_TLS: TlsVersion = 'TLSv1.2';

export const minTlsVersion = z.enum(['1.0', '1.1', '1.2', '1.3'], 'must be 1.0, 1.1, 1.2 or 1.3').default('1.2');
export const MIN_TLS_VERSION = {
  description: 'Oldest version of TLS that is spoken. 1.0 and 1.1 are for BMCs that have no other; they can be broken, and are warned about.',
  default: '1.2',
} satisfies Documentation;

export function tlsVersionOf(written: string | undefined): TlsVersion {
  return lookup(VERSIONS, written ?? '1.2') ?? USUAL_TLS;
}

/** OpenSSL speaks the old ones only where it is told to accept their SHA-1 and short keys too. */
export function tlsOptions(minVersion: TlsVersion): SecureContextOptions {
  const isOld = minVersion === 'TLSv1' || minVersion === 'TLSv1.1';
  return isOld ? { minVersion, ciphers: 'DEFAULT@SECLEVEL=0' } : { minVersion };
}
