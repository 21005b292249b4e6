import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import type { ServerResponse } from './request.ts';
import { ApiServer } from './server.ts';
import { testClock, testRandom } from './test-support.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';

function cluster(): { server: ApiServer; ask: (method: string, path: string, body?: Json) => ServerResponse; pass: (ms: number) => void } {
  const clock = testClock();
  const server = new ApiServer({ clock, random: testRandom(), users: [{ name: 'admin', groups: ['system:masters'] }], authorization: 'rbac' });
  const ask = (method: string, path: string, body?: Json): ServerResponse =>
    server.handle({ method, path, query: {}, user: server.userByName('admin'), body, contentType: 'application/json' });
  ask('POST', ACCOUNTS, { metadata: { name: 'agent' } });
  return { server, ask, pass: (ms) => clock.advance(ms) };
}

function tokenOf({ body }: ServerResponse): string {
  return (body as unknown as { status: { token: string } }).status.token;
}

describe('a token of a ServiceAccount', () => {
  it('is made by the TokenRequest API, and whoever has it is that account', () => {
    const { server, ask } = cluster();
    const answer = ask('POST', `${ACCOUNTS}/agent/token`, { spec: { expirationSeconds: 600 } });
    expect(answer).toMatchObject({ status: 201, body: { kind: 'TokenRequest', spec: { expirationSeconds: 600 } } });
    expect(server.userByToken(tokenOf(answer))).toEqual({
      name: 'system:serviceaccount:default:agent',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    expect(server.userByToken(`${tokenOf(answer)}x`)).toBeUndefined();
  });

  it('has the rights of the account and no other', () => {
    const { server, ask } = cluster();
    const user = server.userByToken(tokenOf(ask('POST', `${ACCOUNTS}/agent/token`)));
    const list = (): number => server.handle({ method: 'GET', path: '/api/v1/nodes', query: {}, user }).status;
    expect(list()).toBe(403);
    ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }],
    });
    ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: 'default' }],
    });
    expect(list()).toBe(200);
  });

  it('ends with its time', () => {
    const { server, ask, pass } = cluster();
    const token = tokenOf(ask('POST', `${ACCOUNTS}/agent/token`, { spec: { expirationSeconds: 600 } }));
    pass(599_999);
    expect(server.userByToken(token)).toBeDefined();
    pass(1);
    expect(server.userByToken(token)).toBeUndefined();
  });

  it('ends with its account, and is not that of another one with the same name', () => {
    const { server, ask } = cluster();
    const token = tokenOf(ask('POST', `${ACCOUNTS}/agent/token`));
    ask('DELETE', `${ACCOUNTS}/agent`);
    expect(server.userByToken(token)).toBeUndefined();
    ask('POST', ACCOUNTS, { metadata: { name: 'agent' } });
    expect(server.userByToken(token)).toBeUndefined();
  });

  it('for other ears than the API server is none here', () => {
    const { server, ask } = cluster();
    expect(server.userByToken(tokenOf(ask('POST', `${ACCOUNTS}/agent/token`, { spec: { audiences: ['vault'] } })))).toBeUndefined();
  });

  it.each<[string, string, Json, number]>([
    ['an account that is not there', 'stranger', {}, 404],
    ['less than ten minutes', 'agent', { spec: { expirationSeconds: 599 } }, 422],
    ['what this server cannot bind to', 'agent', { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'a' } } }, 400],
  ])('is refused for %s', (_what, name, body, status) => {
    expect(cluster().ask('POST', `${ACCOUNTS}/${name}/token`, body).status).toBe(status);
  });
});
