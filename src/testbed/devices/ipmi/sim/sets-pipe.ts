import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** Reads lines from a named pipe as they are written; open for writing too, so that it never ends. Returns what closes it. */
export function readPipe(path: string, onLine: (line: string) => void): () => void {
  const socket = new Socket({ fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK), readable: true, writable: false });
  createInterface({ input: socket }).on('line', onLine);
  return () => {
    socket.destroy();
  };
}
