import type { AgentContext } from '../../../src/ports/agents.ts';
import { addressCheckOf } from '../address/address-check.ts';
import { tlsVersionOf } from '../web/tls-version.ts';
import { openTrusted } from '../web/trusted-socket.ts';
import { placeOfDevice } from './place.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** SHA-256 of the certificate that a device shows, whoever signed it: nothing is sent but the greeting of TLS. */
export function shownCertificate(
  device: string,
  version: string | undefined,
  context: Pick<AgentContext, 'clock' | 'addresses'>,
  signal: AbortSignal,
): Promise<string> {
  const trust = { ca: undefined, fingerprint: undefined, insecure: true, minVersion: tlsVersionOf(version), connectTimeoutMs: CONNECT_TIMEOUT_MS };
  const reach = { clock: context.clock, check: addressCheckOf(context) };
  return new Promise((resolve, reject) => {
    const giveUp = openTrusted({ ...placeOfDevice(device), tls: true }, trust, reach, (error, socket, shown) => {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      if (error !== undefined) reject(error);
      else if (shown === undefined) reject(new Error('it showed no certificate'));
      else resolve(shown);
    });
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
  });
}
