import { describe, expect, it } from 'vitest';
import type { ApiTransport, WatchEvent } from '../../ports/api-transport.ts';
import { at, textAt, type Json } from './json.ts';
import { ApiServer, type ApiServerOptions } from './server.ts';
import { inProcessTransport } from './transport.ts';
import { testClock, testRandom } from './test-support.ts';

function start(options: Partial<ApiServerOptions> = {}): { server: ApiServer; api: ApiTransport; clock: ReturnType<typeof testClock> } {
  const clock = testClock();
  const server = new ApiServer({
    clock,
    random: testRandom(),
    users: [{ name: 'admin', groups: ['system:masters'] }],
    authorization: 'rbac',
    ...options,
  });
  return { server, clock, api: inProcessTransport(server, 'admin') };
}

async function ask(
  api: ApiTransport,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  contentType = 'application/json',
): Promise<{ status: number; body: Json }> {
  const [pathname = '', search = ''] = path.split('?');
  const response = await api.request({
    method,
    path: pathname,
    query: Object.fromEntries(new URLSearchParams(search)),
    ...(body === undefined ? {} : { body }),
    contentType,
    deadlineMs: 1000,
  });
  return { status: response.status, body: response.body as Json };
}

const NODE = { metadata: { name: 'a' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } };

describe('the embedded API server', () => {
  it('creates, reads, updates and deletes a node with rising resource versions', async () => {
    const { api } = start();
    const created = await ask(api, 'POST', '/api/v1/nodes', NODE);
    expect(created.status).toBe(201);
    expect(textAt(created.body, 'metadata', 'uid')).toMatch(/^[0-9a-f-]{36}$/);
    const version = textAt(created.body, 'metadata', 'resourceVersion');
    const patched = await ask(api, 'PATCH', '/api/v1/nodes/a', { spec: { unschedulable: true } }, 'application/merge-patch+json');
    expect(Number(textAt(patched.body, 'metadata', 'resourceVersion'))).toBeGreaterThan(Number(version));
    const stale = await ask(api, 'PUT', '/api/v1/nodes/a', created.body);
    expect(stale.status).toBe(409);
    expect(textAt(stale.body, 'message')).toBe(
      'Operation cannot be fulfilled on nodes "a": the object has been modified; please apply your changes to the latest version and try again',
    );
    expect((await ask(api, 'DELETE', '/api/v1/nodes/a')).status).toBe(200);
    expect((await ask(api, 'GET', '/api/v1/nodes/a')).status).toBe(404);
  });

  it('shows a watch what happened since a resource version, and 410 after a compaction', async () => {
    const { api, server } = start();
    const created = await ask(api, 'POST', '/api/v1/nodes', NODE);
    await ask(api, 'PATCH', '/api/v1/nodes/a', { spec: { unschedulable: true } }, 'application/merge-patch+json');
    const seen: WatchEvent[] = [];
    const query = { resourceVersion: textAt(created.body, 'metadata', 'resourceVersion') };
    const sink = { onOpen: () => undefined, onEvent: (event: WatchEvent) => void seen.push(event), onEnd: () => undefined };
    const close = api.watch({ path: '/api/v1/nodes', query }, sink);
    await ask(api, 'DELETE', '/api/v1/nodes/a');
    await Promise.resolve();
    expect(seen.map((event) => event.type)).toEqual(['MODIFIED', 'DELETED']);
    close();
    server.compact();
    const late: WatchEvent[] = [];
    api.watch({ path: '/api/v1/nodes', query }, { ...sink, onEvent: (event) => void late.push(event) });
    await Promise.resolve();
    await Promise.resolve();
    expect(late).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  });

  it('cannot be changed through what callers gave or got', async () => {
    const { api } = start();
    const body = { metadata: { name: 'c' }, data: { a: '1' } };
    const created = await ask(api, 'POST', '/api/v1/namespaces/default/configmaps', body);
    body.data.a = '2';
    expect(() => {
      (at(created.body, 'data') as Record<string, string>)['a'] = '3';
    }).toThrow(TypeError);
    const read = await ask(api, 'GET', '/api/v1/namespaces/default/configmaps/c');
    expect(at(read.body, 'data')).toEqual({ a: '1' });
  });
});
