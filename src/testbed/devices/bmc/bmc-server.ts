import { createServer as createPlain, type IncomingMessage, type ServerResponse, type Server as PlainServer } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { BmcFaults } from './faults.ts';
import type { RedfishDevice } from './redfish-device.ts';

const REQUEST_BYTES_MAX = 1_048_576;

export interface BmcServerOptions {
  host?: string;
  /** 0 chooses one. */
  port?: number;
  /** Absent: plain HTTP. */
  certificate?: { certificatePem: string; keyPem: string };
}

export interface BmcServer {
  url: string;
  host: string;
  port: number;
  /** Connections accepted so far. */
  connections: () => number;
  /** Handshakes that resumed a TLS session, so far. */
  resumed: () => number;
  /** Connections that are open now. */
  open: () => number;
  /** Cuts every open connection. */
  cut: () => void;
  close: () => Promise<void>;
}

/** Serves a device over HTTPS, on an address that becomes the device's name unless it has one. */
export async function startBmcServer(device: RedfishDevice, options: BmcServerOptions = {}): Promise<BmcServer> {
  const host = options.host ?? '127.0.0.1';
  const sockets = new Map<Socket, string>();
  let accepted = 0;
  let resumed = 0;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    void serve(device, `${request.socket.remotePort ?? 0}`, request, response);
  };
  const inner: PlainServer = options.certificate
    ? createSecure({ key: options.certificate.keyPem, cert: options.certificate.certificatePem }, answer)
    : createPlain(answer);
  inner.keepAliveTimeout = 60_000;
  inner.on('secureConnection', (socket: TLSSocket) => (resumed += socket.isSessionReused() ? 1 : 0));
  const outer = createTcp((socket) => {
    accepted += 1;
    sockets.set(socket, String(accepted));
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    if (device.faults.isSilent === true) socket.resume();
    else inner.emit('connection', socket);
  });
  await new Promise<void>((resolve, reject) => {
    outer.once('error', reject);
    outer.listen(options.port ?? 0, host, resolve);
  });
  const { port } = outer.address() as AddressInfo;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (device.name === '') device.name = authority;
  const cut = (): void => {
    for (const socket of sockets.keys()) socket.destroy();
  };
  device.onRestart = cut;
  return {
    url: `${options.certificate ? 'https' : 'http'}://${authority}`,
    host,
    port,
    connections: () => accepted,
    resumed: () => resumed,
    open: () => sockets.size,
    cut,
    close: async () => {
      const closed = new Promise<void>((resolve) => outer.close(() => resolve()));
      cut();
      await closed;
    },
  };
}

async function serve(device: RedfishDevice, connection: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await bodyOf(request);
  if (text === undefined) {
    response.destroy();
    return;
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const result = device.handle({ method: request.method ?? 'GET', path, headers, body: parsed(text), connection });
  if (result === undefined) return;
  const { faults } = device;
  const delayMs = (result.delayMs ?? 0) + (faults.answerDelayMs ?? 0);
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
  if (result.body instanceof Uint8Array) {
    response.writeHead(result.status, result.headers).end(result.body);
    return;
  }
  const body = bodyText(result.body, faults);
  response.writeHead(result.status, {
    'OData-Version': '4.0',
    ...(body === '' ? {} : { 'Content-Type': 'application/json' }),
    ...(faults.closesConnections === true ? { Connection: 'close' } : {}),
    ...result.headers,
  });
  if (faults.stallsBody === true) response.write(body.slice(0, Math.ceil(body.length / 2)));
  else if (faults.dripMs === undefined) response.end(body);
  else drip(response, body, faults.dripMs);
}

function bodyText(body: unknown, faults: BmcFaults): string {
  if (faults.noise === true) return '%$#@ \u0001 <html>busy</html>';
  const full = body === undefined ? '' : JSON.stringify(body);
  return (faults.garbage === true ? full.slice(0, Math.floor(full.length / 2)) : full) + ' '.repeat(faults.paddingBytes ?? 0);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > REQUEST_BYTES_MAX) return undefined;
      chunks.push(chunk);
    }
  } catch (error) {
    // The client went away in the middle.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Its own, and no one else's: whoever judges shares nothing with whom it judges. */
function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function drip(response: ServerResponse, body: string, everyMs: number): void {
  let position = 0;
  const timer = setInterval(() => {
    if (response.destroyed || position >= body.length) {
      clearInterval(timer);
      response.end();
      return;
    }
    response.write(body.charAt(position));
    position += 1;
  }, everyMs);
}
