import { once } from 'node:events';
import { Agent, request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveHttps, type HttpShell } from './http-shell.ts';
import { ApiServer } from './server.ts';
import { testClock, testRandom } from './test-support.ts';

const TOKEN = 'token';

describe('the HTTPS shell', () => {
  let shell: HttpShell;
  let server: ApiServer;
  const agent = new Agent({ keepAlive: true });

  beforeEach(async () => {
    server = new ApiServer({
      clock: testClock(),
      random: testRandom(),
      users: [{ name: 'admin', groups: ['system:masters'], token: TOKEN }],
      authorization: 'rbac',
    });
    shell = await serveHttps({ server });
  });

  afterEach(async () => {
    await shell.close();
  });

  async function open(path: string, options: RequestOptions = {}, body?: string): Promise<IncomingMessage> {
    const message = request(new URL(path, shell.url), {
      ca: shell.caPem,
      agent,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...options,
    });
    message.end(body);
    const [response] = (await once(message, 'response')) as [IncomingMessage];
    return response;
  }

  async function status(path: string, options: RequestOptions = {}, body?: string): Promise<number> {
    const response = await open(path, options, body);
    response.resume();
    await once(response, 'end');
    return response.statusCode ?? 0;
  }

  it('lets in who has the token and nobody else', async () => {
    expect(await status('/api/v1/nodes')).toBe(200);
    expect(await status('/api/v1/nodes', { headers: { authorization: 'Bearer wrong' } })).toBe(401);
    expect(await status('/api/v1/nodes', { headers: {} })).toBe(401);
  });

  it('refuses a body over its bound and one that is no JSON', async () => {
    expect(await status('/api/v1/nodes', { method: 'POST' }, 'x'.repeat(4_000_000))).toBe(413);
    expect(await status('/api/v1/nodes', { method: 'POST' }, '{')).toBe(400);
  });

  it('takes YAML for a server-side apply', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/apply-patch+yaml' };
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n';
    expect(await status('/api/v1/namespaces/default/configmaps/a?fieldManager=m', { method: 'PATCH', headers }, yaml)).toBe(201);
  });

  it("reads YAML as kubectl's library does: on without quotes is true", async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/yaml' };
    const yaml = (word: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: w${word.length}\ndata:\n  action: ${word}\n`;
    const path = '/api/v1/namespaces/default/configmaps';
    expect(await status(path, { method: 'POST', headers }, yaml('on'))).toBe(400);
    expect(await status(path, { method: 'POST', headers }, yaml('"on"'))).toBe(201);
  });

  it('streams a watch line by line and frees it when the client goes', async () => {
    const response = await open('/api/v1/namespaces?watch=true');
    const [chunk] = (await once(response, 'data')) as [Buffer];
    expect(JSON.parse(chunk.toString().split('\n')[0] ?? '')).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Namespace', metadata: { name: 'default' } },
    });
    expect(server.openWatches).toBe(1);
    response.destroy();
    await expect.poll(() => server.openWatches).toBe(0);
  });

  it('answers nothing during a silent outage and what was asked meanwhile after it', async () => {
    await shell.pause('silent');
    let answered = 0;
    const waiting = status('/api/v1/nodes').then((code) => (answered = code));
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(0);
    await shell.resume();
    expect(await waiting).toBe(200);
  });

  it('refuses connections during the other kind of outage and comes back on the same port', async () => {
    await shell.pause('refuse');
    await expect(status('/api/v1/nodes')).rejects.toThrow(/ECONNREFUSED|socket hang up|ECONNRESET/);
    await shell.resume();
    expect(await status('/api/v1/nodes')).toBe(200);
  });
});
