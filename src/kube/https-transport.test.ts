import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getEventListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAuthority, type CertificateAuthority } from '../testbed/certificates.ts';
import type { TransportError } from '../ports/api-transport.ts';
import { type ApiStatusError, type WatchEvent } from '../ports/api-transport.ts';
import { settleHeap } from '../runtime/heap.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import type { CredentialSource } from './credentials/credential-source.ts';
import { StoredCredential } from './credentials/stored-credential.ts';
import { FileText, InlineText } from './credentials/text-source.ts';
import { HttpsTransport } from './https-transport.ts';
import type { ServerConfig } from './kubeconfig/server-config.ts';
import { serverConfigAt } from './testing/server-config.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const clock = new SystemClock();

describe('the HTTPS transport', () => {
  let authority: CertificateAuthority;
  let server: Server;
  let handler: Handler;
  let transport: HttpsTransport;
  let sockets: Set<unknown>;
  let directory: string;

  beforeAll(async () => {
    authority = createAuthority('test');
    const issued = authority.issue({ commonName: 'api', hosts: ['127.0.0.1', 'api.test'] });
    server = createServer(
      { cert: issued.certificatePem, key: issued.keyPem, ca: authority.certificatePem, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        sockets.add(request.socket);
        handler(request, response);
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    directory = await mkdtemp(join(tmpdir(), 'nodefence-'));
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });

  beforeEach(() => {
    sockets = new Set();
    transport = build({});
  });

  afterEach(() => {
    transport.close();
  });

  function build(parts: Partial<ServerConfig>, more: { idleMs?: number } = {}): HttpsTransport {
    const config: ServerConfig = serverConfigAt(
      `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/prefix`,
      authority.certificatePem,
      { credential: new StoredCredential({ token: new InlineText('secret\n') }), ...parts },
    );
    return new HttpsTransport({ server: config, clock, userAgent: 'nodefence/test', ...more });
  }

  const get = (path = '/api/v1/nodes/a', deadlineMs = 5000, signal?: AbortSignal) =>
    transport.request({ method: 'GET', path, deadlineMs, ...(signal === undefined ? {} : { signal }) });

  function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }

  interface Watched {
    events: WatchEvent[];
    opened: number;
    ends: (TransportError | ApiStatusError | undefined)[];
    close: () => void;
    until: (condition: () => boolean) => Promise<void>;
  }

  function watch(): Watched {
    const watched: Watched = {
      events: [],
      opened: 0,
      ends: [],
      close: () => undefined,
      until: async (condition) => {
        const untilMs = clock.monotonicMs() + 5000;
        while (!condition() && clock.monotonicMs() < untilMs) {
          await clock.sleep(2);
        }
        expect(condition()).toBe(true);
      },
    };
    watched.close = transport.watch(
      { path: '/api/v1/nodes', query: { resourceVersion: '7' } },
      { onOpen: () => (watched.opened += 1), onEvent: (event) => watched.events.push(event), onEnd: (error) => watched.ends.push(error) },
    );
    return watched;
  }

  it('sends method, path below its prefix, query, token and body, and parses the answer', async () => {
    const seen: string[] = [];
    handler = (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push(
          `${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''} ${request.headers['content-type'] ?? ''} ${body}`,
        );
        json(response, 201, { metadata: { name: 'ä' } }, { 'retry-after': '3' });
      });
    };
    const patch = { method: 'PATCH', path: '/api/v1/nodes/a', query: { fieldManager: 'x y' }, body: { a: 'ö' } } as const;
    const answer = await transport.request({ ...patch, contentType: 'application/merge-patch+json', deadlineMs: 5000 });
    expect(answer).toMatchObject({ status: 201, body: { metadata: { name: 'ä' } }, headers: { 'retry-after': '3' } });
    expect(seen).toEqual(['PATCH /prefix/api/v1/nodes/a?fieldManager=x+y Bearer secret application/merge-patch+json {"a":"ö"}']);
  });

  it('keeps its connection from call to call', async () => {
    handler = (_request, response) => json(response, 200, {});
    for (let call = 0; call < 5; call++) {
      await get();
    }
    expect(sockets.size).toBe(1);
  });

  it('closes connections that nothing was asked on for a while, and none that waits for its answer, nor a watch', async () => {
    const idleMs = 100;
    transport = build({}, { idleMs });
    const open = (): number => [...sockets].filter((socket) => !(socket as TLSSocket).destroyed).length;
    handler = (request, response) => {
      if (request.url?.includes('watch=') === true) response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      else setTimeout(() => json(response, 200, {}), request.url?.endsWith('slow') === true ? 10 * idleMs : 10);
    };
    const watched = watch();
    await watched.until(() => watched.opened === 1);
    const slow = get('/api/v1/nodes/slow');
    await Promise.all(Array.from({ length: 8 }, () => get()));
    expect(sockets.size).toBe(10);
    await watched.until(() => open() === 2);
    expect((await slow).status).toBe(200);
    await watched.until(() => open() === 1);
    expect(watched.ends).toEqual([]);
    watched.close();
  });

  it('gives up at its deadline and says so, and leaves no listener on the caller’s signal', async () => {
    handler = () => undefined;
    const controller = new AbortController();
    await expect(get('/slow', 50, controller.signal)).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('GET /slow') as string,
    });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('gives up at its deadline in the middle of an answer', async () => {
    handler = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":');
    await expect(get('/half', 50)).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('gives up when its caller does', async () => {
    const controller = new AbortController();
    handler = () => controller.abort();
    await expect(get('/x', 5000, controller.signal)).rejects.toMatchObject({ kind: 'aborted' });
    await expect(get('/x', 5000, controller.signal)).rejects.toMatchObject({ kind: 'aborted' });
  });

  it('counts the time of a credential plugin against the deadline', async () => {
    transport = build({ credential: { current: () => new Promise<never>(() => undefined), rejected: () => false } });
    await expect(get('/x', 30)).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('asks a GET once more when the server had closed the kept connection, but never a write', async () => {
    let calls = 0;
    handler = (request, response) => {
      calls += 1;
      if (calls === 2) {
        request.socket.destroy();
        return;
      }
      json(response, 200, { calls });
    };
    await get();
    expect((await get()).body).toEqual({ calls: 3 });
    calls = 1;
    await expect(transport.request({ method: 'POST', path: '/x', body: {}, deadlineMs: 5000 })).rejects.toMatchObject({ kind: 'unreachable' });
    expect(calls).toBe(2);
  });

  it('holds nothing of a request on the connection that was made for it', async () => {
    handler = (request, response) => request.resume().on('end', () => json(response, 201, {}));
    const before = process.memoryUsage().arrayBuffers;
    await transport.request({ method: 'POST', path: '/x', body: 'x'.repeat(32_000_000), deadlineMs: 10_000 });
    await get();
    settleHeap();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16_000_000);
    expect(sockets.size).toBe(1);
  });

  it('names address and cause when nobody listens, the certificate is foreign, or the answer is no HTTP', async () => {
    transport = build({ url: new URL('https://127.0.0.1:1') });
    await expect(get()).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('127.0.0.1:1: connect ECONNREFUSED') as string,
    });
    transport = build({ authority: new InlineText(createAuthority('other').certificatePem) });
    await expect(get()).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('certificate-authority') as string });
    transport = build({ serverName: 'wrong.test' });
    await expect(get()).rejects.toThrow('wrong.test');
    handler = (_request, response) => response.socket?.end('garbage\r\n\r\n');
    transport = build({ serverName: 'api.test' });
    await expect(get()).rejects.toMatchObject({ kind: 'garbled' });
  });

  it('does not verify only when it is told so', async () => {
    handler = (_request, response) => json(response, 200, {});
    transport = build({ authority: undefined, isVerified: false });
    expect((await get()).status).toBe(200);
    transport = build({ authority: undefined });
    await expect(get()).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('takes an answer that only claims to be JSON for garbled, and any words of a failure as they are', async () => {
    handler = (request, response) =>
      response.writeHead(request.url === '/prefix/ok' ? 200 : 502, { 'content-type': 'application/json' }).end('<html>bad gateway');
    await expect(get('/ok')).rejects.toMatchObject({ kind: 'garbled' });
    expect(await get('/bad')).toMatchObject({ status: 502, body: '<html>bad gateway' });
  });

  it('reads an exchanged token file at once after a 401, and asks only once more', async () => {
    const file = join(directory, 'token');
    await writeFile(file, 'old');
    const seen: (string | undefined)[] = [];
    handler = (request, response) => {
      seen.push(request.headers.authorization);
      json(response, request.headers.authorization === 'Bearer new' ? 200 : 401, {});
    };
    transport = build({ credential: new StoredCredential({ token: new FileText(file, 'token', { clock }) }) });
    expect((await get()).status).toBe(401);
    await writeFile(file, 'new\n');
    expect((await get()).status).toBe(200);
    expect(seen).toEqual(['Bearer old', 'Bearer old', 'Bearer old', 'Bearer new']);
  });

  it('shows its client certificate, and a new one on new connections when it was exchanged', async () => {
    const names: string[] = [];
    handler = (request, response) => {
      names.push(request.socket instanceof TLSSocket ? String(request.socket.getPeerCertificate().subject.CN) : 'no TLS');
      json(response, 200, {});
    };
    let name = 'first';
    const credential: CredentialSource = {
      current: () => {
        const issued = authority.issue({ commonName: name, hosts: [] });
        return Promise.resolve({ certificatePem: issued.certificatePem, keyPem: issued.keyPem });
      },
      rejected: () => false,
    };
    transport = build({ credential });
    await get();
    name = 'second';
    await get();
    expect(names).toEqual(['first', 'second']);
  });

  it('trusts no kept connection of an authority that was exchanged', async () => {
    handler = (_request, response) => json(response, 200, {});
    const trusted = { pem: authority.certificatePem };
    transport = build({ authority: { read: () => Promise.resolve(trusted.pem), expire: () => false } });
    await get();
    trusted.pem = createAuthority('another').certificatePem;
    await expect(get()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(sockets.size).toBe(1);
  });

  it('lets a call that is under way end in peace when its certificate is exchanged', async () => {
    let name = 'first';
    const held: (() => void)[] = [];
    handler = (_request, response) => {
      if (held.length === 0) {
        held.push(() => json(response, 200, { call: 1 }));
      } else {
        json(response, 200, { call: 2 });
      }
    };
    const current = (): Promise<{ certificatePem: string; keyPem: string }> => {
      const issued = authority.issue({ commonName: name, hosts: [] });
      return Promise.resolve({ certificatePem: issued.certificatePem, keyPem: issued.keyPem });
    };
    transport = build({ credential: { current, rejected: () => false } });
    const first = get();
    const untilMs = clock.monotonicMs() + 5000;
    while (held.length === 0 && clock.monotonicMs() < untilMs) {
      await clock.sleep(2);
    }
    name = 'second';
    expect((await get()).body).toEqual({ call: 2 });
    held[0]?.();
    expect((await first).body).toEqual({ call: 1 });
  });

  it('delivers watch events however the bytes are cut, and the ordinary end as no error', async () => {
    handler = (request, response) => {
      expect(request.url).toBe('/prefix/api/v1/nodes?resourceVersion=7&watch=true');
      response.writeHead(200, { 'content-type': 'application/json' });
      const text = Buffer.from(`{"type":"ADDED","object":{"metadata":{"name":"knöt"}}}\n{"type":"BOOKMARK","object":{"metadata":{}}}\n\n`);
      const send = (at: number): void => {
        if (at >= text.length) {
          response.end();
        } else {
          response.write(text.subarray(at, at + 1), () => send(at + 1));
        }
      };
      send(0);
    };
    const watched = watch();
    await watched.until(() => watched.ends.length > 0);
    expect(watched.events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(watched.events[0]?.object).toEqual({ metadata: { name: 'knöt' } });
    expect([watched.opened, watched.ends]).toEqual([1, [undefined]]);
  });

  it('ends a refused watch with status, reason and the time to wait', async () => {
    handler = (_request, response) => json(response, 429, { reason: 'TooManyRequests', message: 'slow down' }, { 'retry-after': '4' });
    const watched = watch();
    await watched.until(() => watched.ends.length > 0);
    expect(watched.ends[0]).toMatchObject({ name: 'ApiStatusError', status: 429, reason: 'TooManyRequests', retryAfterMs: 4000 });
    expect(watched.opened).toBe(0);
  });

  it('ends a watch whose socket is dropped as unreachable, once', async () => {
    handler = (request, response) => response.writeHead(200).write('{"type":"ADDED","object":{}}\n', () => request.socket.destroy());
    const watched = watch();
    await watched.until(() => watched.ends.length > 0);
    await clock.sleep(20);
    expect(watched.ends).toEqual([expect.objectContaining({ kind: 'unreachable' })]);
    expect(watched.events).toHaveLength(1);
  });

  it.each([['not json at all'], ['{"type":"SURPRISE","object":{}}'], ['[]'], ['{"type":"ADDED"']])(
    'ends a watch that says %s as garbled, without quoting it',
    async (line) => {
      handler = (_request, response) => response.writeHead(200).end(`${line}\n`);
      const watched = watch();
      await watched.until(() => watched.ends.length > 0);
      expect(watched.ends[0]).toMatchObject({ kind: 'garbled' });
      expect(watched.ends[0]?.message).not.toContain(line);
    },
  );

  it('ends a watch that stops in the middle of an event as garbled', async () => {
    handler = (_request, response) => response.writeHead(200).end('{"type":"ADDED","object":{}}\n{"type":');
    const watched = watch();
    await watched.until(() => watched.ends.length > 0);
    expect(watched.ends[0]).toMatchObject({ kind: 'garbled' });
  });

  it('delivers nothing after a watch was closed, and closes its connection', async () => {
    let response: ServerResponse | undefined;
    handler = (_request, answer) => {
      response = answer.writeHead(200);
      response.write('{"type":"ADDED","object":{}}\n');
    };
    const watched = watch();
    await watched.until(() => watched.events.length === 1);
    watched.close();
    watched.close();
    expect(watched.ends).toEqual([expect.objectContaining({ kind: 'aborted' })]);
    await watched.until(() => response?.socket?.destroyed ?? true);
    expect(watched.events).toHaveLength(1);
  });

  it('passes an event on while the one behind it is still on its way', async () => {
    let response: ServerResponse | undefined;
    handler = (_request, answer) => {
      response = answer.writeHead(200);
      response.write('{"type":"ADDED","object":{}}\n{"type":"MOD');
    };
    const watched = watch();
    await watched.until(() => watched.events.length === 1);
    response?.write('IFIED","object":{}}\n');
    await watched.until(() => watched.events.length === 2);
    watched.close();
  });
});
