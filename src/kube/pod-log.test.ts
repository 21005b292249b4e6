import { describe, expect, it } from 'vitest';

import { ApiServer } from '../testbed/apiserver/server.ts';
import { testClock, testRandom } from '../testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../testbed/apiserver/transport.ts';
import { JOB_ACCESS } from '../manifests/access.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Resource } from '../ports/cluster.ts';
import type { Pod } from '../ports/objects.ts';
import { PODS } from '../ports/resources.ts';
import { ApiClient } from './client.ts';

const ALL = { container: 'main', tailLines: 100, limitBytes: 1_000 };
const JOBS: Resource = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };

function server(logs: Readonly<Record<string, string>>) {
  const users = [
    { name: 'admin', groups: ['system:masters'] },
    { name: 'nobody', groups: [] },
  ];
  const logOf = (namespace: string, pod: string, container: string): string | undefined => logs[`${namespace}/${pod}/${container}`];
  const api = new ApiServer({ clock: testClock(), random: testRandom(), users, authorization: 'rbac', logOf });
  return (user = 'admin') => new ApiClient({ transport: inProcessTransport(api, user) });
}

const POD = {
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'i' }] },
} as Pod;

describe('the log of a pod', () => {
  it('is read as text, its newest lines, cut where it is too long', async () => {
    const as = server({ 'default/p/main': 'one\ntwo\n{"three": 3}\n' });
    await as().create(PODS, POD);
    expect(await as().podLog('p', 'default', ALL)).toBe('one\ntwo\n{"three": 3}\n');
    expect(await as().podLog('p', 'default', { ...ALL, tailLines: 2 })).toBe('two\n{"three": 3}\n');
    expect(await as().podLog('p', 'default', { ...ALL, limitBytes: 5 })).toBe('one\nt');
  });

  it('is refused in the words of the server', async () => {
    const as = server({});
    await as().create(PODS, POD);
    await expect(as().podLog('p', 'default', ALL)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('waiting to start') as string,
    });
    await expect(as().podLog('p', 'default', { ...ALL, container: 'other' })).rejects.toThrow('container other is not valid for pod p');
    await expect(as().podLog('q', 'default', ALL)).rejects.toMatchObject({ status: 404 });
    await expect(as('nobody').podLog('p', 'default', ALL)).rejects.toMatchObject({ status: 403 });
  });
});

describe('what is deleted in the background', () => {
  it('takes with it what it owns, which the server would not do with a Job unless it is told', async () => {
    const bodies: unknown[] = [];
    const transport: ApiTransport = {
      request: (request) => {
        bodies.push(request.body);
        return Promise.resolve({ status: 200, body: {}, headers: {} });
      },
      watch: () => () => undefined,
    };
    const client = new ApiClient({ transport });
    expect(await client.remove(JOBS, 'j', { namespace: 'default', propagationPolicy: 'Background' })).toBe(true);
    await client.remove(JOBS, 'j', { namespace: 'default' });
    expect(bodies).toEqual([
      { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' },
      { apiVersion: 'v1', kind: 'DeleteOptions' },
    ]);
  });
});

describe('the rights that Jobs take', () => {
  it('are of one namespace, and no more than to run a Job and to read its log', () => {
    const [role] = JOB_ACCESS;
    expect(role).toMatchObject({
      kind: 'Role',
      rules: [
        { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'delete'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      ],
    });
  });
});
