import { createHash } from 'node:crypto';
import { connect as connectPlain, isIP, Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';

import type { Clock } from '../../../src/ports/clock.ts';
import { ANY_ADDRESS, checkedLookup, refusalOf, type AddressCheck } from '../address/address-check.ts';
import { tlsOptions, USUAL_TLS, type TlsVersion } from './tls-version.ts';

/** Whom to believe at the other end. */
export interface Trust {
  /** Certificates of authorities (PEM); absent: the system's. */
  ca: string | undefined;
  /** SHA-256 of the one certificate, 64 lower-case hexadecimal digits; absent: its authority counts. */
  fingerprint: string | undefined;
  insecure: boolean;
  /** Absent: TLS 1.2. */
  minVersion?: TlsVersion | undefined;
  connectTimeoutMs: number;
}

/** Where to connect to. */
export interface Place {
  host: string;
  port: number;
  tls: boolean;
}

/** The other end is not the one that the configuration trusts. */
export class Untrusted extends Error {
  override readonly name = 'Untrusted';
}

const TRUST_CODES = /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|ERROR_IN_CERT)/;

/**
 * Opens a socket and hands it over only once it is connected and, with TLS, trusted: no password leaves before, and a request that is given it is
 * written at once. Returns what gives the attempt up.
 */
export function openTrusted(
  place: Place,
  trust: Trust,
  { clock, check = ANY_ADDRESS }: { clock: Clock; check?: AddressCheck },
  onReady: (error: Error | undefined, socket: Socket, shown?: string) => void,
): () => void {
  const { socket, ready, shown } = opened(place, trust, check);
  let isOver = false;
  const finish = (error: Error | undefined, found?: string): void => {
    if (isOver) return;
    isOver = true;
    cancel();
    socket.off('error', onError);
    if (error !== undefined) {
      socket.on('error', () => undefined);
      socket.destroy();
    }
    onReady(error, socket, found);
  };
  const onError = (error: Error): void => finish('code' in error && TRUST_CODES.test(String(error.code)) ? new Untrusted(error.message) : error);
  const cancel = clock.after(trust.connectTimeoutMs, () => finish(new Error(`no connection within ${trust.connectTimeoutMs} ms`)));
  socket.on('error', onError);
  socket.once('close', () => finish(new Error('the other end closed the connection')));
  socket.once(ready, () => {
    const found = shown();
    if (trust.fingerprint === undefined || found === trust.fingerprint) finish(undefined, found);
    else finish(new Untrusted(`its certificate has the SHA-256 fingerprint ${found ?? 'none'}, not the pinned ${trust.fingerprint}`));
  });
  return () => finish(new Error('given up'));
}

function opened(
  { host, port, tls }: Place,
  { ca, fingerprint, insecure, minVersion = USUAL_TLS }: Trust,
  check: AddressCheck,
): {
  socket: Socket;
  ready: 'connect' | 'secureConnect';
  shown: () => string | undefined;
} {
  const refusal = refusalOf(host, check);
  if (refusal !== undefined) return { socket: new Socket().destroy(refusal), ready: 'connect', shown: () => undefined };
  const where = { host, port, lookup: checkedLookup(check) };
  if (!tls) return { socket: connectPlain({ ...where, noDelay: true }), ready: 'connect', shown: () => undefined };
  const socket = connectSecure({
    ...where,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...tlsOptions(minVersion),
    ...(ca === undefined ? {} : { ca }),
    // A pinned certificate is compared before the socket is handed over.
    rejectUnauthorized: !insecure && fingerprint === undefined,
    ALPNProtocols: ['http/1.1'],
  });
  socket.setNoDelay(true);
  const shown = (): string | undefined => {
    const certificate = socket.getPeerX509Certificate();
    return certificate === undefined ? undefined : createHash('sha256').update(certificate.raw).digest('hex');
  };
  return { socket, ready: 'secureConnect', shown };
}
