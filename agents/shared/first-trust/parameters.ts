import { z } from 'zod';

import type { FirstTrust, ParameterProblem } from '../../../src/ports/agents.ts';
import { parseBoolean, type Documentation } from '../parameter-schema.ts';
import { plainFingerprint } from '../web/parameters.ts';
import { placeText } from '../web/place.ts';
import type { Place } from '../web/trusted-socket.ts';

const FINGERPRINT = /^(?:(?:sha-?256[:=])?(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}|SHA256:[A-Za-z0-9+/]{43}=?)$/i;

/** Of an agent whose device may be believed as it was first seen. */
export const firstTrustShape = {
  trust_on_first_use: z
    .string()
    .refine((text) => parseBoolean(text) !== undefined, 'must be yes or no (also true, false, on, off, 1, 0)')
    .optional(),
  accept_fingerprint: z
    .string()
    .refine((text) => wordsOf(text).every((word) => FINGERPRINT.test(word)), 'must be fingerprints, as the alarm of the changed device names them')
    .optional(),
};

export const firstTrustDocumentation = {
  trust_on_first_use: {
    description:
      'Record the certificate or host key that the device first shows to a probe, without a login, and believe no other from then on. A fence never records.',
    default: 'no',
  },
  accept_fingerprint: {
    description:
      'With trust_on_first_use: a fingerprint to record in the place of the one on record, after you have changed it; several separated by blanks.',
  },
} satisfies Record<keyof typeof firstTrustShape, Documentation>;

type Named = Readonly<Record<string, string>>;

export function isTrustedFirst(named: Named): boolean {
  return parseBoolean(named['trust_on_first_use'] ?? 'no') === true;
}

/** `pins`: parameters that say already whom to believe. */
export function firstTrustProblems(named: Named, pins: readonly string[]): ParameterProblem[] {
  if (!isTrustedFirst(named)) return [];
  const written = pins.filter((name) => named[name] !== undefined);
  const message = `and ${written.join(', ')} are both given: remove one`;
  return written.length === 0 ? [] : [{ parameter: 'trust_on_first_use', message }];
}

/** Where nobody has put what is on record into the place of the word, nothing is believed. */
const UNRESOLVED: ParameterProblem = {
  parameter: 'trust_on_first_use',
  message: 'is only for the controller, whose probes keep a record: write the fingerprint',
};

/** Where nobody has put what is on record into the place of the word. */
export function unresolvedProblems(named: Named): ParameterProblem[] {
  return isTrustedFirst(named) ? [UNRESOLVED] : [];
}

/** So that the port is always written. */
const NONE_IS_USUAL = 0;
/** Parameters that say whom to believe by TLS. */
export const TLS_PINS: readonly string[] = ['ca', 'ssl_fingerprint', 'ssl_insecure'];

/** Of an API that is reached at the hosts of one parameter: each host shows a certificate of its own, and one is recorded. */
export function firstPlaceProblems(named: Named, places: readonly Place[], parameter: 'ip' | 'endpoint'): ParameterProblem[] {
  if (!isTrustedFirst(named)) return [];
  const say = (message: string): ParameterProblem => ({ parameter: 'trust_on_first_use', message });
  const [place] = places;
  return [
    ...firstTrustProblems(named, TLS_PINS),
    ...(place === undefined || places.length > 1
      ? [say(`needs exactly one host in ${parameter}: give ca for several, or for those named elsewhere`)]
      : []),
    ...(place?.tls === false ? [say('needs TLS: without it no certificate is shown')] : []),
  ];
}

/** What that host shows. */
export function firstPlaceCertificate(named: Named, places: readonly Place[]): FirstTrust | undefined {
  const [place] = places;
  return place === undefined || places.length > 1 || !place.tls ? undefined : firstCertificate(named, placeText(place, NONE_IS_USUAL));
}

/** Of a device that shows a certificate. `device`: `host:port`. */
export function firstCertificate(named: Named, device: string): FirstTrust | undefined {
  if (!isTrustedFirst(named)) return undefined;
  return {
    parameter: 'ssl_fingerprint',
    accepted: wordsOf(named['accept_fingerprint'] ?? '').map((word) => plainFingerprint(word) ?? word),
    show: async (context, signal) => (await import('./shown-certificate.ts')).shownCertificate(device, named['ssl_min_version'], context, signal),
  };
}

/** Of a device that shows a host key of SSH. */
export function firstHostKey(named: Named, device: string): FirstTrust | undefined {
  if (!isTrustedFirst(named)) return undefined;
  return {
    parameter: 'host_key_fingerprint',
    accepted: wordsOf(named['accept_fingerprint'] ?? '').map((word) => word.replace(/=$/, '')),
    show: async (context, signal) =>
      (await import('./shown-host-key.ts')).shownHostKey(device, parseBoolean(named['legacy_algorithms'] ?? 'no') === true, context, signal),
  };
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
