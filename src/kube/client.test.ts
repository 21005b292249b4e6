import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { CONFIG_MAPS, NODE_FENCES, NODE_FENCE_STOPS, NODES, PODS, type NodeFence } from '../ports/resources.ts';
import { ApiClient } from './client.ts';
import { listOf, ScriptedTransport, statusOf } from './testing/scripted-transport.ts';

describe('the API client', () => {
  let transport: ScriptedTransport;
  let client: ApiClient;

  beforeEach(() => {
    transport = new ScriptedTransport();
    client = new ApiClient({ transport, deadlineMs: 1234 });
  });

  const fence: NodeFence = { metadata: { name: 'node-fence-a', uid: 'u1', resourceVersion: '7' }, spec: { node: 'a' } };
  const calls = (): string[] => transport.requests.map(({ method, path }) => `${method} ${path}`);

  it('addresses core and group resources, in namespaces or not, and passes its deadline on', async () => {
    transport.answer = () => ({ body: { metadata: { name: 'x' } } });
    await client.get(NODES, 'a');
    await client.get(NODE_FENCES, 'node-fence-a');
    await client.get(PODS, 'web-0', 'shop');
    expect(calls()).toEqual(['GET /api/v1/nodes/a', 'GET /apis/ha.k8s.io/v1/nodefences/node-fence-a', 'GET /api/v1/namespaces/shop/pods/web-0']);
    expect(transport.requests.every(({ deadlineMs, query }) => deadlineMs === 1234 && query === undefined)).toBe(true);
  });

  it('tells the server to give a write up before it does itself: what nobody waits for takes no effect any more', async () => {
    transport.answer = ({ body }) => ({ body: body ?? {} });
    await client.create(NODE_FENCES, fence);
    await client.replace(NODE_FENCES, fence);
    await client.mergePatch(NODE_FENCES, 'node-fence-a', fence);
    await client.remove(PODS, 'web-0', { namespace: 'shop', gracePeriodSeconds: 0 });
    await client.evict('web-0', 'shop', { gracePeriodSeconds: 0 });
    expect(transport.requests.map(({ deadlineMs, query, lane }) => [deadlineMs, query?.['timeout'], lane])).toEqual([
      [1234, '987ms', undefined],
      [1234, '987ms', undefined],
      [1234, '987ms', undefined],
      [1234, '987ms', 'slow'],
      [1234, '987ms', 'slow'],
    ]);
  });

  it('waits for the slowest webhook, on connections of its own, where a deletion or an eviction may take effect at any time', async () => {
    transport.answer = () => ({ body: {} });
    await client.remove(PODS, 'web-0', { namespace: 'shop', mayBeLate: true });
    await client.evict('web-0', 'shop', { mayBeLate: true });
    expect(transport.requests.map(({ deadlineMs, query, lane }) => [deadlineMs, query?.['timeout'], lane])).toEqual([
      [35_000, '34000ms', 'patient'],
      [35_000, '34000ms', 'patient'],
    ]);
    expect(JSON.stringify(transport.requests.map(({ body }) => body))).not.toContain('mayBeLate');
  });

  it('never lets a name leave its place in the path', async () => {
    transport.answer = () => ({ body: { metadata: { name: 'x' } } });
    await client.get(PODS, '../../nodes/b?x=1', 'shop');
    expect(calls()).toEqual(['GET /api/v1/namespaces/shop/pods/..%2F..%2Fnodes%2Fb%3Fx%3D1']);
    await expect(client.get(NODES, '')).rejects.toThrow('not a name');
    await expect(client.get(NODES, '..')).rejects.toThrow('not a name');
    await expect(client.get(PODS, 'web-0')).rejects.toThrow('namespace is needed');
  });

  it('answers undefined for an object that is not there and says kind and version of one that is', async () => {
    transport.answer = () => ({ status: 404, body: statusOf(404, 'NotFound', 'gone', { name: 'a', kind: 'nodes' }) });
    expect(await client.get(NODES, 'a')).toBeUndefined();
    transport.answer = () => ({ body: { metadata: { name: 'a' } } });
    expect(await client.get(NODES, 'a')).toMatchObject({ apiVersion: 'v1', kind: 'Node' });
  });

  it('reads a consistent list page by page and names the kind of each item', async () => {
    transport.answer = ({ query }) => ({
      body: query?.['continue'] === 't' ? listOf('9', [{ metadata: { name: 'b' } }]) : listOf('9', [{ metadata: { name: 'a' } }], 't'),
    });
    const nodes = await client.list(NODES, { labelSelector: 'zone=a', fieldSelector: 'metadata.name=a' });
    expect(nodes.map(({ metadata, kind }) => `${kind ?? ''}/${metadata.name}`)).toEqual(['Node/a', 'Node/b']);
    expect(transport.requests.map(({ query }) => query)).toEqual([
      { labelSelector: 'zone=a', fieldSelector: 'metadata.name=a', limit: '500' },
      { labelSelector: 'zone=a', fieldSelector: 'metadata.name=a', limit: '500', continue: 't' },
    ]);
  });

  it('replaces with uid and resourceVersion, and refuses to without', async () => {
    transport.answer = ({ body }) => ({ body });
    await client.replaceStatus(NODE_FENCES, fence);
    await client.replace(NODE_FENCES, fence);
    expect(calls()).toEqual(['PUT /apis/ha.k8s.io/v1/nodefences/node-fence-a/status', 'PUT /apis/ha.k8s.io/v1/nodefences/node-fence-a']);
    expect(transport.requests[0]?.body).toMatchObject({
      apiVersion: 'ha.k8s.io/v1',
      kind: 'NodeFence',
      metadata: { uid: 'u1', resourceVersion: '7' },
    });
    await expect(client.replaceStatus(NODE_FENCES, { ...fence, metadata: { name: 'x', resourceVersion: '7' } })).rejects.toThrow('compare-and-swap');
    await expect(client.replace(NODE_FENCES, { ...fence, metadata: { name: 'x', uid: 'u' } })).rejects.toThrow('compare-and-swap');
    expect(transport.requests).toHaveLength(2);
  });

  it('turns every failure into a typed error with status, reason, words and the time to wait', async () => {
    transport.answer = () => ({ status: 409, body: statusOf(409, 'Conflict', 'the object has been modified') });
    const conflict = await client.replace(NODE_FENCES, fence).catch((error: unknown) => error);
    expect(conflict).toBeInstanceOf(ApiStatusError);
    expect(conflict).toMatchObject({ status: 409, reason: 'Conflict', message: 'replace nodefences/node-fence-a: the object has been modified' });
    transport.answer = () => ({ status: 503, body: 'not JSON', headers: { 'retry-after': '3' } });
    await expect(client.get(NODES, 'a')).rejects.toMatchObject({ status: 503, reason: 'ServiceUnavailable', retryAfterMs: 3000 });
    transport.answer = () => ({ status: 429, body: statusOf(429, 'TooManyRequests', 'slow down', { retryAfterSeconds: 2 }) });
    await expect(client.evict('web-0', 'shop')).rejects.toMatchObject({ status: 429, retryAfterMs: 2000 });
    transport.answer = () => new TransportError('timeout', 'no answer');
    await expect(client.create(NODE_FENCES, fence)).rejects.toMatchObject({ name: 'TransportError', kind: 'timeout' });
  });

  it('does not take something else for an object', async () => {
    for (const body of [undefined, null, [], 'ok', {}, { metadata: {} }, { metadata: { name: 7 } }]) {
      transport.answer = () => ({ body });
      await expect(client.get(NODES, 'a')).rejects.toMatchObject({ kind: 'garbled' });
    }
    transport.answer = () => ({ body: { items: 'many' } });
    await expect(client.list(NODES)).rejects.toMatchObject({ kind: 'garbled' });
  });

  it('patches by merge, also the status', async () => {
    transport.answer = () => ({ body: { metadata: { name: 'a' } } });
    await client.mergePatch(NODES, 'a', { spec: { unschedulable: true } }, { subresource: 'status' });
    expect(transport.requests[0]).toMatchObject({
      method: 'PATCH',
      path: '/api/v1/nodes/a/status',
      contentType: 'application/merge-patch+json',
      body: { spec: { unschedulable: true } },
    });
  });

  it('deletes under a uid precondition and says whether it was there', async () => {
    expect(await client.remove(PODS, 'web-0', { namespace: 'shop', uid: 'u1', gracePeriodSeconds: 0 })).toBe(true);
    expect(transport.requests[0]).toMatchObject({
      method: 'DELETE',
      body: { kind: 'DeleteOptions', preconditions: { uid: 'u1' }, gracePeriodSeconds: 0 },
    });
    await client.remove(PODS, 'web-0', { namespace: 'shop', resourceVersion: '7' });
    expect(transport.requests[1]?.body).toMatchObject({ preconditions: { resourceVersion: '7' } });
    transport.answer = () => ({ status: 404, body: statusOf(404, 'NotFound', 'gone', { name: 'a', kind: 'nodes' }) });
    expect(await client.remove(NODES, 'a')).toBe(false);
    transport.answer = () => ({ status: 409, body: statusOf(409, 'Conflict') });
    await expect(client.remove(NODES, 'a', { uid: 'other' })).rejects.toMatchObject({ status: 409 });
  });

  it('evicts by the eviction subresource and creates in the namespace of the object', async () => {
    transport.answer = ({ body }) => ({ status: 201, body });
    await client.evict('web-0', 'shop', { gracePeriodSeconds: 5 });
    await client.create(CONFIG_MAPS, { metadata: { name: 'c', namespace: 'shop' } });
    expect(calls()).toEqual(['POST /api/v1/namespaces/shop/pods/web-0/eviction', 'POST /api/v1/namespaces/shop/configmaps']);
    expect(transport.requests[0]?.body).toMatchObject({ apiVersion: 'policy/v1', kind: 'Eviction', deleteOptions: { gracePeriodSeconds: 5 } });
    await expect(client.create(CONFIG_MAPS, { metadata: { name: 'c' } })).rejects.toThrow('metadata.namespace is needed');
  });

  it('evicts the pod of that uid, and none that took its name', async () => {
    transport.answer = ({ body }) => ({ status: 201, body });
    await client.evict('web-0', 'shop', { uid: 'u1' });
    expect(transport.requests[0]?.body).toMatchObject({ deleteOptions: { preconditions: { uid: 'u1' } } });
  });

  it('reads stops on a lane of their own, and lets what may hang behind a webhook take none of the others', async () => {
    await client.list(NODE_FENCE_STOPS);
    await client.list(NODES);
    transport.answer = ({ body }) => ({ body });
    await client.remove(PODS, 'web-0', { namespace: 'shop' });
    await client.evict('web-0', 'shop');
    await client.create(CONFIG_MAPS, { metadata: { name: 'c', namespace: 'shop' } });
    expect(transport.requests.map(({ lane }) => lane)).toEqual(['urgent', undefined, 'slow', 'slow', undefined]);
  });

  it('gives no half of a list as the whole when it is given up between two pages', async () => {
    const controller = new AbortController();
    transport.answer = () => {
      controller.abort();
      return { body: listOf('9', [{ metadata: { name: 'stop-a' } }], 't') };
    };
    const impatient = new ApiClient({ transport, signal: controller.signal });
    await expect(impatient.list(NODE_FENCE_STOPS)).rejects.toMatchObject({ kind: 'aborted' });
  });

  it('evicts by the beta version where the server does not know the other', async () => {
    const isKnown = (body: unknown): boolean => (body as { apiVersion: string }).apiVersion === 'policy/v1beta1';
    transport.answer = ({ body }) =>
      isKnown(body) ? { status: 201, body } : { status: 400, body: statusOf(400, 'BadRequest', 'no kind "Eviction"') };
    await client.evict('web-0', 'shop');
    expect(transport.requests.map(({ body }) => (body as { apiVersion: string }).apiVersion)).toEqual(['policy/v1', 'policy/v1beta1']);
  });
});
