import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';

import { createAuthority } from '../../certificates.ts';
import type { PortShown, SwitchPorts } from './switch-ports.ts';
import type { Clock } from '../../../ports/clock.ts';

export interface SwitchWeb {
  port: number;
  /** Of its certificate. */
  fingerprint: string;
  requests: readonly string[];
  sessions(): number;
  connections(): number;
  close(): Promise<void>;
}

interface Options {
  clock: Clock;
  ports: SwitchPorts;
  kind: 'fos' | 'nxapi';
  username: string;
  password: string;
  tls?: boolean;
}

/** Brocade's REST API or Cisco's NX-API over HTTPS, as far as closing a port needs them; it misbehaves as `ports.faults` says. */
export async function startSwitchWeb(options: Options): Promise<SwitchWeb> {
  const tokens = new Set<string>();
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const issued = createAuthority('switches').issue({ commonName: 'switch', hosts: ['127.0.0.1'] });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
      const body = Buffer.concat(chunks).toString('utf8');
      if (options.kind === 'fos') fos(options, tokens, { request, response, body });
      else nxapi(options, { request, response, body });
    });
  };
  const server: Server =
    options.tls === false ? createServer(answer) : createSecureServer({ cert: issued.certificatePem, key: issued.keyPem }, answer);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    fingerprint: issued.fingerprintSha256,
    requests,
    sessions: () => tokens.size,
    connections: () => sockets.size,
    async close() {
      options.ports.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  body: string;
}

function isKnown({ username, password, ports }: Options, request: IncomingMessage): boolean {
  const wanted = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return ports.faults.refusesLogin !== true && request.headers.authorization === wanted;
}

function end(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/yang-data+json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

function refusal(message: string): unknown {
  return { errors: { error: [{ 'error-type': 'application', 'error-message': message }] } };
}

const FOS_STATES: Readonly<Record<PortShown, Record<string, unknown>>> = {
  open: { 'enabled-state': 2, 'operational-status': 2, 'persistent-disable': 0 },
  closed: { 'enabled-state': 6, 'operational-status': 3, 'persistent-disable': 1 },
  pending: { 'enabled-state': 6, 'operational-status': 2, 'persistent-disable': 1 },
  unknown: { 'enabled-state': 99, 'operational-status': 0, 'persistent-disable': 1 },
  missing: { 'enabled-state': null },
};

function fos(options: Options, tokens: Set<string>, { request, response, body }: Exchange): void {
  const { ports } = options;
  const { faults } = ports;
  const token = request.headers.authorization ?? '';
  if (request.url === '/rest/login') {
    if (faults.isFull === true) end(response, 503, refusal('Max limit for REST sessions reached'));
    else if (!isKnown(options, request)) end(response, 401, refusal('Invalid credentials'));
    else {
      const given = `Custom_Basic ${randomUUID()}`;
      tokens.add(given);
      end(response, 200, undefined, { Authorization: given });
    }
    return;
  }
  if (!tokens.has(token)) {
    end(response, 401, refusal('Unauthorized'));
    return;
  }
  if (request.url === '/rest/logout') {
    tokens.delete(token);
    end(response, 204, undefined);
    return;
  }
  if (request.method === 'PATCH') {
    const [, name = '', value] = /<name>0\/(\d+)<\/name><persistent-disable>([01])</.exec(body) ?? [];
    const isDone = ports.set(name, value === '1' ? 'off' : 'on');
    answered(options, () => (isDone ? end(response, 204, undefined) : end(response, 403, refusal('RBAC permission denied'))), true);
    return;
  }
  const name = decodeURIComponent(/\/name\/([^?]+)/.exec(request.url ?? '')?.[1] ?? '').replace(/^0\//, '');
  if (!ports.has(name)) {
    end(response, 404, refusal('No such port'));
    return;
  }
  const shown = { name: `0/${name}`, 'user-friendly-name': ports.describe(name), ...FOS_STATES[ports.shown(name)] };
  answered(options, () => show(options, response, JSON.stringify({ Response: { fibrechannel: shown } })));
}

function answered({ ports, clock }: Options, act: () => void, isChange = false): void {
  const { answerMs = 0, changeAnswerMs = answerMs } = ports.faults;
  const waitMs = isChange ? changeAnswerMs : answerMs;
  if (waitMs === 0) act();
  else clock.after(waitMs, act);
}

function show({ ports }: Options, response: ServerResponse, text: string): void {
  const { wire } = ports.faults;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) });
  if (wire === undefined) response.end(text);
  else if (wire === 'garbage') response.end('~'.repeat(Buffer.byteLength(text)));
  else {
    response.write(text.slice(0, text.length / 2));
    if (wire === 'truncated') setImmediate(() => response.socket?.destroy());
  }
}

const NXOS_STATES: Readonly<Record<PortShown, (name: string) => string[]>> = {
  open: (name) => [`${name} is up`, '    Port mode is F'],
  closed: (name) => [`${name} is down (Administratively down)`],
  pending: (name) => [`${name} is up`, 'admin state is down'],
  unknown: (name) => [`${name} is sideways`],
  missing: () => [],
};

function nxapi(options: Options, { request, response, body }: Exchange): void {
  const { ports } = options;
  if (!isKnown(options, request)) {
    end(response, 401, { error: 'Unauthorized' });
    return;
  }
  const { ins_api: asked } = JSON.parse(body) as { ins_api: { type: string; input: string } };
  const [, name = '', change] = /^(?:show )?interface (\S+)(?: ; (shutdown|no shutdown))?$/.exec(asked.input) ?? [];
  const reply = (outputs: unknown): string =>
    JSON.stringify({ ins_api: { version: '1.0', type: asked.type, sid: 'eoc', outputs: { output: outputs } } });
  const denied = { code: '400', msg: 'CLI execution error', clierror: '% Permission denied for the role' };
  if (!ports.has(name)) {
    end(response, 200, { ins_api: { outputs: { output: { code: '400', msg: 'Input CLI command error', clierror: '% Invalid interface' } } } });
    return;
  }
  if (change !== undefined) {
    const isDone = ports.set(name, change === 'shutdown' ? 'off' : 'on');
    const good = { code: '200', msg: 'Success', body: {} };
    answered(options, () => end(response, 200, JSON.parse(reply([good, isDone ? good : denied]))), true);
    return;
  }
  const text = [...NXOS_STATES[ports.shown(name)](name), `    Port description is ${ports.describe(name)}`].join('\n');
  answered(options, () => show(options, response, reply({ code: '200', msg: 'Success', body: text })));
}
