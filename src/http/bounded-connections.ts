import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps no more connections than so many: a new one takes the place of the one that stands longest and on which nothing is about to be answered. Were it refused,
 * whoever holds them all and says nothing would keep probes away, and a kubelet ends what does not answer them.
 */
export function boundConnections(server: Server, most: number): void {
  /** Those that stand, the oldest first, and how many answers are due on each. */
  const due = new Map<Socket, number>();
  server.on('connection', (socket) => {
    const [idle] = (due.size >= most ? [...due].find(([, answers]) => answers === 0) : undefined) ?? [];
    if (idle !== undefined) due.delete(idle);
    idle?.destroy();
    due.set(socket, 0);
    socket.once('close', () => due.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    due.set(socket, (due.get(socket) ?? 0) + 1);
    response.once('close', () => {
      if (due.has(socket)) due.set(socket, (due.get(socket) ?? 1) - 1);
    });
  });
}
