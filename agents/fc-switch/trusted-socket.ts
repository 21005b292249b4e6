import { createHash } from 'node:crypto';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';

import type { Clock } from '../../src/ports/clock.ts';
import type { WebSettings } from './parameters.ts';

/** The switch is not the one that the configuration trusts. */
export class Untrusted extends Error {
  override readonly name = 'Untrusted';
}

const TRUST_CODES = /^(CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|ERROR_IN_CERT)/;

/**
 * Opens a socket and hands it over only once it is connected and, with TLS, trusted: no password leaves before, and a request that is given it is
 * written at once. Returns what gives the attempt up.
 */
export function openTrusted(settings: WebSettings, clock: Clock, onReady: (error: Error | undefined, socket: Socket) => void): () => void {
  const { socket, ready, shown } = opened(settings);
  let isOver = false;
  const finish = (error: Error | undefined): void => {
    if (isOver) return;
    isOver = true;
    cancel();
    socket.off('error', onError);
    if (error !== undefined) {
      socket.on('error', () => undefined);
      socket.destroy();
    }
    onReady(error, socket);
  };
  const onError = (error: Error): void => finish('code' in error && TRUST_CODES.test(String(error.code)) ? new Untrusted(error.message) : error);
  const cancel = clock.after(settings.connectTimeoutMs, () => finish(new Error(`no connection within ${settings.connectTimeoutMs} ms`)));
  socket.on('error', onError);
  socket.once('close', () => finish(new Error('the switch closed the connection')));
  socket.once(ready, () => {
    const found = shown();
    if (settings.fingerprint === undefined || found === settings.fingerprint) finish(undefined);
    else finish(new Untrusted(`its certificate has the SHA-256 fingerprint ${found ?? 'none'}, not the pinned ${settings.fingerprint}`));
  });
  return () => finish(new Error('given up'));
}

function opened({ host, port, tls, ca, fingerprint, insecure }: WebSettings): {
  socket: Socket;
  ready: 'connect' | 'secureConnect';
  shown: () => string | undefined;
} {
  if (!tls) return { socket: connectPlain({ host, port, noDelay: true }), ready: 'connect', shown: () => undefined };
  const socket = connectSecure({
    host,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
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
