// On a real API server: what the guards of authors let through, and what they refuse of words that stand beside others. Each line is a clause of config/guards/authorship.yaml.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { call, CAN_BE_GUARDED, GuardedPlane } from '../node-daemon/guarded-plane.ts';
import type { Answer } from '../node-daemon/guarded-plane.ts';
import { bindingOf, BINDINGS, BY, named, REPORTS, ROLES, stop, STOPS } from './guarded-people.ts';

const REQUESTS = '/apis/ha.k8s.io/v1/namespaces/default/nodefenceremediations';
const LABELLED = { metadata: { labels: { seen: 'yes' } } };
const RESUMED = { resumed: { incident: 1, reason: 'repaired' } };

function report(name: string, spec?: object, annotations?: object): object {
  const metadata = { name, ...(annotations !== undefined && { annotations }) };
  return { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceReport', metadata, ...(spec !== undefined && { spec }) };
}

function request(name: string, spec: object = {}): object {
  return { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', metadata: { name, namespace: 'default' }, spec };
}

describe.runIf(CAN_BE_GUARDED)('the guards of authors on a real API server (needs a real control plane)', { timeout: 60_000 }, () => {
  let plane: GuardedPlane;
  const tokens = new Map(Object.keys(ROLES).map((name) => [name, randomUUID()]));
  const as = (name: string): HttpsTransport => plane.as(tokens.get(name) ?? '');
  const is = async (status: number, attempt: Promise<Answer>): Promise<void> => expect(await attempt).toMatchObject({ status });
  const refused = async (words: string, attempt: Promise<Answer>): Promise<void> => {
    expect(await attempt).toMatchObject({ status: 403, body: { message: expect.stringContaining(words) as string } });
  };

  beforeAll(async () => {
    const people = [...tokens].map(([name, token]) => ({ name, groups: ['system:authenticated'], token }));
    plane = await GuardedPlane.start(['crd', 'rbac', 'remediation'], people);
    for (const [user, roles] of Object.entries(ROLES)) for (const role of roles) await plane.made(BINDINGS, bindingOf(user, role));
    const blank = { ...stop('before'), spec: { node: 'worker-1', reason: ' ' } };
    await plane.until(async () => (await call(plane.admin, 'POST', STOPS, blank)).status === 201, 'kinds are not served');
    await plane.until(async () => (await call(plane.admin, 'POST', REQUESTS, request('probe'))).status === 201, 'requests are not served');
    await sendShipped(plane.admin, ['guards']);
    await plane.until(async () => {
      const { status, body } = await call(as('alice'), 'POST', STOPS, stop('probe', { [BY]: 'probe' }));
      if (status === 201) await call(plane.admin, 'DELETE', `${STOPS}/probe`);
      return body.message?.includes('nodefence-authorship') === true;
    }, 'the shipped policy takes no effect');
    // The policies of one file take effect one by one.
    await plane.until(async () => {
      const { status } = await call(plane.admin, 'POST', REPORTS, report('probe', RESUMED, { [BY]: 'somebody' }));
      if (status === 201) await call(plane.admin, 'DELETE', `${REPORTS}/probe`);
      return status === 403;
    }, 'the shipped policy of reports takes no effect');
  }, 150_000);
  afterAll(async () => plane.stop());

  it('let a word be labelled, also one of before them whose reason is blank', async () => {
    await is(201, call(as('alice'), 'POST', STOPS, stop('plain')));
    await is(200, call(as('root'), 'PATCH', `${STOPS}/plain`, LABELLED));
    await is(200, call(as('root'), 'PATCH', `${STOPS}/before`, LABELLED));
  });

  it('let a request be made without a reason, and be changed by whoever made it', async () => {
    await is(201, call(as('root'), 'POST', REQUESTS, request('r')));
    await is(200, call(as('root'), 'PATCH', `${REQUESTS}/r`, { spec: { retryLimit: 2 } }));
  });

  it('let a report be made with and without words, and be labelled', async () => {
    await is(201, call(as('root'), 'POST', REPORTS, report('bare')));
    await is(200, call(as('root'), 'PATCH', `${REPORTS}/bare`, LABELLED));
    await is(201, call(as('root'), 'POST', REPORTS, report('said', RESUMED, { [BY]: 'root' })));
    await is(200, call(as('root'), 'PATCH', `${REPORTS}/said`, LABELLED));
  });

  it('let remedies be resumed alone', async () => {
    const resumedRemedies = [{ threshold: 'KernelDeadlock=True', episode: 'e1', reason: 'repaired' }];
    await is(201, call(as('root'), 'POST', REPORTS, report('remedies', { resumedRemedies })));
    const blank = [{ threshold: 'KernelDeadlock=True', episode: 'e1', reason: ' ' }];
    await is(422, call(as('root'), 'POST', REPORTS, report('unreasoned', { resumedRemedies: blank })));
  });

  it('refuse an author without words, and words that lose theirs', async () => {
    await is(201, call(as('root'), 'POST', REPORTS, report('silent')));
    await refused('it goes with spec, and never alone', call(as('alice'), 'PATCH', `${REPORTS}/silent`, named({ [BY]: 'alice' })));
    await is(201, call(as('root'), 'POST', REPORTS, report('kept', RESUMED, { [BY]: 'root' })));
    await refused('it goes with spec, and never alone', call(as('alice'), 'PATCH', `${REPORTS}/kept`, named({ [BY]: null })));
  });
});
