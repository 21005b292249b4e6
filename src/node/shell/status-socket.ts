import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { dirname } from 'node:path';
import { codeOf } from './file-errors.ts';

/** By the names that `nodefence node status` looks for too. */
export const STATUS_SOCKET = 'node.sock';

const ASKING_MAX = 8;
const WITHIN_MS = 5_000;
const PAGE_MAX_BYTES = 1_048_576;

/** Answers whoever connects with one page of JSON. Only the user of the daemon may. */
export class StatusSocket {
  readonly #server: Server;
  readonly #path: string;

  private constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
  }

  /** Rejects where another daemon answers there; what a daemon left that ended is taken over. `failed`: it could not accept somebody, and goes on. */
  static async listen(path: string, status: () => unknown, failed: (error: Error) => void): Promise<StatusSocket> {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (await isAnswered(path)) throw new Error(`${path}: another daemon runs on this node`);
    rmSync(path, { force: true });
    const server = createServer((socket) => {
      socket.setTimeout(WITHIN_MS, () => socket.destroy());
      socket.on('error', () => socket.destroy());
      socket.end(`${JSON.stringify(status())}\n`);
    });
    server.maxConnections = ASKING_MAX;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Nobody may connect before its mode is set.
      const mask = process.umask(0o177);
      server.listen(path, resolve);
      process.umask(mask);
    });
    // Without a listener an error would end the daemon.
    server.on('error', failed);
    chmodSync(path, 0o600);
    return new StatusSocket(server, path);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      rmSync(this.#path, { force: true });
    });
  }
}

/** The page of the daemon that listens there. Rejects with what to do where none does. */
export function askStatus(path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const chunks: Buffer[] = [];
    let size = 0;
    socket.setTimeout(WITHIN_MS, () => socket.destroy(new Error(`no answer within ${WITHIN_MS / 1000} s`)));
    socket.on('error', (error) => reject(new Error(`${path}: ${messageFor(error)}`, { cause: error })));
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > PAGE_MAX_BYTES) socket.destroy(new Error('the answer is too long'));
    });
    socket.on('end', () => {
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString()));
      } catch (error) {
        reject(new Error(`${path}: what answers there is no node daemon`, { cause: error }));
      }
    });
  });
}

function messageFor(error: Error): string {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ECONNREFUSED') return 'no node daemon runs here (systemctl status nodefence-node)';
  return codeOf(error) === 'EACCES' ? 'only the user of the daemon may ask it: try sudo' : error.message;
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (is: boolean) => (): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', end(true));
    socket.once('error', end(false));
  });
}
