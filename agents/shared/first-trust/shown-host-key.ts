import type { Socket } from 'node:net';
import { connect } from 'node:net';

import ssh2 from 'ssh2';

import type { AgentContext } from '../../../src/ports/agents.ts';
import { addressCheckOf, checkedLookup, refusalOf } from '../address/address-check.ts';
import { fingerprintOf } from '../ssh/host-trust.ts';
import { LEGACY_ALGORITHMS } from '../ssh/legacy-algorithms.ts';
import { placeOfDevice } from './place.ts';

const TIMEOUT_MS = 5_000;
const NOBODY = 'nodefence';

/** Fingerprint of the host key that a device proves to have; the connection ends there, before any login. */
export async function shownHostKey(
  device: string,
  isLegacy: boolean,
  context: Pick<AgentContext, 'clock' | 'addresses'>,
  signal: AbortSignal,
): Promise<string> {
  const { host, port } = placeOfDevice(device);
  const check = addressCheckOf(context);
  const refusal = refusalOf(host, check);
  if (refusal !== undefined) throw refusal;
  const client = new ssh2.Client();
  const socket: Socket = connect({ host, port, lookup: checkedLookup(check) });
  let shown: string | undefined;
  let cancel = (): void => undefined;
  const end = (): void => void socket.destroy(new Error('given up'));
  signal.addEventListener('abort', end);
  try {
    await new Promise<void>((resolve, reject) => {
      cancel = context.clock.after(TIMEOUT_MS, () => reject(new Error(`no host key within ${TIMEOUT_MS} ms`)));
      socket.on('error', reject);
      client.on('error', reject);
      client.on('close', () => reject(new Error('the device closed the connection')));
      const hostVerifier = (key: Buffer): boolean => {
        shown = fingerprintOf(key);
        resolve();
        return false;
      };
      client.connect({ sock: socket, username: NOBODY, readyTimeout: 0, algorithms: isLegacy ? LEGACY_ALGORITHMS : {}, hostVerifier });
      if (signal.aborted) end();
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', end);
    client.on('error', () => undefined);
    socket.on('error', () => undefined);
    socket.destroy();
  }
  if (shown === undefined) throw new Error('it showed no host key');
  return shown;
}
