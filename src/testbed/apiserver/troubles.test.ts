import { expect, it } from 'vitest';
import { request } from 'node:https';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { serveHttps } from './http-shell.ts';
import type { HttpShell } from './http-shell.ts';
import { at, textAt, type Json } from './json.ts';
import { ApiServer } from './server.ts';
import { testClock, testRandom } from './test-support.ts';
import { inProcessTransport } from './transport.ts';

const VIEWER = 'viewer';
const RULES = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] }];
const subjects = [{ kind: 'User', name: VIEWER, apiGroup: 'rbac.authorization.k8s.io' }];
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: VIEWER };

interface Site {
  server: ApiServer;
  clock: ReturnType<typeof testClock>;
  admin: ApiTransport;
  viewer: ApiTransport;
}

async function start(): Promise<Site> {
  const clock = testClock();
  const users = [
    { name: 'admin', groups: ['system:masters'] },
    { name: VIEWER, groups: [], token: 'viewer-token' },
  ];
  const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac' });
  const site = { server, clock, admin: inProcessTransport(server, 'admin'), viewer: inProcessTransport(server, VIEWER) };
  const post = (path: string, body: object): Promise<unknown> => site.admin.request({ method: 'POST', path, body, deadlineMs: 1_000 });
  await post('/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: VIEWER }, rules: RULES });
  await post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { metadata: { name: VIEWER }, roleRef, subjects });
  await post('/api/v1/nodes', { metadata: { name: 'a' }, spec: {} });
  return site;
}

async function nodes(api: ApiTransport): Promise<{ status: number; body: Json; retryAfter: string | undefined }> {
  const { status, body, headers } = await api.request({ method: 'GET', path: '/api/v1/nodes', deadlineMs: 1_000 });
  return { status, body: body as Json, retryAfter: headers['retry-after'] };
}

it('a server that was started anew knows no roles for a moment, then no storages, and spares system:masters', async () => {
  const { server, clock, admin, viewer } = await start();
  server.restart({ rolesMs: 1_000, storagesMs: 2_000 });
  const denied = await nodes(viewer);
  expect([denied.status, textAt(denied.body, 'reason')]).toEqual([403, 'Forbidden']);
  expect((await nodes(admin)).status).toBe(200);
  clock.advance(1_000);
  const early = await nodes(viewer);
  expect([early.status, textAt(early.body, 'reason'), textAt(early.body, 'message')]).toEqual([
    429,
    'TooManyRequests',
    'storage is (re)initializing',
  ]);
  expect([early.retryAfter, at(early.body, 'details', 'retryAfterSeconds')]).toEqual(['1', 1]);
  clock.advance(1_000);
  expect((await nodes(viewer)).status).toBe(200);
});

it('a restart ends every watch, and what goes on from before it is answered 410', async () => {
  const { server, admin, viewer } = await start();
  const version = textAt((await nodes(viewer)).body, 'metadata', 'resourceVersion');
  const seen: string[] = [];
  const watch = (): void => {
    viewer.watch(
      { path: '/api/v1/nodes', query: { resourceVersion: version } },
      {
        onOpen: () => void seen.push('open'),
        onEvent: ({ type, object }) => void seen.push(`${type} ${JSON.stringify(at(object as Json, 'code') ?? null)}`),
        onEnd: () => void seen.push('end'),
      },
    );
  };
  watch();
  await Promise.resolve();
  await admin.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'b' }, spec: {} }, deadlineMs: 1_000 });
  server.restart({ rolesMs: 0, storagesMs: 0 });
  await Promise.resolve();
  expect(seen.splice(0)).toEqual(['open', 'ADDED null', 'end']);
  watch();
  await Promise.resolve();
  expect(seen).toEqual(['open', 'ERROR 410', 'end']);
});

it('a throttled user is answered 429 in words of HTTP, on a watch too, until there is a share again', async () => {
  const { server } = await start();
  const shell = await serveHttps({ server });
  const end = server.throttle(({ name }) => name === VIEWER);
  for (const path of ['/api/v1/nodes', '/api/v1/nodes?watch=true'])
    expect(await asked(shell, path)).toEqual([429, '1', 'Too many requests, please try again later.\n']);
  end();
  expect((await asked(shell, '/api/v1/nodes'))[0]).toBe(200);
  await shell.close();
});

function asked({ url, caPem }: HttpShell, path: string): Promise<[number | undefined, string | undefined, string]> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}${path}`, { ca: caPem, headers: { authorization: 'Bearer viewer-token' }, agent: false }, (response) => {
      const parts: string[] = [];
      response.setEncoding('utf8').on('data', (part: string) => parts.push(part));
      response.on('end', () => resolve([response.statusCode, response.headers['retry-after'], parts.join('')]));
    });
    call.on('error', reject);
    call.end();
  });
}
