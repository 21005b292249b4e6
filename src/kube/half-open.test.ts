import { createServer, type Server } from 'node:https';
import { connect, createServer as createProxy, type AddressInfo, type Server as Proxy, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../ports/api-transport.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { createAuthority } from '../testbed/certificates.ts';
import { HttpsTransport } from './https-transport.ts';
import { serverConfigAt } from './testing/server-config.ts';

const DEADLINE_MS = 1_000;
const KEPT = 8;

/** What a service address becomes whose API server has lost its power: connections that stand are answered no more, new ones reach another server. */
describe('connections to an API server that is gone without a word', { timeout: 30_000 }, () => {
  const authority = createAuthority('test');
  const standing = new Set<Socket>();
  const all = new Set<Socket>();
  let api: Server;
  let address: Proxy;

  beforeAll(async () => {
    const { certificatePem: cert, keyPem: key } = authority.issue({ commonName: 'api', hosts: ['127.0.0.1'] });
    api = createServer({ cert, key }, (request, response) => {
      if (request.url === '/never') return;
      // Long enough that requests which are sent together have a connection each.
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'), 50);
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    address = createProxy((near) => {
      const far = connect((api.address() as AddressInfo).port, '127.0.0.1');
      standing.add(near);
      all.add(near).add(far);
      for (const socket of [near, far]) socket.on('error', () => socket.destroy());
      near.pipe(far);
      far.pipe(near);
    });
    await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    for (const socket of all) socket.destroy();
    api.closeAllConnections();
    await new Promise((resolve) => address.close(resolve));
    await new Promise((resolve) => api.close(resolve));
  });

  function build(): HttpsTransport {
    return new HttpsTransport({
      server: serverConfigAt(`https://127.0.0.1:${(address.address() as AddressInfo).port}`, authority.certificatePem),
      clock: new SystemClock(),
      userAgent: 'nodefence/test',
    });
  }

  /** From now on nothing that was sent on a standing connection arrives. */
  function loseServer(): void {
    for (const near of standing) {
      near.unpipe();
      near.pause();
    }
    standing.clear();
  }

  it('are all kept where a caller gave up, and those on which an answer came meanwhile where one brought none', async () => {
    const transport = build();
    const ask = (more: Partial<ApiRequest> = {}) => transport.request({ method: 'GET', path: '/x', deadlineMs: 5_000, ...more });
    try {
      await Promise.all([ask(), ask(), ask({ lane: 'urgent' })]);
      const since = all.size;
      const giving = new AbortController();
      const given = ask({ signal: giving.signal, path: '/never' });
      setTimeout(() => giving.abort(), 10);
      await expect(given).rejects.toMatchObject({ kind: 'aborted' });
      await Promise.all([ask(), ask({ lane: 'urgent' })]);
      expect(all.size).toBe(since);
      const slow = ask({ path: '/never', deadlineMs: 200 });
      await ask({ lane: 'urgent' });
      await expect(slow).rejects.toMatchObject({ kind: 'timeout' });
      await ask({ lane: 'urgent' });
      expect(all.size).toBe(since);
    } finally {
      transport.close();
    }
  });

  it.each(['GET', 'PUT'] as const)('cost one deadline, not one each: %s', async (method) => {
    const transport = build();
    const ask = (lane?: ApiRequest['lane']) => transport.request({ method, path: '/x', deadlineMs: DEADLINE_MS, lane });
    try {
      await Promise.all([...Array.from({ length: KEPT }, () => ask()), ask('lease')]);
      loseServer();
      await expect(ask()).rejects.toMatchObject({ kind: 'timeout' });
      expect((await ask()).status).toBe(200);
      expect((await ask('lease')).status).toBe(200);
    } finally {
      transport.close();
    }
  });
});
