import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProblemRow } from '../domain/remedy/problem-rows.ts';
import type { Logger } from '../ports/recorder.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { parseBindAddress } from './bind-address.ts';
import { OperationsServer } from './operations-server.ts';
import { watchChecks, type Check } from './readiness.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the operations server', () => {
  let checks: Check[];
  let health: Check[];
  let server: OperationsServer;
  let base: string;
  let port: number;
  let scrape: () => Promise<{ contentType: string; body: string }>;
  let problems: ProblemRow[];

  beforeEach(async () => {
    checks = [{ name: 'nodes', ok: true, detail: 'live 0.1 s ago' }];
    health = [];
    problems = [];
    scrape = () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', body: 'nodefence_up 1\n' });
    server = new OperationsServer({
      scrape: () => scrape(),
      readiness: () => checks,
      health: () => health,
      ...{ problems: () => problems, clock: new ManualClock({ wallMs: Date.UTC(2026, 0, 2) }) },
      logger: SILENT,
      names: ['Worker-1.example.com'],
    });
    const bound = await server.listen({ host: '127.0.0.1', port: 0 });
    port = bound.port;
    base = `http://127.0.0.1:${String(port)}`;
  });

  afterEach(async () => {
    await server.close();
  });

  async function get(path: string, method = 'GET'): Promise<[number, string]> {
    const response = await fetch(`${base}${path}`, { method });
    return [response.status, await response.text()];
  }

  it('serves metrics with their content type', async () => {
    const response = await fetch(`${base}/metrics?x=1`);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/plain; version=0.0.4',
      'nodefence_up 1\n',
    ]);
  });

  it.each([
    ['localhost', 200],
    ['LOCALHOST:8080', 200],
    ['127.0.0.1', 200],
    ['[::1]:8080', 200],
    ['worker-1.example.com:8080', 200],
    ['attacker.example.net', 403],
    ['localhost.attacker.example.net:8080', 403],
    ['127.0.0.1.attacker.example.net', 403],
    ['[localhost]', 200],
    ['', 403],
  ])('is of one origin with no page that has its own name lead here: asked for as %s it answers %i', async (host, expected) => {
    const ask = (path: string): Promise<[number, string]> =>
      new Promise((resolve, reject) => {
        const asking = request({ host: '127.0.0.1', port, path, setHost: false, headers: { host } }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve([response.statusCode ?? 0, text]));
        });
        asking.on('error', reject);
        asking.end();
      });
    for (const path of ['/metrics', '/problems', '/problems.json']) expect((await ask(path))[0], path).toBe(expected);
    // Probes go on, and give no reason.
    const [status, text] = await ask('/readyz');
    expect([status, text.includes('nodes')]).toEqual([200, expected === 200]);
    expect((await ask('/metrics'))[1].includes('--http-names')).toBe(expected === 403);
  });

  it('shows what was counted: as a page on which nothing of the API is HTML, and for programs', async () => {
    const row = { firstAt: '2026-01-01T00:00:00Z', lastAt: '2026-01-01T01:00:00Z', reason: 'KernelOops' };
    expect((await get('/problems'))[1]).toContain('Nothing was counted');
    problems = [
      { ...row, subject: 'Deployment shop/<img src=x>\u202e', problems: 4, nodes: ['a', 'b'], alarms: [{ count: 3, windowMs: 86_400_000 }] },
      { ...row, subject: 'node a', problems: 1, nodes: ['a'], alarms: [] },
    ];
    const page = await fetch(`${base}/problems`);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type'), page.headers.get('content-security-policy')]).toEqual([
      200,
      'text/html; charset=utf-8',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ]);
    expect(html).toContain('<h1>1 alarm: problems of nodes</h1>');
    expect(html).toContain('Deployment shop/&lt;img src=x&gt;\ufffd</td>');
    expect(html).toContain('3 in 24h</td>');
    expect(html).not.toMatch(/<img|<script/u);
    expect(JSON.parse((await get('/problems.json'))[1])).toMatchObject({ problems });
  });

  it('is ready only when every check is, and says which is not', async () => {
    expect(await get('/readyz')).toEqual([200, 'ok nodes: live 0.1 s ago\nok\n']);
    checks.push({ name: 'pods', ok: false, detail: 'no first list yet: 403\nForbidden' });
    expect(await get('/readyz')).toEqual([503, 'ok nodes: live 0.1 s ago\nFAILED pods: no first list yet: 403 Forbidden\nnot ok\n']);
  });

  it('is healthy while it answers, until a health check fails, whatever readiness says', async () => {
    checks = [{ name: 'nodes', ok: false, detail: '' }];
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    health = [{ name: 'lease', ok: false, detail: 'stuck' }];
    expect((await get('/healthz'))[0]).toBe(503);
  });

  it('reads only, and only what there is', async () => {
    expect((await get('/readyz', 'POST'))[0]).toBe(405);
    expect((await get('/other'))[0]).toBe(404);
    expect(await get('/healthz', 'HEAD')).toEqual([200, '']);
  });

  it('answers 500 without a word of the cause when a page fails', async () => {
    scrape = () => Promise.reject(new Error('token=hunter2'));
    expect(await get('/metrics')).toEqual([500, 'internal error\n']);
  });

  it('refuses a header that is too large and survives garbage', async () => {
    const answerTo = (text: string): Promise<string> =>
      new Promise((resolve) => {
        let answer = '';
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
        socket.on('error', () => undefined);
        socket.on('close', () => {
          resolve(answer);
        });
      });
    expect(await answerTo(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`)).toContain(' 431 ');
    expect(await answerTo('\u0000\u0001garbage\r\n\r\n')).toContain(' 400 ');
    expect((await get('/healthz'))[0]).toBe(200);
  });

  it('answers a probe, whoever holds all of its connections and says nothing on them', async () => {
    const idle = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => socket.destroy());
        await new Promise((resolve) => socket.once('connect', resolve));
        return socket;
      }),
    );
    try {
      expect(await get('/healthz')).toEqual([200, 'ok\n']);
      const open = (): number => idle.filter((socket) => !socket.closed).length;
      await expect.poll(open, { timeout: 3_000 }).toBeLessThanOrEqual(64);
    } finally {
      for (const socket of idle) socket.destroy();
    }
  });

  it('ends no connection to make room on which it is about to answer', async () => {
    let tell = (_page: { contentType: string; body: string }): void => undefined;
    scrape = () => new Promise((resolve) => (tell = resolve));
    const asked = fetch(`${base}/metrics`);
    const idle = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    tell({ contentType: 'text/plain', body: 'late' });
    expect(await (await asked).text()).toBe('late');
    for (const socket of idle) socket.destroy();
  });

  it('says what to do when its address is taken', async () => {
    const second = new OperationsServer({ scrape, readiness: () => [], problems: () => [], clock: new ManualClock(), logger: SILENT });
    await expect(second.listen({ host: '127.0.0.1', port })).rejects.toThrow(
      /EADDRINUSE.*; choose another bind address or end the process that holds it/,
    );
  });

  it('drops open connections when it is closed', async () => {
    const closed = new Promise((resolve) =>
      connect(port, '127.0.0.1')
        .on('close', resolve)
        .on('connect', () => void server.close()),
    );
    await closed;
    await expect(fetch(base)).rejects.toThrow();
    await server.listen({ host: '127.0.0.1', port: 0 });
  });
});

describe('readiness', () => {
  it('needs every collection synced and heard of within the bound, and quotes the last error', async () => {
    const clock = new ManualClock();
    const checksOf = (lister: { synced: boolean; freshAtMs: number }, lastError?: Error): Check | undefined =>
      watchChecks([{ name: 'nodes', lister, lastError }], clock)[0];
    const freshAtMs = clock.monotonicMs();
    expect(checksOf({ synced: false, freshAtMs: -Infinity }, new Error('403'))).toEqual({
      name: 'nodes',
      ok: false,
      detail: 'no first list yet: 403',
    });
    await clock.advance(90_000);
    expect(checksOf({ synced: true, freshAtMs })).toEqual({ name: 'nodes', ok: true, detail: 'live 90.0 s ago' });
    await clock.advance(100);
    expect(checksOf({ synced: true, freshAtMs }, new Error('refused'))).toEqual({
      name: 'nodes',
      ok: false,
      detail: 'not heard of for 90.1 s, more than 90 s: refused',
    });
  });
});

describe('a bind address', () => {
  it.each([
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    [':9090', { host: '::', port: 9090 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
  ])('%s is understood', (text, expected) => {
    expect(parseBindAddress(text)).toEqual(expected);
  });

  it.each(['8080', '', 'a:b', '::1:80', '[x]:80', 'h:70000', 'h:-1', 'h:80 '])('"%s" is refused with the form to write', (text) => {
    expect(() => parseBindAddress(text)).toThrow('write HOST:PORT, [IPv6]:PORT or :PORT');
  });
});
