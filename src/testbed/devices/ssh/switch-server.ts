import { createHash } from 'node:crypto';

import { createServer, type Socket } from 'node:net';

import ssh2 from 'ssh2';
import type { AuthContext, ServerChannel } from 'ssh2';

import type { Clock } from '../../../ports/clock.ts';
import type { CliKind } from './command-line.ts';
import { makeHostKey } from './host-key.ts';
import type { SwitchPorts } from './switch-ports.ts';
import { Terminal } from './terminal.ts';

export interface SwitchServerOptions {
  clock: Clock;
  ports: SwitchPorts;
  kind: CliKind;
  username: string;
  password: string;
  /** Cisco's second password; the session begins without privileges then. */
  enablePassword?: string;
  /** How the password is asked for. */
  asks?: 'password' | 'keyboard-interactive';
}

export interface SwitchServer {
  port: number;
  /** A line of known_hosts. */
  knownHosts: string;
  fingerprint: string;
  /** Every line and command that was typed, oldest first; the enable password too. */
  typed: readonly string[];
  sessions(): number;
  connections(): number;
  close(): Promise<void>;
}

/** A switch with a command line over SSH, on loopback, that misbehaves as `ports.faults` says at the time. */
export async function startSwitchServer(options: SwitchServerOptions): Promise<SwitchServer> {
  const key = makeHostKey();
  const open = { terminals: new Set<Terminal>(), sockets: new Set<Socket>() };
  const typed: string[] = [];
  let turnedAway = 0;
  function terminalOf(channel: ServerChannel): Terminal {
    const terminal = new Terminal(options, channel, typed);
    open.terminals.add(terminal);
    channel.on('close', () => {
      terminal.close();
      open.terminals.delete(terminal);
    });
    return terminal;
  }
  const server = new ssh2.Server({ hostKeys: [key.private], ident: 'Cisco-1.25' }, (connection) => {
    connection.on('error', () => undefined);
    connection.on('authentication', (context) => authenticate(options, context));
    connection.on('session', (accept, reject) => {
      if (options.ports.faults.isFull === true) {
        reject();
        return;
      }
      const session = accept();
      session.on('pty', (acceptPty) => acceptPty());
      session.on('exec', (acceptExec, _reject, { command }) => terminalOf(acceptExec()).run(command));
      session.on('shell', (acceptShell) => terminalOf(acceptShell()).converse());
    });
  });
  const listener = createServer({ noDelay: true }, (socket) => {
    open.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.sockets.delete(socket));
    if (turnedAway < (options.ports.faults.turnsAway ?? 0)) {
      turnedAway += 1;
      socket.resume();
      socket.end('% Too many logins, try again later\r\n');
    } else server.injectSocket(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the switch has no port');
  const { port } = address;
  const blob = key.public;
  return {
    port,
    knownHosts: `[127.0.0.1]:${port} ${blob}`,
    fingerprint: `SHA256:${createHash('sha256')
      .update(Buffer.from(blob.split(' ')[1] ?? '', 'base64'))
      .digest('base64')
      .replace(/=+$/, '')}`,
    typed,
    sessions: () => open.terminals.size,
    connections: () => open.sockets.size,
    async close() {
      options.ports.close();
      const closed = new Promise<void>((resolve) => void listener.close(() => resolve()));
      for (const terminal of open.terminals) terminal.close();
      for (const socket of open.sockets) socket.destroy();
      await closed;
    },
  };
}

function authenticate({ username, password, asks = 'password', ports }: SwitchServerOptions, context: AuthContext): void {
  const isKnown = context.username === username && ports.faults.refusesLogin !== true;
  if (context.method === 'password' && asks === 'password' && isKnown && context.password === password) {
    context.accept();
    return;
  }
  if (context.method === 'keyboard-interactive' && asks === 'keyboard-interactive') {
    context.prompt([{ prompt: 'Password: ', echo: false }], (answers) => {
      if (isKnown && answers[0] === password) context.accept();
      else context.reject([asks]);
    });
    return;
  }
  context.reject([asks]);
}
