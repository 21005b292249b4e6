import { createServer, type Socket } from 'node:net';

import ssh2 from 'ssh2';
import type { ServerChannel } from 'ssh2';

import { makeHostKey } from '../../src/drill/ssh/host-key.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Behaviour, Specimen } from './species.ts';

export interface SshMachine {
  port: number;
  knownHosts: string;
  commands: { plug: string; wanted: 'on' | 'off' | 'other' }[];
  isRunning(): boolean;
  sessions(): number;
  connections(): number;
  close(): Promise<void>;
}

const CALL_MS = 4_000;

/** What a command prints and how it ends. */
interface Ending {
  stdout: string;
  stderr: string;
  code: number;
}

/** A machine with one service that can be stopped over SSH; `flows` is whether it runs. */
export async function startSshMachine(clock: Clock, behaviour: Behaviour, isOn: boolean, password: string): Promise<SshMachine> {
  const key = makeHostKey();
  const sockets = new Set<Socket>();
  const channels = new Set<ServerChannel>();
  const commands: ReturnType<Specimen['commands']>[number][] = [];
  const timers = new Set<() => void>();
  let isRunning = isOn;
  let turnedAway = 0;
  const later = (delayMs: number, act: () => void): void => void timers.add(clock.after(delayMs, act));

  function ending(command: string): Ending {
    if (command === 'systemctl stop kubelet') {
      commands.push({ plug: '', wanted: 'off' });
      if (behaviour === 'refuses') return { stdout: '', stderr: 'Failed to restart kubelet.service: Access denied\n', code: 1 };
      if (behaviour === 'late-after-deadline') later(CALL_MS + 1_000, () => (isRunning = false));
      else if (behaviour !== 'accepts-and-lies') isRunning = false;
      return { stdout: '', stderr: '', code: 0 };
    }
    if (behaviour === 'accepts-and-lies') return { stdout: 'inactive\n', stderr: '', code: 3 };
    return isRunning ? { stdout: 'active\n', stderr: '', code: 0 } : { stdout: 'stopped\n', stderr: '', code: 0 };
  }

  function run(channel: ServerChannel, command: string): void {
    channels.add(channel);
    channel.resume();
    channel.on('error', () => undefined);
    channel.on('close', () => channels.delete(channel));
    const { stdout, stderr, code } = ending(command);
    const say = (): void => {
      channel.stderr.write(stderr);
      channel.write(stdout);
      channel.exit(code);
      channel.end();
    };
    const waitMs = behaviour === 'slow' ? 2_000 : behaviour === 'late-after-deadline' && command.includes('stop') ? CALL_MS + 1_000 : 0;
    if (waitMs === 0) say();
    else later(waitMs, say);
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
    commands,
    isRunning: () => isRunning,
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
