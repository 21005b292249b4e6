import { createHash } from 'node:crypto';
import { isIP, connect as connectPlain, Socket } from 'node:net';
import { connect as connectSecure, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, checkedLookup, refusalOf, type AddressCheck } from '../shared/address/address-check.ts';
import { tlsOptions, type TlsVersion } from '../shared/web/tls-version.ts';
import type { RedfishSettings } from './parameters.ts';

const CONTEXTS_MAX = 64;
/**
 * Node's groups without the hybrid one (X25519MLKEM768): its key takes a third of a handshake, and a greeting of more than one packet, which old firmware
 * does not understand.
 */
const GROUPS = 'X25519:P-256:X448:P-384:P-521';

/** Parsed authorities: parsing them anew for each connection would cost more than the connection. With them, which addresses may be called at all. */
export class Authorities {
  readonly check: AddressCheck;
  readonly #contexts = new Map<string, SecureContext>();

  constructor(check: AddressCheck = ANY_ADDRESS) {
    this.check = check;
  }

  /** Of these certificates (PEM), or of the system's. */
  contextOf(ca: string | undefined, minVersion: TlsVersion): SecureContext {
    const key = `${minVersion} ${ca ?? ''}`;
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    if (this.#contexts.size >= CONTEXTS_MAX) this.#contexts.clear();
    const context = createSecureContext({ ecdhCurve: GROUPS, ...tlsOptions(minVersion), ...(ca === undefined ? {} : { ca }) });
    this.#contexts.set(key, context);
    return context;
  }
}

/** The device is not the one that the configuration trusts. */
export class TrustError extends Error {
  override readonly name = 'TrustError';
}

/** Connect or TLS did not end in time. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
}

/** What the device showed of itself when the connection was made. */
export interface ShownCertificate {
  /** SHA-256, 64 lower-case hexadecimal digits. */
  fingerprint: string;
  /** RFC 3339; undefined when its end cannot be read. */
  expiresAt: string | undefined;
}

/** Undefined without TLS. Node answers this once for each socket: what it said is handed on with the socket. */
function shownCertificate(socket: Socket): ShownCertificate | undefined {
  const certificate = 'getPeerX509Certificate' in socket ? (socket as TLSSocket).getPeerX509Certificate() : undefined;
  if (certificate === undefined) return undefined;
  const expiresAtMs = Date.parse(certificate.validTo);
  return {
    fingerprint: createHash('sha256').update(certificate.raw).digest('hex'),
    expiresAt: Number.isNaN(expiresAtMs) ? undefined : new Date(expiresAtMs).toISOString(),
  };
}

/**
 * Opens a socket and hands it over only once it is connected and, with TLS, trusted: no byte of a request (and no password) leaves
 * before, and a request that is given such a socket is written at once. Returns a function that gives the attempt up.
 */
export function openSocket(
  settings: RedfishSettings,
  clock: Clock,
  authorities: Authorities,
  onReady: (error: Error | undefined, socket: Socket, certificate: ShownCertificate | undefined) => void,
): () => void {
  const { tls } = settings;
  const socket = opened(settings, authorities);
  socket.setNoDelay(true);
  let isOver = false;
  const finish = (error: Error | undefined, certificate?: ShownCertificate): void => {
    if (isOver) return;
    isOver = true;
    cancelTimer();
    socket.off('error', onError);
    if (error !== undefined) {
      socket.on('error', () => undefined);
      socket.destroy();
    }
    onReady(error, socket, certificate);
  };
  const onError = (error: Error): void => finish(error);
  const cancelTimer = clock.after(settings.connectTimeoutMs, () => {
    finish(new ConnectTimeout(`no ${tls ? 'connection with TLS' : 'connection'} within ${settings.connectTimeoutMs} ms`));
  });
  socket.on('error', onError);
  socket.once('close', () => finish(new ConnectTimeout('the device closed the connection')));
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    const shown = shownCertificate(socket);
    if (settings.fingerprint === undefined || shown?.fingerprint === settings.fingerprint) finish(undefined, shown);
    else
      finish(new TrustError(`its certificate has the SHA-256 fingerprint ${shown?.fingerprint ?? 'none'}, not the pinned ${settings.fingerprint}`));
  });
  return () => finish(new ConnectTimeout('given up'));
}

function opened({ host, port, tls, ca, insecure, fingerprint, minVersion }: RedfishSettings, authorities: Authorities): Socket {
  const { check } = authorities;
  const refusal = refusalOf(host, check);
  if (refusal !== undefined) return new Socket().destroy(refusal);
  const where = { host, port, lookup: checkedLookup(check) };
  if (!tls) return connectPlain(where);
  return connectSecure({
    ...where,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secureContext: authorities.contextOf(ca, minVersion),
    // A pinned certificate is compared before the socket is handed over.
    rejectUnauthorized: !insecure && fingerprint === undefined,
    ALPNProtocols: ['http/1.1'],
  });
}
