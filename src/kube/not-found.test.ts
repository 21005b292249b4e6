import { describe, expect, it } from 'vitest';
import type { ApiRequest, ApiResponse } from '../ports/api-transport.ts';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { BARE_METAL_HOSTS } from '../ports/metal3.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../ports/resources.ts';
import { ApiServer } from '../testbed/apiserver/server.ts';
import { testClock, testRandom } from '../testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../testbed/apiserver/transport.ts';
import { ApiClient } from './client.ts';
import { ScriptedTransport, statusOf } from './testing/scripted-transport.ts';

type Answer = Partial<ApiResponse>;

const PROXY: Answer = { status: 404, body: 'default backend - 404' };
const STARTING: Answer = { status: 404, body: statusOf(404, 'NotFound', 'the server could not find the requested resource') };
const listed = (name: string): Answer => ({ body: { kind: 'APIResourceList', groupVersion: 'coordination.k8s.io/v1', resources: [{ name }] } });

/** Answers as the tests say: each path by its own answer, everything else by `rest`. */
function client(rest: Answer, byPath: Record<string, Answer> = {}): { client: ApiClient; asked: ApiRequest[] } {
  const transport = new ScriptedTransport();
  transport.answer = ({ path }) => byPath[path] ?? rest;
  return { client: new ApiClient({ transport }), asked: transport.requests };
}

describe('a 404', () => {
  const leaseOf = (details: object): Answer => ({ status: 404, body: statusOf(404, 'NotFound', 'not found', details) });

  it('is the absence of the object that it names', async () => {
    const { client: sure, asked } = client(leaseOf({ name: 'a', group: 'coordination.k8s.io', kind: 'leases' }));
    expect(await sure.get(LEASES, 'a', 'kube-node-lease')).toBeUndefined();
    expect(await sure.remove(LEASES, 'a', { namespace: 'kube-node-lease' })).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['of a proxy', PROXY],
    ['of a server that has not installed all its paths', STARTING],
    ['that names another object', leaseOf({ name: 'b', group: 'coordination.k8s.io', kind: 'leases' })],
    ['that names an object of another kind', leaseOf({ name: 'a', kind: 'nodes' })],
    ['that names an object of another group', leaseOf({ name: 'a', kind: 'leases' })],
    [
      'without its kind and version',
      { status: 404, body: { reason: 'NotFound', details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases' } } },
    ],
  ])('%s is no absence, whether discovery can be asked or not', async (_words, answer) => {
    for (const discovery of [answer, listed('leases')]) {
      const { client: unsure } = client(answer, { '/apis/coordination.k8s.io/v1': discovery });
      await expect(unsure.get(LEASES, 'a', 'kube-node-lease')).rejects.toBeInstanceOf(TransportError);
      await expect(unsure.remove(LEASES, 'a', { namespace: 'kube-node-lease' })).rejects.toBeInstanceOf(TransportError);
    }
  });

  it('of a kind that must be there is an error, whatever discovery says', async () => {
    const { client: lost } = client(PROXY, { '/apis/coordination.k8s.io/v1': listed('leasecandidates') });
    await expect(lost.get(LEASES, 'a', 'kube-node-lease')).rejects.toThrow('does not serve leases of coordination.k8s.io/v1');
  });

  it('to a list is no empty list: a proxy knew of no stop', async () => {
    await expect(client(PROXY).client.list(NODE_FENCE_STOPS)).rejects.toBeInstanceOf(TransportError);
    await expect(client(STARTING).client.list(NODE_FENCE_STOPS)).rejects.toBeInstanceOf(TransportError);
  });

  it('to a write is no word of the API server on it', async () => {
    const { client: unsure } = client(PROXY);
    await expect(unsure.mergePatch(NODES, 'a', {})).rejects.toBeInstanceOf(TransportError);
    await expect(unsure.evict('web-0', 'web')).rejects.toBeInstanceOf(TransportError);
    const { client: sure } = client({ status: 404, body: statusOf(404, 'NotFound', 'gone', { name: 'a', kind: 'nodes' }) });
    await expect(sure.mergePatch(NODES, 'a', {})).rejects.toMatchObject({ name: 'ApiStatusError', status: 404 });
  });
});

describe('a kind that a cluster does not serve', () => {
  const server = new ApiServer({
    clock: testClock(),
    random: testRandom(),
    users: [{ name: 'admin', groups: ['system:masters'] }],
    authorization: 'rbac',
  });
  const transport = inProcessTransport(server, 'admin');
  const own = new ApiClient({ transport });
  const workload = new ApiClient({ transport, isForeign: true });

  it('has no objects where it need not be there, and its list says that it is not', async () => {
    expect(await own.get(BARE_METAL_HOSTS, 'a', 'default')).toBeUndefined();
    expect(await own.remove(BARE_METAL_HOSTS, 'a', { namespace: 'default' })).toBe(false);
    await expect(own.list(BARE_METAL_HOSTS)).rejects.toMatchObject({ status: 404 });
  });

  it('is an error where it is ours, and empty in a workload cluster', async () => {
    await expect(own.get(NODE_FENCES, 'node-fence-a')).rejects.toBeInstanceOf(ApiStatusError);
    await expect(own.list(NODE_FENCE_STOPS)).rejects.toThrow('does not serve nodefencestops of ha.k8s.io/v1');
    expect(await workload.get(NODE_FENCES, 'node-fence-a')).toBeUndefined();
    expect(await workload.list(NODE_FENCE_STOPS)).toEqual([]);
  });

  it('is answered as Kubernetes 1.36 does: plain text, and a Status without a name below a built-in group', async () => {
    const ask = (path: string) => transport.request({ method: 'GET', path, deadlineMs: 1000 });
    expect(await ask('/apis/metal3.io/v1alpha1/baremetalhosts')).toMatchObject({
      status: 404,
      body: '404 page not found\n',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
    expect(await ask('/apis/metal3.io/v1alpha1')).toMatchObject({ status: 404, body: '404 page not found\n' });
    expect(await ask('/apis/apps/v1/things')).toMatchObject({ status: 404, body: { kind: 'Status', reason: 'NotFound', details: {} } });
  });
});
