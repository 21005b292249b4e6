import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, createServer as createRelay, type AddressInfo, Socket, type Server as Relay } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAuthority } from '../testbed/certificates.ts';
import { AgentError } from '../ports/agents.ts';
import { LEASES, NODE_FENCE_STOPS, NODES, PODS } from '../ports/resources.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { ApiClient } from './client.ts';
import { InlineText } from './credentials/text-source.ts';
import { HttpsTransport } from './https-transport.ts';
import type { ServerConfig } from './kubeconfig/server-config.ts';

const clock = new SystemClock();
/** A busy machine takes its time; nothing here waits for a deadline. */
const PATIENCE_MS = 60_000;
const STOPPED = new AgentError('NotSent', { device: '', plug: '', asked: 'release', answered: 'a stop stands' });
const authority = createAuthority('test');
const issued = authority.issue({ commonName: 'api', hosts: ['127.0.0.1'] });

/** What a test opened, closed in the reverse order. */
const opened: (() => void)[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  for (const close of opened.splice(0).reverse()) close();
});

async function listening(server: Server | Relay): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An API server that notes each request; `answers`: what it does with it. */
async function apiServer(kind: 'http' | 'https', seen: string[], answers?: (path: string, response: ServerResponse) => void): Promise<number> {
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    const path = `${request.method ?? ''} ${request.url ?? ''}`;
    seen.push(path);
    if (answers === undefined) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    else answers(path, response);
  };
  return listening(kind === 'http' ? createServer(handler) : createSecureServer({ cert: issued.certificatePem, key: issued.keyPem }, handler));
}

function transportTo(url: string, parts: Partial<ServerConfig> = {}): HttpsTransport {
  const transport = new HttpsTransport({
    clock,
    userAgent: 'test',
    server: {
      source: 'test',
      url: new URL(url),
      authority: new InlineText(authority.certificatePem),
      isVerified: true,
      serverName: undefined,
      headers: {},
      namespace: 'default',
      credential: { current: () => Promise.resolve({}), rejected: () => false },
      ...parts,
    },
  });
  opened.push(() => transport.close());
  return transport;
}

const remove = (transport: HttpsTransport, name: string, beforeSend?: () => void): Promise<boolean> =>
  new ApiClient({ transport, deadlineMs: PATIENCE_MS }).remove(PODS, name, { namespace: 'web', ...(beforeSend === undefined ? {} : { beforeSend }) });

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !condition(); tries += 1) await clock.sleep(5);
  expect(condition()).toBe(true);
}

describe('the gate of a write', () => {
  it.each(['http', 'https'] as const)('is asked in the turn in which the bytes leave, on a new socket and on a kept one (%s)', async (kind) => {
    const seen: string[] = [];
    const transport = transportTo(`${kind}://127.0.0.1:${String(await apiServer(kind, seen))}`);
    for (const name of ['first', 'second']) {
      const order: string[] = [];
      const { _writev: write } = Socket.prototype as Required<Pick<Socket, '_writev'>>;
      // A request with a body is written at once with its headers.
      vi.spyOn(Socket.prototype as Required<Pick<Socket, '_writev'>>, '_writev').mockImplementation(function (this: Socket, ...chunks): void {
        if (chunks[0].some(({ chunk }) => String(chunk).startsWith('DELETE'))) order.push('bytes');
        write.apply(this, chunks);
      });
      await remove(transport, name, () => {
        order.push('gate');
        // A turn ends with its microtasks: whatever is allowed to happen between gate and bytes would come before this one.
        process.nextTick(() => order.push('next turn'));
      });
      vi.restoreAllMocks();
      expect(order).toEqual(['gate', 'bytes', 'next turn']);
    }
    expect(seen).toHaveLength(2);
  });

  it('holds back what waited for TLS when a stop came meanwhile', async () => {
    const seen: string[] = [];
    const port = await apiServer('https', seen);
    const greetings: (() => void)[] = [];
    // Lets the connection through and holds the handshake.
    const relay = createRelay((near: Socket) => {
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) socket.on('error', () => socket.destroy());
      far.pipe(near);
      greetings.push(() => near.pipe(far));
    });
    let asked = 0;
    const transport = transportTo(`https://127.0.0.1:${String(await listening(relay))}`);
    const removal = remove(transport, 'web-0', () => {
      asked += 1;
      throw STOPPED;
    });
    const end = expect(removal).rejects.toBe(STOPPED);
    await until(() => greetings.length === 1);
    await clock.sleep(50);
    expect(asked, 'TCP stands, TLS does not').toBe(0);
    greetings[0]?.();
    await end;
    expect(asked).toBe(1);
    await clock.sleep(50);
    expect(seen).toEqual([]);
  });

  it('holds back what waited for a socket, or for a credential, when a stop came meanwhile', async () => {
    const seen: string[] = [];
    const held: ServerResponse[] = [];
    let isStopped = false;
    const port = await apiServer('http', seen, (path, response) => {
      if (path.includes('slow') && !isStopped) held.push(response);
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    let readCredential = (): Promise<object> => Promise.resolve({});
    const credential = { current: () => readCredential(), rejected: () => false };
    const transport = transportTo(`http://127.0.0.1:${String(port)}`, { credential });
    const gate = (): void => {
      if (isStopped) throw STOPPED;
    };
    const hung = Array.from({ length: 400 }, (_, index) => remove(transport, `slow-${String(index)}`, gate).catch(() => undefined));
    const late = expect(remove(transport, 'web-0', gate)).rejects.toBe(STOPPED);
    await until(() => held.length >= 16);
    // Whatever has a socket has arrived: nothing comes for a while.
    for (let before = 0; before < seen.length;) {
      before = seen.length;
      await clock.sleep(500);
    }
    const began = seen.length;
    isStopped = true;
    for (const response of held) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    await late;
    await Promise.all(hung);
    expect(seen).toHaveLength(began);

    isStopped = false;
    let give = (): void => undefined;
    readCredential = () => new Promise((resolve) => (give = () => resolve({})));
    const other = expect(remove(transport, 'web-1', gate)).rejects.toBe(STOPPED);
    await clock.sleep(20);
    isStopped = true;
    give();
    await other;
    expect(seen).toHaveLength(began);
  });

  it('is asked again before a write that is repeated with a fresh credential', async () => {
    const seen: string[] = [];
    const port = await apiServer('http', seen, (_path, response) => response.writeHead(401).end());
    const transport = transportTo(`http://127.0.0.1:${String(port)}`, { credential: { current: () => Promise.resolve({}), rejected: () => true } });
    let asked = 0;
    await expect(
      remove(transport, 'web-0', () => {
        asked += 1;
        if (asked > 1) throw STOPPED;
      }),
    ).rejects.toBe(STOPPED);
    expect(seen).toHaveLength(1);
  });
});

describe('deletions that hang behind a webhook', () => {
  it('take no connection from lease renewals, stop reads and other writes', async () => {
    const seen: string[] = [];
    const port = await apiServer('http', seen, (path, response) => {
      if (path.startsWith('DELETE')) return;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{"name":"x","resourceVersion":"1"},"items":[]}');
    });
    const transport = transportTo(`http://127.0.0.1:${String(port)}`);
    const hung = Array.from({ length: 240 }, (_, index) => remove(transport, `web-${String(index)}`).catch(() => undefined));
    await until(() => seen.length >= 32);
    const cluster = new ApiClient({ transport, deadlineMs: 10_000 });
    expect(await cluster.list(NODE_FENCE_STOPS)).toEqual([]);
    expect(await cluster.mergePatch(NODES, 'a', {})).toMatchObject({ kind: 'Node' });

    // Slow answers of other calls do not hold the Lease up either.
    const reads = Array.from({ length: 200 }, () => cluster.get(NODES, 'slow').catch(() => undefined));
    const elector = new ApiClient({ transport, deadlineMs: 10_000, lane: 'lease' });
    expect(await elector.get(LEASES, 'nodefence-controller', 'nodefence')).toBeDefined();
    await Promise.all(reads);
    expect(hung).toHaveLength(240);
  });

  it('leave the Lease its own connections, as do stop reads that hang', async () => {
    const seen: string[] = [];
    const port = await apiServer('http', seen, (path, response) => {
      if (!path.includes('nodefencestops')) response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{"name":"x"}}');
    });
    const transport = transportTo(`http://127.0.0.1:${String(port)}`);
    const cluster = new ApiClient({ transport, deadlineMs: 500 });
    const hung = Array.from({ length: 20 }, () => expect(cluster.list(NODE_FENCE_STOPS)).rejects.toThrow('no answer within 500 ms'));
    await until(() => seen.length >= 4);
    const elector = new ApiClient({ transport, deadlineMs: 400, lane: 'lease' });
    expect(await elector.get(LEASES, 'nodefence-controller', 'nodefence')).toBeDefined();
    await Promise.all(hung);
  });

  it('take none from deletions by force where they are gentle, and wait longer', async () => {
    const seen: string[] = [];
    const port = await apiServer('http', seen, (path, response) => {
      if (!path.includes('hung')) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const transport = transportTo(`http://127.0.0.1:${String(port)}`);
    const cluster = new ApiClient({ transport, deadlineMs: 2_000 });
    let answered = 0;
    for (let index = 0; index < 240; index += 1) {
      const hung =
        index % 2 === 0 ? cluster.evict('hung', 'web', { mayBeLate: true }) : cluster.remove(PODS, 'hung', { namespace: 'web', mayBeLate: true });
      void hung.catch(() => undefined).finally(() => (answered += 1));
    }
    await until(() => seen.length >= 32);
    expect(await cluster.remove(PODS, 'web-0', { namespace: 'web', gracePeriodSeconds: 0 })).toBe(true);
    await clock.sleep(2_500);
    expect(answered).toBe(0);
  });
});
