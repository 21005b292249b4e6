import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WatchEvent } from '../../ports/api-transport.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { serveHttps } from '../apiserver/http-shell.ts';
import type { HttpShell } from '../apiserver/http-shell.ts';
import { ApiServer } from '../apiserver/server.ts';
import { createAuthority } from '../certificates.ts';
import { HttpsWire } from './https-wire.ts';

const NAMESPACES = '/api/v1/namespaces';
const NODES = '/api/v1/nodes';

const named = (name: string): object => ({ metadata: { name } });

describe("the test bed's own wire to an API server", () => {
  let server: ApiServer;
  let shell: HttpShell;
  let wire: HttpsWire;

  beforeAll(async () => {
    const users = [{ name: 'admin', groups: ['system:masters'], token: 'token' }];
    server = new ApiServer({ clock: new SystemClock(), random: new SystemRandom(), users, authorization: 'rbac' });
    shell = await serveHttps({ server });
    wire = new HttpsWire({ server: shell.url, caPem: shell.caPem, token: 'token' });
  });
  afterAll(() => shell.close());

  it('writes and reads', async () => {
    const body = { apiVersion: 'v1', kind: 'Namespace', ...named('fresh') };
    expect((await wire.request({ method: 'POST', path: NAMESPACES, body, deadlineMs: 5_000 })).status).toBe(201);
    const query = { fieldSelector: 'metadata.name=fresh' };
    const listed = await wire.request({ method: 'GET', path: NAMESPACES, query, deadlineMs: 5_000 });
    expect(listed.body).toMatchObject({ items: [named('fresh')] });
    const patch = { metadata: { labels: { a: 'b' } } };
    const contentType = 'application/merge-patch+json';
    const patched = await wire.request({ method: 'PATCH', path: `${NAMESPACES}/fresh`, body: patch, contentType, deadlineMs: 5_000 });
    expect(patched).toMatchObject({ status: 200, body: patch });
  });

  it('hands on what the server refuses', async () => {
    const stranger = new HttpsWire({ server: shell.url, caPem: shell.caPem, token: 'wrong' });
    const { status, body } = await stranger.request({ method: 'GET', path: NODES, deadlineMs: 5_000 });
    expect([status, body]).toEqual([401, expect.objectContaining({ kind: 'Status' })]);
  });

  it('trusts no other authority', async () => {
    const fooled = new HttpsWire({ server: shell.url, caPem: createAuthority('somebody else').certificatePem, token: 'token' });
    await expect(fooled.request({ method: 'GET', path: NODES, deadlineMs: 5_000 })).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('sends nothing that is held back at the last moment', async () => {
    const beforeSend = (): void => {
      throw new Error('too late');
    };
    const body = { apiVersion: 'v1', kind: 'Namespace', ...named('held') };
    await expect(wire.request({ method: 'POST', path: NAMESPACES, body, beforeSend, deadlineMs: 5_000 })).rejects.toThrow('too late');
    expect((await wire.request({ method: 'GET', path: `${NAMESPACES}/held`, deadlineMs: 5_000 })).status).toBe(404);
  });

  it('gives up who does not answer, in time and when told to', async () => {
    const authority = createAuthority('mute');
    const { certificatePem: cert, keyPem: key } = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
    const mute = createServer({ cert, key }, () => undefined);
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const server = `https://127.0.0.1:${String((mute.address() as AddressInfo).port)}`;
    const unheard = new HttpsWire({ server, caPem: authority.certificatePem, token: 'token' });
    await expect(unheard.request({ method: 'GET', path: NODES, deadlineMs: 50 })).rejects.toMatchObject({ kind: 'timeout' });
    const signal = AbortSignal.abort();
    await expect(unheard.request({ method: 'GET', path: NODES, signal, deadlineMs: 5_000 })).rejects.toMatchObject({ kind: 'aborted' });
    mute.closeAllConnections();
    mute.close();
  });

  it('watches until it is closed', async () => {
    const events: WatchEvent[] = [];
    const end = await new Promise((resolve) => {
      const close = wire.watch(
        { path: NODES, query: {} },
        {
          onOpen: () =>
            void wire.request({ method: 'POST', path: NODES, body: { apiVersion: 'v1', kind: 'Node', ...named('n1') }, deadlineMs: 5_000 }),
          onEvent: (event) => {
            events.push(event);
            close();
          },
          onEnd: resolve,
        },
      );
    });
    expect(events).toMatchObject([{ type: 'ADDED', object: named('n1') }]);
    expect(end).toMatchObject({ kind: 'aborted' });
  });

  it('is closed at the very event with which the server ends it, again and again', async () => {
    server.compact();
    for (let times = 0; times < 20; times += 1) {
      const end = await new Promise((resolve) => {
        const close = wire.watch(
          { path: NODES, query: { resourceVersion: '1' } },
          { onOpen: () => undefined, onEvent: () => close(), onEnd: resolve },
        );
      });
      expect(end).toMatchObject({ kind: 'aborted' });
    }
  });

  it('says with which status a watch was refused', async () => {
    const end = await new Promise((resolve) => {
      const sink = { onOpen: () => resolve('opened'), onEvent: () => resolve('heard'), onEnd: resolve };
      wire.watch({ path: '/apis/nobody.example/v1/things', query: {} }, sink);
    });
    expect(end).toMatchObject({ name: 'ApiStatusError', status: 404 });
  });
});
