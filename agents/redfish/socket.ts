import { isIP, connect as connectPlain, Socket } from 'node:net';
import type { X509Certificate } from 'node:crypto';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';

import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, checkedLookup, refusalOf, type AddressCheck } from '../shared/address/address-check.ts';
import { tlsOptions, type TlsVersion } from '../shared/web/tls-version.ts';
import { connectNamed } from './named-peer.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Recollection, ShownCertificate } from './recollection.ts';

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

function shownCertificate(certificate: X509Certificate | undefined): ShownCertificate | undefined {
  if (certificate === undefined) return undefined;
  const expiresAtMs = Date.parse(certificate.validTo);
  return {
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    expiresAt: Number.isNaN(expiresAtMs) ? undefined : new Date(expiresAtMs).toISOString(),
  };
}

/** What comes of an attempt. `isBroken`: the device was reached, and it ended the handshake. */
type OnReady = (error: Error | undefined, socket: Socket, certificate: ShownCertificate | undefined, isBroken?: boolean) => void;

/** What a connection is made with. */
export interface Ways {
  settings: RedfishSettings;
  clock: Clock;
  authorities: Authorities;
  recollection: Recollection;
  /** The device is to show its certificate, whatever is known of it. */
  isWhole: boolean;
}

/**
 * Opens a socket and hands it over only once it is connected and, with TLS, trusted: no byte of a request (and no password) leaves
 * before, and a request that is given such a socket is written at once. A TLS session of before is resumed where the device takes it. Returns a function
 * that gives the attempt up.
 */
export function openSocket(ways: Ways, onReady: OnReady): () => void {
  const offered = ways.settings.tls && !ways.isWhole ? ways.recollection.resumable : undefined;
  if (offered === undefined) return attempt(ways, undefined, onReady);
  let giveUp = attempt(ways, offered, (error, socket, certificate, isBroken) => {
    if (error !== undefined) ways.recollection.forgetSession();
    // Some firmware ends the handshake where it should begin a whole one.
    if (isBroken === true) giveUp = attempt(ways, undefined, onReady);
    else onReady(error, socket, certificate);
  });
  return () => giveUp();
}

function attempt({ settings, clock, authorities, recollection }: Ways, offered: Recollection['resumable'], onReady: OnReady): () => void {
  const { tls } = settings;
  const { socket, certificate } = opened(settings, authorities, offered?.session);
  socket.setNoDelay(true);
  let isOver = false;
  let isReached = false;
  const finish = (error: Error | undefined, certificate?: ShownCertificate, isBroken = false): void => {
    if (isOver) return;
    isOver = true;
    cancelTimer();
    socket.off('error', onError).off('close', onClose);
    if (error !== undefined) {
      socket.on('error', () => undefined);
      socket.destroy();
    }
    onReady(error, socket, certificate, isBroken);
  };
  const onError = (error: Error): void => finish(error, undefined, isReached);
  const onClose = (): void => finish(new ConnectTimeout('the device closed the connection'), undefined, isReached);
  const cancelTimer = clock.after(settings.connectTimeoutMs, () => {
    finish(new ConnectTimeout(`no ${tls ? 'connection with TLS' : 'connection'} within ${settings.connectTimeoutMs} ms`));
  });
  socket.on('error', onError);
  socket.once('close', onClose);
  socket.once('connect', () => (isReached = true));
  const kept = tls ? keptSession(socket, recollection) : undefined;
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    // A resumed session shows no certificate: only the device to which it was shown can have resumed it.
    const isResumed = offered !== undefined && socket instanceof TLSSocket && socket.isSessionReused();
    const shown = isResumed ? offered.certificate : shownCertificate(certificate());
    if (settings.fingerprint !== undefined && shown?.fingerprint !== settings.fingerprint) {
      finish(new TrustError(`its certificate has the SHA-256 fingerprint ${shown?.fingerprint ?? 'none'}, not the pinned ${settings.fingerprint}`));
      return;
    }
    if (shown !== undefined) kept?.(shown, isResumed ? offered.verifiedAtMs : clock.monotonicMs());
    finish(undefined, shown);
  });
  return () => finish(new ConnectTimeout('given up'));
}

function opened(
  { host, port, tls, ca, insecure, fingerprint, minVersion }: RedfishSettings,
  authorities: Authorities,
  session: Buffer | undefined,
): { socket: Socket; certificate: () => X509Certificate | undefined } {
  const { check } = authorities;
  const refusal = refusalOf(host, check);
  if (refusal !== undefined) return withoutTls(new Socket().destroy(refusal));
  const where = { host, port, lookup: checkedLookup(check) };
  if (!tls) return withoutTls(connectPlain(where));
  return connectNamed({
    ...where,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secureContext: authorities.contextOf(ca, minVersion),
    // A pinned certificate is compared before the socket is handed over.
    rejectUnauthorized: !insecure && fingerprint === undefined,
    ALPNProtocols: ['http/1.1'],
    ...(session === undefined ? {} : { session }),
  });
}

function withoutTls(socket: Socket): ReturnType<typeof opened> {
  return { socket, certificate: () => undefined };
}

/** Keeps each session that the device offers on this connection, from when the connection is trusted: the device may offer it before or after. */
function keptSession(socket: Socket, recollection: Recollection): (certificate: ShownCertificate, verifiedAtMs: number) => void {
  let latest: Buffer | undefined;
  let keep = (): void => undefined;
  socket.on('session', (session: Buffer) => {
    latest = session;
    keep();
  });
  return (certificate, verifiedAtMs) => {
    keep = () => {
      if (latest !== undefined) recollection.keep({ session: latest, certificate, verifiedAtMs });
    };
    keep();
  };
}
