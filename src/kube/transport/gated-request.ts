import type { ClientRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** The caller's `beforeSend` threw: nothing was sent. */
export class HeldBack extends Error {
  override readonly name = 'HeldBack';
  constructor(cause: unknown) {
    super('held back by its caller', { cause });
  }
}

/** TLS sockets whose handshake is over; Node has no public word for it. */
const secured = new WeakSet<Socket>();

/** For every TLS socket, when it is made. */
export function watchHandshake(socket: Duplex | null | undefined): void {
  if (socket instanceof TLSSocket) socket.once('secureConnect', () => secured.add(socket));
}

/**
 * Writes the request once it has a socket on which TCP and TLS stand, and asks `beforeSend` in that very turn: Node would hand the bytes to a socket that is
 * still connecting, from which nobody could take them back. `heldBack` is told what `beforeSend` threw.
 */
export function sendWhenReady(
  outgoing: ClientRequest,
  body: Buffer | undefined,
  beforeSend: (() => void) | undefined,
  heldBack: (error: HeldBack) => void,
): void {
  const send = (): void => {
    // The caller gave up while the connection was made.
    if (outgoing.destroyed) return;
    try {
      beforeSend?.();
    } catch (cause) {
      heldBack(new HeldBack(cause));
      outgoing.destroy();
      return;
    }
    outgoing.end(body);
  };
  outgoing.once('socket', (socket) => {
    const awaited = awaitedOn(socket);
    if (awaited === undefined) send();
    else socket.once(awaited, send);
  });
}

/** What has to happen before a byte would leave; undefined: it leaves at once. */
function awaitedOn(socket: Socket): 'connect' | 'secureConnect' | undefined {
  if (socket instanceof TLSSocket) return secured.has(socket) ? undefined : 'secureConnect';
  return socket.connecting ? 'connect' : undefined;
}
