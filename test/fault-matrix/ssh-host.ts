import { createServer, type Socket } from 'node:net';

import ssh2 from 'ssh2';
import type { ServerChannel } from 'ssh2';

import { makeHostKey } from '../../src/testbed/devices/ssh/host-key.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Behaviour } from './fault-profile.ts';

export interface SshHost {
  port: number;
  knownHosts: string;
  sessions(): number;
  connections(): number;
  close(): Promise<void>;
}

/** What a command prints, how it ends, and after how long it says so. */
export interface Ending {
  stdout: string;
  stderr: string;
  code: number;
  afterMs?: number;
}

export interface SshHostOptions {
  clock: Clock;
  behaviour: Behaviour;
  password: string;
  /** Called once for each command that arrives, with what was written to its standard input. */
  answer: (command: string, input: string) => Ending;
}

const SLOW_MS = 2_000;

/** A host with a shell of a few commands; logins, sessions and connections are as odd as the behaviour says. */
export async function startSshHost({ clock, behaviour, password, answer }: SshHostOptions): Promise<SshHost> {
  const key = makeHostKey();
  const sockets = new Set<Socket>();
  const channels = new Set<ServerChannel>();
  const timers = new Set<() => void>();
  let turnedAway = 0;

  function run(channel: ServerChannel, command: string): void {
    const chunks: Buffer[] = [];
    channels.add(channel);
    channel.on('data', (chunk: Buffer) => void chunks.push(chunk));
    channel.on('error', () => undefined);
    channel.on('close', () => channels.delete(channel));
    const finish = (): void => {
      const { stdout, stderr, code, afterMs = behaviour === 'slow' ? SLOW_MS : 0 } = answer(command, Buffer.concat(chunks).toString());
      const say = (): void => {
        channel.stderr.write(stderr);
        channel.write(stdout);
        channel.exit(code);
        channel.end();
      };
      if (afterMs === 0) say();
      else timers.add(clock.after(afterMs, say));
    };
    channel.on('end', finish);
  }

  const server = new ssh2.Server({ hostKeys: [key.private] }, (connection) => {
    connection.on('error', () => undefined);
    connection.on('authentication', (context) => {
      if (context.method === 'password' && context.password === password) context.accept();
      else context.reject(['password']);
    });
    connection.on('session', (accept, reject) => {
      if (behaviour === 'hangs-mid-answer') return;
      if (behaviour === 'truncated') for (const socket of sockets) socket.destroy();
      else if (behaviour === 'session-limit') reject();
      else accept().on('exec', (acceptExec, _reject, { command }) => run(acceptExec(), command));
    });
  });
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (behaviour === 'rate-limited' && turnedAway === 0) {
      turnedAway += 1;
      socket.resume();
      socket.end('Too many logins, try again later\r\n');
    } else server.injectSocket(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    knownHosts: `[127.0.0.1]:${address.port} ${key.public}`,
    sessions: () => channels.size,
    connections: () => sockets.size,
    async close() {
      for (const cancel of timers) cancel();
      const closed = new Promise<void>((resolve) => void listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
