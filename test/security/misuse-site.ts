import { randomUUID } from 'node:crypto';
import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { serveHttps } from '../../src/testbed/apiserver/http-shell.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { connect } from '../connection.ts';
import { BY, NODE, stop, STOPS } from '../installation/guarded-people.ts';
import { call, GuardedPlane, NAMESPACE } from '../node-daemon/guarded-plane.ts';

export const TEAM = 'team';
const FOLDERS = ['crd', 'rbac', 'remediation', 'remedies', 'jobs', 'preservation-observe'];
const ACCOUNTS = 'system:serviceaccounts';

/** Five kinds of callers, and one whose name only looks like that of the controller. */
export const CALLERS = {
  'a cluster-admin': { name: 'root', groups: ['system:masters', 'system:authenticated'] },
  'who administers a namespace': { name: 'tina', groups: ['system:authenticated'] },
  'the account of a node': { name: 'system:node:worker-1', groups: ['system:nodes', 'system:authenticated'] },
  'the stolen account of the controller': {
    name: `system:serviceaccount:${NAMESPACE}:nodefence-controller`,
    groups: [ACCOUNTS, `${ACCOUNTS}:${NAMESPACE}`, 'system:authenticated'],
  },
  'an account of that name in another namespace': {
    name: `system:serviceaccount:${TEAM}:nodefence-controller`,
    groups: [ACCOUNTS, `${ACCOUNTS}:${TEAM}`, 'system:authenticated'],
  },
  'who does not say who it is': undefined,
} as const;
export type Caller = keyof typeof CALLERS;

export interface Site {
  as(caller: Caller): HttpsTransport;
  /** Sends the guards, where it serves admission policies, and waits until they take effect. */
  guarded(): Promise<void>;
  stop(): Promise<void>;
}

const known = Object.entries(CALLERS).flatMap(([caller, user]) =>
  user === undefined ? [] : [{ caller, name: user.name, groups: [...user.groups], token: randomUUID() }],
);
const tokenOf = (caller: Caller): string => known.find((user) => user.caller === caller)?.token ?? '';

/** What RBAC alone keeps: it has no admission policies. */
export async function embeddedSite(): Promise<Site> {
  const server = new ApiServer({ clock: new SystemClock(), random: new SystemRandom(), users: known, authorization: 'rbac' });
  const shell = await serveHttps({ server });
  const site: Site = {
    as: (caller) => connect({ server: shell.url, caPem: shell.caPem, token: tokenOf(caller) }),
    guarded: () => Promise.resolve(),
    stop: () => shell.close(),
  };
  const admin = site.as('a cluster-admin');
  await call(admin, 'POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await sendShipped(admin, FOLDERS);
  for (const name of ['worker-1', 'worker-2']) await call(admin, 'POST', '/api/v1/nodes', { metadata: { name } });
  return site;
}

/** With `config/guards`, the Node authorizer and NodeRestriction. */
export async function realSite(): Promise<Site> {
  const plane = await GuardedPlane.start(FOLDERS, known);
  const as: Site['as'] = (caller) => plane.as(tokenOf(caller));
  return { as, guarded: () => guarded(as), stop: () => plane.stop() };
}

async function guarded(as: Site['as']): Promise<void> {
  const admin = as('a cluster-admin');
  await sendShipped(admin, ['guards']);
  const isForged = async (): Promise<boolean> => {
    const { status } = await call(admin, 'POST', STOPS, stop('probe', { [BY]: 'probe' }));
    if (status === 201) await call(admin, 'DELETE', `${STOPS}/probe`);
    return status === 403;
  };
  await until(isForged, () => 'the guards of authors take no effect');
  const thief = as('the stolen account of the controller');
  let answer = '';
  await until(
    async () => {
      // Another value each time: what is let through too early changes nothing the second time, and is never refused then.
      const { status, body } = await call(thief, 'PATCH', NODE, { metadata: { labels: { probe: randomUUID() } } });
      answer = `${status} ${body.message ?? ''}`;
      return answer.includes('no labels');
    },
    () => `the guards of nodes take no effect: ${answer}`,
  );
}

export async function until(isSo: () => Promise<boolean>, what: () => string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(what());
}
