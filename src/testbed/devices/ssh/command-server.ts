import { createServer, type Socket } from 'node:net';

import ssh2 from 'ssh2';
import type { ServerChannel } from 'ssh2';

import { makeHostKey } from './host-key.ts';

/** What becomes of one command. */
export type Ending = { stdout?: string; stderr?: string } & (
  | { code: number }
  | { signal: string }
  | { ends: 'without a word' | 'never' | 'cut off' }
);

export interface CommandServer {
  port: number;
  /** A line of known_hosts. */
  knownHosts: string;
  /** Every command that arrived, oldest first. */
  commands: readonly string[];
  /** How many connections were ever opened, and how many are open. */
  opened(): number;
  connections(): number;
  close(): Promise<void>;
}

/** A server of commands over SSH, on loopback, in this process: it ends each as `answer` says. Any password is right. */
export async function startCommandServer(answer: (command: string) => Ending): Promise<CommandServer> {
  const key = makeHostKey();
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = new ssh2.Server({ hostKeys: [key.private] }, (connection) => {
    connection.on('error', () => undefined);
    connection.on('authentication', (context) => (context.method === 'password' ? context.accept() : context.reject(['password'])));
    connection.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, { command }) => {
        commands.push(command);
        end(acceptExec(), answer(command), () => connection.end());
      });
    });
  });
  const listener = createServer({ noDelay: true }, (socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    server.injectSocket(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    knownHosts: `[127.0.0.1]:${address.port} ${key.public}`,
    commands,
    opened: () => opened,
    connections: () => sockets.size,
    async close() {
      const closed = new Promise<void>((resolve) => void listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function end(channel: ServerChannel, ending: Ending, hangUp: () => void): void {
  channel.on('error', () => undefined);
  channel.write(ending.stdout ?? '');
  channel.stderr.write(ending.stderr ?? '');
  if ('code' in ending) channel.exit(ending.code);
  if ('signal' in ending) channel.exit(ending.signal);
  const how = 'ends' in ending ? ending.ends : undefined;
  if (how === 'cut off') hangUp();
  else if (how !== 'never') channel.close();
}
