import { describe, expect, it } from 'vitest';
import { at, objectsAt, textAt, type Json } from './json.ts';
import { testRandom, testClock } from './test-support.ts';
import { ApiServer, type ApiServerOptions } from './server.ts';
import type { ServerEvent } from './watches.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MERGE = 'application/merge-patch+json';

interface Asked {
  status: number;
  body: Json;
}

class Cluster {
  readonly clock = testClock();
  readonly server: ApiServer;
  userName = 'admin';

  constructor(options: Partial<ApiServerOptions> = {}) {
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: 'system:serviceaccount:default:agent', groups: ['system:serviceaccounts'] },
    ];
    this.server = new ApiServer({ clock: this.clock, random: testRandom(), users, authorization: 'rbac', ...options });
  }

  ask(method: string, path: string, body?: Json, contentType = 'application/json'): Asked {
    const [pathname = '', search = ''] = path.split('?');
    const user = this.server.userByName(this.userName);
    return this.server.handle({ method, path: pathname, query: Object.fromEntries(new URLSearchParams(search)), user, body, contentType });
  }

  watch(path: string, query: Record<string, string> = {}): { events: ServerEvent[]; ended: () => boolean } {
    const events: ServerEvent[] = [];
    let isEnded = false;
    const sink = { onEvent: (event: ServerEvent) => void events.push(event), onEnd: () => void (isEnded = true) };
    this.server.watch({ method: 'GET', path, query: { watch: 'true', ...query }, user: this.server.userByName(this.userName) }, sink);
    return { events, ended: () => isEnded };
  }
}

function owned(name: string, owner: Json, more: Record<string, Json> = {}): Json {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: textAt(owner, 'metadata', 'name'), uid: textAt(owner, 'metadata', 'uid') };
  return { metadata: { name, ownerReferences: [reference], ...more } };
}

function pod(name: string, app: string): Json {
  return { metadata: { name, labels: { app } }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };
}

function definition(names: { plural: string; kind: string }, schema: Json): Json {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return { metadata: { name: `${names.plural}.example.com` }, spec: { group: 'example.com', scope: 'Cluster', names, versions: [version] } };
}

describe('a restore of etcd', () => {
  it('takes back what was written since the backup, versions too, and a watch from after it hears nothing', () => {
    const cluster = new Cluster();
    cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'a' }, data: { of: 'before' } });
    const backup = cluster.server.backup();
    const { revision } = cluster.server;
    cluster.server.advance(1_000);
    cluster.ask('PATCH', `${CONFIG_MAPS}/a`, { data: { of: 'after' } }, MERGE);
    cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'b' } });
    const watch = cluster.watch(CONFIG_MAPS);
    const lost = String(cluster.server.revision);
    cluster.server.restore(backup);
    expect(watch.ended()).toBe(true);
    expect(cluster.server.revision).toBe(revision);
    expect(at(cluster.ask('GET', `${CONFIG_MAPS}/a`).body, 'data')).toEqual({ of: 'before' });
    expect(cluster.ask('GET', `${CONFIG_MAPS}/b`).status).toBe(404);
    const late = cluster.watch(CONFIG_MAPS, { resourceVersion: lost, allowWatchBookmarks: 'true' });
    const fresh = cluster.watch(CONFIG_MAPS, { resourceVersion: String(revision), allowWatchBookmarks: 'true' });
    cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'c' } });
    cluster.server.bookmark();
    expect(fresh.events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(late.events).toEqual([]);
    expect(cluster.ask('GET', `${CONFIG_MAPS}?resourceVersion=${lost}`).status, 'a list from there is refused').toBe(504);
  });
});

describe('owners and their dependents', () => {
  it('go together in the background', () => {
    const cluster = new Cluster();
    const owner = cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'owner' } }).body;
    const child = cluster.ask('POST', CONFIG_MAPS, owned('child', owner)).body;
    cluster.ask('POST', CONFIG_MAPS, owned('grandchild', child));
    cluster.ask('DELETE', `${CONFIG_MAPS}/owner`);
    expect(objectsAt(cluster.ask('GET', CONFIG_MAPS).body, 'items')).toEqual([]);
  });

  it('are parted by an orphaning deletion', () => {
    const cluster = new Cluster();
    const owner = cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'owner' } }).body;
    cluster.ask('POST', CONFIG_MAPS, owned('child', owner));
    cluster.ask('DELETE', `${CONFIG_MAPS}/owner`, { propagationPolicy: 'Orphan' });
    expect(cluster.ask('GET', `${CONFIG_MAPS}/owner`).status).toBe(404);
    expect(at(cluster.ask('GET', `${CONFIG_MAPS}/child`).body, 'metadata', 'ownerReferences')).toBeUndefined();
  });

  it('wait for the dependents in a foreground deletion', () => {
    const cluster = new Cluster();
    const owner = cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'owner' } }).body;
    cluster.ask('POST', CONFIG_MAPS, owned('child', owner, { finalizers: ['example.com/wait'] }));
    cluster.ask('DELETE', `${CONFIG_MAPS}/owner`, { propagationPolicy: 'Foreground' });
    expect(at(cluster.ask('GET', `${CONFIG_MAPS}/owner`).body, 'metadata', 'finalizers')).toEqual(['foregroundDeletion']);
    cluster.ask('PATCH', `${CONFIG_MAPS}/child`, { metadata: { finalizers: null } }, MERGE);
    expect(cluster.ask('GET', `${CONFIG_MAPS}/owner`).status).toBe(404);
  });

  it('do not come about when the owner is gone already', () => {
    const cluster = new Cluster();
    cluster.ask('POST', CONFIG_MAPS, owned('late', { metadata: { name: 'gone', uid: 'gone' } }));
    expect(cluster.ask('GET', `${CONFIG_MAPS}/late`).status).toBe(404);
  });

  it('end with their namespace', () => {
    const cluster = new Cluster();
    cluster.ask('POST', '/api/v1/namespaces', { metadata: { name: 'temporary' } });
    cluster.ask('POST', '/api/v1/namespaces/temporary/configmaps', { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    cluster.ask('DELETE', '/api/v1/namespaces/temporary');
    expect(textAt(cluster.ask('GET', '/api/v1/namespaces/temporary').body, 'status', 'phase')).toBe('Terminating');
    expect(cluster.ask('POST', '/api/v1/namespaces/temporary/configmaps', { metadata: { name: 'new' } }).status).toBe(403);
    cluster.ask('PATCH', '/api/v1/namespaces/temporary/configmaps/held', { metadata: { finalizers: null } }, MERGE);
    expect(cluster.ask('GET', '/api/v1/namespaces/temporary').status).toBe(404);
  });
});

describe('definitions', () => {
  it('take their objects with them and end the watches', () => {
    const cluster = new Cluster();
    cluster.ask(
      'POST',
      DEFINITIONS,
      definition({ plural: 'things', kind: 'Thing' }, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    );
    cluster.ask('POST', '/apis/example.com/v1/things', { metadata: { name: 'a' } });
    const watch = cluster.watch('/apis/example.com/v1/things');
    cluster.ask('DELETE', `${DEFINITIONS}/things.example.com`);
    expect(watch.events.map((event) => event.type)).toEqual(['ADDED', 'DELETED']);
    expect(watch.ended()).toBe(true);
    expect(cluster.ask('GET', '/apis/example.com/v1/things').status).toBe(404);
    expect(cluster.ask('GET', `${DEFINITIONS}/things.example.com`).status).toBe(404);
  });

  it('are served anew by a changed schema, and take numbers or texts where both are admitted', () => {
    const cluster = new Cluster();
    const schema = (type: string): Json => ({
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: { type }, port: { 'x-kubernetes-int-or-string': true } } } },
    });
    cluster.ask('POST', DEFINITIONS, definition({ plural: 'things', kind: 'Thing' }, schema('string')));
    expect(cluster.ask('POST', '/apis/example.com/v1/things', { metadata: { name: 'a' }, spec: { a: 1 } }).status).toBe(422);
    const spec = at(definition({ plural: 'things', kind: 'Thing' }, schema('integer')), 'spec') ?? null;
    expect(cluster.ask('PATCH', `${DEFINITIONS}/things.example.com`, { spec }, MERGE).status).toBe(200);
    expect(cluster.ask('POST', '/apis/example.com/v1/things', { metadata: { name: 'a' }, spec: { a: 1, port: 80 } }).status).toBe(201);
    expect(cluster.ask('POST', '/apis/example.com/v1/things', { metadata: { name: 'b' }, spec: { port: 'http' } }).status).toBe(201);
    expect(cluster.ask('POST', '/apis/example.com/v1/things', { metadata: { name: 'c' }, spec: { port: true } }).status).toBe(422);
  });
});

describe('evictions', () => {
  function withBudget(spec: Record<string, Json>, readyPods: number): Cluster {
    const cluster = new Cluster();
    for (let index = 0; index < 3; index++) {
      cluster.ask('POST', PODS, pod(`p${String(index)}`, 'db'));
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: index < readyPods ? 'True' : 'False' }] };
      cluster.ask('PATCH', `${PODS}/p${String(index)}/status`, { status }, MERGE);
    }
    const budget = { metadata: { name: 'db' }, spec: { selector: { matchLabels: { app: 'db' } }, ...spec } };
    cluster.ask('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget);
    return cluster;
  }

  it('are counted from the pods as they are, absolute or in percent', () => {
    expect(withBudget({ minAvailable: 2 }, 3).ask('POST', `${PODS}/p0/eviction`, {}).status).toBe(201);
    expect(withBudget({ minAvailable: 2 }, 2).ask('POST', `${PODS}/p0/eviction`, {}).status).toBe(429);
    expect(withBudget({ maxUnavailable: '50%' }, 2).ask('POST', `${PODS}/p0/eviction`, {}).status).toBe(201);
    expect(withBudget({ maxUnavailable: 0 }, 3).ask('POST', `${PODS}/p0/eviction`, {}).status).toBe(429);
  });

  it('use the budget up: the second one waits', () => {
    const cluster = withBudget({ minAvailable: 2 }, 3);
    expect(cluster.ask('POST', `${PODS}/p0/eviction`, {}).status).toBe(201);
    expect(cluster.ask('POST', `${PODS}/p1/eviction`, {}).status).toBe(429);
  });
});

describe('watches', () => {
  it('end when their time is up, after a bookmark where there is something newer than they began with', () => {
    const cluster = new Cluster();
    const watch = cluster.watch('/api/v1/nodes', { allowWatchBookmarks: 'true', timeoutSeconds: '10' });
    cluster.ask('POST', PODS, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const still = cluster.watch('/api/v1/nodes', { allowWatchBookmarks: 'true', timeoutSeconds: '10' });
    cluster.clock.advance(8_500);
    cluster.server.tick();
    expect(watch.events.map((event) => event.type)).toEqual(['BOOKMARK']);
    expect(watch.ended()).toBe(false);
    cluster.clock.advance(2_000);
    cluster.server.tick();
    expect([watch.ended(), still.ended()]).toEqual([true, true]);
    expect(still.events).toEqual([]);
    expect(cluster.server.openWatches).toBe(0);
  });

  it('by node follow a pod that is bound to it and leaves it', () => {
    const cluster = new Cluster();
    const watch = cluster.watch('/api/v1/pods', { fieldSelector: 'spec.nodeName=n1' });
    cluster.ask('POST', PODS, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    expect(watch.events).toEqual([]);
    cluster.ask('POST', `${PODS}/a/binding`, { target: { name: 'n1' } });
    cluster.ask('DELETE', `${PODS}/a`, { gracePeriodSeconds: 0 });
    expect(watch.events.map((event) => event.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  it('are told 410 by an event when all are expired', () => {
    const cluster = new Cluster();
    const watch = cluster.watch('/api/v1/nodes');
    cluster.server.endWatches('expire');
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    expect(watch.ended()).toBe(true);
  });

  it('of a kind whose history overflowed start anew with 410', () => {
    const cluster = new Cluster({ historyLimit: 10 });
    const first = cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'a' } }).body;
    for (let count = 0; count < 40; count++) cluster.ask('PATCH', `${CONFIG_MAPS}/a`, { data: { count: String(count) } }, MERGE);
    const watch = cluster.watch(CONFIG_MAPS, { resourceVersion: textAt(first, 'metadata', 'resourceVersion') });
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  });
});

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l';

describe('access', () => {
  it('is granted to a service account by a role binding in its namespace, and to subresources only when named', () => {
    const cluster = new Cluster();
    const rules = [{ apiGroups: [''], resources: ['pods', 'pods/eviction'], verbs: ['get', 'create'] }];
    cluster.ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'evicter' }, rules });
    const binding = {
      metadata: { name: 'agent' },
      roleRef: { kind: 'ClusterRole', name: 'evicter' },
      subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: 'default' }],
    };
    cluster.ask('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', binding);
    cluster.ask('POST', PODS, pod('p', 'a'));
    cluster.userName = 'system:serviceaccount:default:agent';
    expect(cluster.ask('GET', `${PODS}/p`).status).toBe(200);
    expect(cluster.ask('POST', `${PODS}/p/eviction`, {}).status).toBe(201);
    expect(cluster.ask('POST', `${PODS}/p/binding`, { target: { name: 'n' } }).status).toBe(403);
    expect(cluster.ask('GET', PODS).status).toBe(403);
    expect(cluster.ask('GET', '/api/v1/namespaces/kube-system/pods/p').status).toBe(403);
  });

  it.each([
    ['every verb', { apiGroups: [''], resources: ['pods'], verbs: ['*'] }, [200, 403, 403]],
    ['every group', { apiGroups: ['*'], resources: ['pods'], verbs: ['get'] }, [200, 403, 403]],
    ['every resource, their subresources among them', { apiGroups: [''], resources: ['*'], verbs: ['get', 'create'] }, [200, 201, 403]],
    ['one subresource of every resource', { apiGroups: [''], resources: ['*/eviction'], verbs: ['get', 'create'] }, [403, 201, 403]],
  ])('is granted to %s by a star, and to nothing beside', (_what, rule, answers) => {
    const cluster = new Cluster();
    cluster.ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'starred' }, rules: [rule] });
    const to = { roleRef: { kind: 'ClusterRole', name: 'starred' }, subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: 'default' }] };
    cluster.ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { metadata: { name: 'starred' }, ...to });
    cluster.ask('POST', PODS, pod('p', 'a'));
    cluster.userName = 'system:serviceaccount:default:agent';
    const asked = [cluster.ask('GET', `${PODS}/p`), cluster.ask('POST', `${PODS}/p/eviction`, {}), cluster.ask('GET', LEASE)];
    expect(asked.map(({ status }) => status)).toEqual(answers);
  });

  it('follows each change of a role and of a binding at once, a restore of etcd too', () => {
    const cluster = new Cluster();
    const RBAC = '/apis/rbac.authorization.k8s.io/v1';
    const subjects = [{ kind: 'ServiceAccount', name: 'agent', namespace: 'default' }];
    const answer = (): number => {
      cluster.userName = 'system:serviceaccount:default:agent';
      const { status } = cluster.ask('GET', LEASE);
      cluster.userName = 'admin';
      return status;
    };
    const role = (...verbs: string[]): Json => ({ rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }] });
    const answers = [answer()];
    const after = (method: string, path: string, body?: Json, contentType?: string): void => {
      cluster.ask(method, `${RBAC}/${path}`, body, contentType);
      answers.push(answer());
    };
    for (const [scope, kind] of [['', 'ClusterRole'] as const, ['namespaces/default/', 'Role'] as const]) {
      const [roles, bindings] = [`${scope}${kind.toLowerCase()}s`, `${scope}${kind.toLowerCase()}bindings`];
      after('POST', bindings, { metadata: { name: 'b' }, roleRef: { kind, name: 'r' }, subjects });
      after('POST', roles, { metadata: { name: 'r' }, ...(role('get') as object) });
      after('PATCH', `${roles}/r`, role('list'), MERGE);
      const backup = cluster.server.backup();
      after('PATCH', `${roles}/r`, role('get'), MERGE);
      cluster.server.restore(backup);
      answers.push(answer());
      after('PATCH', `${roles}/r`, role('get'), MERGE);
      after('DELETE', `${bindings}/b`);
    }
    const [refused, allowed] = [403, 404];
    expect(answers).toEqual([refused, ...Array.from({ length: 2 }, () => [refused, allowed, refused, allowed, refused, allowed, refused]).flat()]);
  });

  it('is audited with what was asked, what came of it and the object as stored', () => {
    const events: unknown[] = [];
    const cluster = new Cluster({ audit: (event) => void events.push(event) });
    cluster.ask('POST', CONFIG_MAPS, { metadata: { name: 'a' }, data: { x: '1' } });
    cluster.ask('DELETE', `${CONFIG_MAPS}/a`);
    cluster.ask('DELETE', `${CONFIG_MAPS}/a`);
    expect(events).toMatchObject([
      {
        kind: 'api',
        user: 'admin',
        verb: 'create',
        resource: 'configmaps',
        namespace: 'default',
        name: 'a',
        status: 201,
        request: { data: { x: '1' } },
        object: { data: { x: '1' } },
      },
      { verb: 'delete', name: 'a', status: 200, object: { data: { x: '1' } } },
      { verb: 'delete', name: 'a', status: 404 },
    ]);
  });
});
