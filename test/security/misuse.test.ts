// What five kinds of callers can not make of what is installed, on the embedded API server and on a real one: each tries to lift, confirm, forge, read and redirect, is refused, and
// leaves everything as it was. What each may is tried too, or a refusal would say nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, CAN_BE_GUARDED, NAMESPACE } from '../node-daemon/guarded-plane.ts';
import type { Answer, Method } from '../node-daemon/guarded-plane.ts';
import { BY, fenceFor, FENCES, named, NODE, OUT_OF_SERVICE, REPORTS, STOPS, stop, WORDS, acknowledgement } from '../installation/guarded-people.ts';
import { CALLERS, embeddedSite, realSite, TEAM, until } from './misuse-site.ts';
import type { Caller, Site } from './misuse-site.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const OURS = `/api/v1/namespaces/${NAMESPACE}`;
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/nodefence-controller`;
const HEARTBEAT = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2';
const FENCE = `${FENCES}/node-fence-worker-2`;
const OTHER = '/api/v1/nodes/worker-2';
const REQUESTS = `/apis/ha.k8s.io/v1/namespaces/${TEAM}/nodefenceremediations`;
const EVIDENCE = { kind: 'power-off', grade: 'read-back', source: 'x', observedAt: '2026-01-01T00:00:00Z' };
const ADMIN = 'a cluster-admin';
const AGGREGATES = /^rbac\.authorization\.k8s\.io\/aggregate-to-/u;

function ofHa(kind: string, name: string, spec?: object): object {
  return { apiVersion: 'ha.k8s.io/v1', kind, metadata: { name }, ...(spec !== undefined && { spec }) };
}

type Attempt = readonly [method: Method, path: string, body?: object];

/** Nobody but who is meant may do these. */
const ATTEMPTS = {
  'lift a stop': ['DELETE', `${STOPS}/standing`],
  'set a stop': ['POST', STOPS, stop('forged')],
  'change what a stop is for': ['PATCH', `${STOPS}/standing`, { spec: { node: 'worker-2' } }],
  'confirm that a machine is off': ['POST', WORDS, acknowledgement('forged')],
  'have its own word accepted': ['PUT', `${WORDS}/given/status`, { ...acknowledgement('given'), status: { state: 'accepted' } }],
  'resume a node that was given up': ['PATCH', `${REPORTS}/worker-2`, { spec: { resumed: { incident: 1, reason: 'repaired' } } }],
  'say which machine a node is': ['PATCH', `${REPORTS}/worker-2/status`, { status: { identity: { systemUUID: 'x' } } }],
  'ask for a fence': ['POST', FENCES, fenceFor('worker-1', 'ceo@example.com')],
  'ask for a fence by a request': ['POST', REQUESTS, ofHa('NodeFenceRemediation', 'worker-2', {})],
  'end a fence': ['DELETE', FENCE],
  'turn a fence to another node': ['PATCH', FENCE, { spec: { node: 'worker-1' } }],
  'forge how far a fence is': ['PATCH', `${FENCE}/status`, { status: { state: 'final', outcome: 'recovered' } }],
  'set evidence': ['PATCH', `${FENCE}/status`, { status: { evidence: [EVIDENCE] } }],
  'read the login of a BMC': ['GET', `${OURS}/secrets/bmc`],
  'read all logins': ['GET', `${OURS}/secrets`],
  'read Secrets of another namespace': ['GET', '/api/v1/namespaces/kube-system/secrets'],
  'change the login of a BMC': ['PATCH', `${OURS}/secrets/bmc`, { data: { password: 'eA==' } }],
  'say which device switches a node': ['PATCH', `${OURS}/configmaps/fence-config-a`, { data: { 'fence-method-off': 'ip=192.0.2.99' } }],
  'delete the configuration': ['DELETE', `${OURS}/configmaps/fence-config-a`],
  'take the lead': ['PATCH', LEASE, { spec: { holderIdentity: 'me' } }],
  'depose the leader': ['DELETE', LEASE],
  'let another node look alive': ['PATCH', HEARTBEAT, { spec: { renewTime: '2026-01-01T00:00:00.000000Z' } }],
  'get a token of the controller': ['POST', `${OURS}/serviceaccounts/nodefence-controller/token`, { spec: { audiences: [] } }],
  'run a program as the controller': [
    'POST',
    `${OURS}/pods`,
    { metadata: { name: 'x' }, spec: { serviceAccountName: 'nodefence-controller', containers: [{ name: 'c', image: 'none' }] } },
  ],
  'give itself every right': [
    'POST',
    `${RBAC}/clusterrolebindings`,
    { metadata: { name: 'mine' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }, subjects: [] },
  ],
  'widen the rights of a role': ['PATCH', `${RBAC}/clusterroles/nodefence-view`, { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }],
  'take the guards away': ['DELETE', `${POLICIES}/nodefence-authorship`],
  'free the pods of a node that lives': ['PATCH', OTHER, { spec: { taints: [OUT_OF_SERVICE] } }],
  'delete a Node': ['DELETE', OTHER],
  'say that another node is ready': ['PATCH', `${OTHER}/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }],
  'label another node': ['PATCH', OTHER, { metadata: { labels: { zone: 'x' } } }],
} as const satisfies Record<string, Attempt>;
type Name = keyof typeof ATTEMPTS;

const EVERYTHING = Object.keys(ATTEMPTS) as Name[];
/** What it is there for: whoever has its token has these, and the deletion of Nodes by config/remediation. */
const OF_THE_CONTROLLER: readonly Name[] = [
  'have its own word accepted',
  'end a fence',
  'read the login of a BMC',
  'read all logins',
  'free the pods of a node that lives',
  'delete a Node',
];
/** Of its own rights, what config/guards keeps: RBAC knows no fields. */
const KEPT_BY_GUARDS: readonly Name[] = ['ask for a fence', 'turn a fence to another node', 'label another node'];
const KEPT_BY_ROLES = EVERYTHING.filter((name) => !OF_THE_CONTROLLER.includes(name) && !KEPT_BY_GUARDS.includes(name));

interface Kept {
  /** One of what it may, or its refusals would say nothing. */
  may?: Attempt;
  cannot: readonly Name[];
  /** Where admission policies are. */
  cannotWithGuards?: readonly Name[];
}

const CALLED: Readonly<Record<Exclude<Caller, typeof ADMIN>, Kept>> = {
  'who administers a namespace': {
    may: ['POST', `/api/v1/namespaces/${TEAM}/configmaps`, { metadata: { generateName: 'own-' } }],
    cannot: EVERYTHING,
  },
  'the account of a node': { cannot: EVERYTHING },
  'the stolen account of the controller': {
    may: ['PATCH', OTHER, { spec: { unschedulable: true } }],
    cannot: KEPT_BY_ROLES,
    cannotWithGuards: KEPT_BY_GUARDS,
  },
  'an account of that name in another namespace': { cannot: EVERYTHING },
  'who does not say who it is': { cannot: EVERYTHING },
};

/** What must be as it was, whatever was tried. */
const STANDING = [
  `${STOPS}/standing`,
  `${WORDS}/given`,
  `${REPORTS}/worker-2`,
  FENCE,
  `${OURS}/secrets/bmc`,
  `${OURS}/configmaps/fence-config-a`,
  LEASE,
  HEARTBEAT,
  `${RBAC}/clusterroles/nodefence-view`,
];

/** By who it is, or by a policy: what is wrong with the request itself would say nothing. */
function isRefused({ status, body }: Answer): boolean {
  return status === 401 || status === 403 || (status === 422 && body.message?.includes('ValidatingAdmissionPolicy') === true);
}

async function fill(site: Site): Promise<void> {
  const admin = site.as(ADMIN);
  const made = async (path: string, body: object): Promise<void> =>
    expect(await call(admin, 'POST', path, body), path).toMatchObject({ status: 201 });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' };
  for (const name of [TEAM, 'kube-node-lease']) await call(admin, 'POST', '/api/v1/namespaces', { metadata: { name } });
  const lease = (name: string): object => ({ metadata: { name }, spec: { holderIdentity: name, leaseDurationSeconds: 40 } });
  await made(LEASE.replace(/\/[^/]+$/u, ''), lease('nodefence-controller'));
  await made(HEARTBEAT.replace(/\/[^/]+$/u, ''), lease('worker-2'));
  await made(`${OURS}/secrets`, { metadata: { name: 'bmc' }, stringData: { password: 'not-this-one' } });
  await made(`${OURS}/configmaps`, { metadata: { name: 'fence-config-a' }, data: { 'fence-method-off': 'ip=192.0.2.1' } });
  await made(STOPS, stop('standing'));
  await made(WORDS, acknowledgement('given'));
  await made(REPORTS, ofHa('NodeFenceReport', 'worker-2'));
  await made(FENCES, ofHa('NodeFence', 'node-fence-worker-2', { node: 'worker-2' }));
  // Everything that Kubernetes lets the administrator of a namespace do there, and what shipped roles add to that by aggregation.
  const rules = [{ apiGroups: ['', 'apps', 'batch', 'coordination.k8s.io', 'rbac.authorization.k8s.io'], resources: ['*'], verbs: ['*'] }];
  await made(`${RBAC}/clusterroles`, { metadata: { name: 'all-of-a-namespace' }, rules });
  const { items = [] } = (await call(admin, 'GET', `${RBAC}/clusterroles`)).body as { items?: { metadata: { name: string; labels?: object } }[] };
  const aggregated = items.filter(({ metadata: { labels = {} } }) => Object.keys(labels).some((label) => AGGREGATES.test(label)));
  expect(aggregated.map(({ metadata }) => metadata.name)).toContain('nodefence-view');
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: CALLERS['who administers a namespace'].name }];
  for (const name of ['all-of-a-namespace', ...aggregated.map(({ metadata }) => metadata.name)])
    await made(`${RBAC}/namespaces/${TEAM}/rolebindings`, { metadata: { generateName: 'tina-' }, roleRef: { ...roleRef, name }, subjects });
}

describe.for([
  { server: 'the embedded API server', isThere: true, isGuarded: false, start: embeddedSite },
  { server: 'a real API server (needs a real control plane)', isThere: CAN_BE_GUARDED, isGuarded: true, start: realSite },
])('on $server', ({ isThere, isGuarded, start }) => {
  describe.runIf(isThere)('what is installed', { timeout: 60_000 }, () => {
    let site: Site;
    const ask = async (caller: Caller, [method, path, body]: Attempt): Promise<Answer> => call(site.as(caller), method, path, body);
    const versions = async (): Promise<string[]> => {
      const found = await Promise.all(STANDING.map(async (path) => ask(ADMIN, ['GET', path])));
      return found.map(({ status, body }, index) => `${STANDING[index] ?? ''} ${status} ${JSON.stringify(body.metadata)}`);
    };
    beforeAll(async () => {
      site = await start();
      await fill(site);
      await site.guarded();
      // Roles take effect a moment after they are written.
      for (const [caller, { may }] of entries())
        if (may !== undefined)
          await until(
            async () => (await ask(caller, may)).status < 300,
            () => `${caller} has no rights`,
          );
    }, 150_000);
    afterAll(() => site.stop());

    it.each(entries())('lets %s do nothing that is not its own, and stands as it was', async (caller, { cannot, cannotWithGuards = [] }) => {
      const before = await versions();
      const refused: string[] = [];
      const tried = isGuarded ? [...cannot, ...cannotWithGuards] : cannot;
      for (const name of tried) if (isRefused(await ask(caller, ATTEMPTS[name]))) refused.push(name);
      expect(refused).toEqual(tried);
      expect(await versions()).toEqual(before);
    });

    it.runIf(isGuarded)('lets an administrator of the cluster stop, confirm and resume in nobody’s name, and rewrite nothing', async () => {
      const others = named({ [BY]: 'ceo@example.com' });
      const words: readonly [string, number, Attempt][] = [
        ['that is root', 403, ['POST', STOPS, stop('forged', others.metadata.annotations)]],
        ['that is root', 403, ['POST', WORDS, acknowledgement('forged', others.metadata.annotations)]],
        ['that is root', 403, ['PATCH', `${REPORTS}/worker-2`, { ...others, spec: { resumed: { incident: 1, reason: 'repaired' } } }]],
        ['that is root', 403, ATTEMPTS['ask for a fence']],
        ['stays as it was given', 403, ATTEMPTS['change what a stop is for']],
        ['spec.node stays', 422, ATTEMPTS['turn a fence to another node']],
      ];
      const before = await versions();
      for (const [said, status, attempt] of words)
        expect(await ask(ADMIN, attempt)).toMatchObject({ status, body: { message: expect.stringContaining(said) as string } });
      expect(await versions()).toEqual(before);
    });

    it.runIf(isGuarded)('lets a node say its own state', async () => {
      const ready: Attempt = ['PATCH', `${NODE}/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }];
      expect(await ask('the account of a node', ready)).toMatchObject({ status: 200 });
    });
  });
});

function entries(): [keyof typeof CALLED, Kept][] {
  return Object.entries(CALLED) as [keyof typeof CALLED, Kept][];
}
