// On a real API server, by the shipped roles and the policy of config/machine-remediation-guard: the annotation that switches a machine off is for those who may.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpsTransport } from '../../src/kube/https-transport.ts';
import { call, CAN_BE_GUARDED, GuardedPlane } from '../node-daemon/guarded-plane.ts';
import type { Answer } from '../node-daemon/guarded-plane.ts';
import { bindingOf, BINDINGS, CONTROLLER, named } from './guarded-people.ts';

const REQUEST = 'host.metal3.io/external-remediation';
const GROUPS = ['cluster.x-k8s.io', 'machine.openshift.io'];
const REQUESTER = 'nodefence-machine-remediation-requester';
const EDITOR = 'ed';
/** May write Machines, and may not ask; may ask; may ask for one Machine of one namespace alone. */
const PEOPLE = [EDITOR, 'rita', 'nina', CONTROLLER];

function definition(group: string): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `machines.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Machine', listKind: 'MachineList', plural: 'machines', singular: 'machine' },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
    },
  };
}

function machine(group: string, name: string, annotations = {}): object {
  return { apiVersion: `${group}/v1beta1`, kind: 'Machine', metadata: { name, annotations }, spec: {} };
}

describe.runIf(CAN_BE_GUARDED)('the guard of requests for machine remediation (needs a real control plane)', { timeout: 60_000 }, () => {
  let plane: GuardedPlane;
  const tokens = new Map(PEOPLE.map((name) => [name, randomUUID()]));
  const as = (name: string): HttpsTransport => plane.as(tokens.get(name) ?? '');
  const pathOf = (group: string, name = ''): string => `/apis/${group}/v1beta1/namespaces/default/machines${name === '' ? '' : `/${name}`}`;
  const patched = (who: string, path: string, body: object): Promise<Answer> => call(as(who), 'PATCH', path, body);
  const refused = async (attempt: Promise<Answer>): Promise<void> => {
    const words = expect.stringContaining('only who has the verb remediate on it may write or remove it') as string;
    expect(await attempt).toMatchObject({ status: 403, body: { message: words } });
  };

  beforeAll(async () => {
    const people = [...tokens].map(([name, token]) => ({ name, groups: ['system:authenticated'], token }));
    plane = await GuardedPlane.start(['crd', 'rbac', 'machine-remediation', 'machine-remediation-guard'], people);
    const access = '/apis/rbac.authorization.k8s.io/v1';
    const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
    await plane.made(`${access}/clusterroles`, {
      metadata: { name: 'machines-edit' },
      rules: [{ apiGroups: GROUPS, resources: ['machines'], verbs }],
    });
    for (const who of [EDITOR, 'nina']) await plane.made(BINDINGS, bindingOf(who, 'machines-edit'));
    await plane.made(BINDINGS, bindingOf('rita', REQUESTER));
    await plane.made(`${access}/namespaces/default/roles`, {
      metadata: { name: 'one', namespace: 'default' },
      rules: [{ apiGroups: [GROUPS[0]], resources: ['machines'], resourceNames: ['m'], verbs: ['remediate'] }],
    });
    await plane.made(`${access}/namespaces/default/rolebindings`, {
      metadata: { name: 'one', namespace: 'default' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'nina' }],
    });
    for (const group of GROUPS) {
      await plane.made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(group));
      for (const name of ['m', 'other']) {
        const isMade = async (): Promise<boolean> => (await call(plane.admin, 'POST', pathOf(group), machine(group, name))).status === 201;
        await plane.until(isMade, `machines.${group} are not served`);
      }
    }
    await plane.until(
      async () => (await patched(EDITOR, pathOf(GROUPS[0] ?? '', 'm'), named({ [REQUEST]: '' }))).body.message?.includes('remediate') === true,
      'the shipped policy takes no effect',
    );
  }, 150_000);
  afterAll(async () => plane.stop());

  describe.each(GROUPS)('Machines of %s', (group) => {
    it('are switched off for those who have the verb, and not for those who may only write them', async () => {
      const path = pathOf(group, 'm');
      await refused(patched(EDITOR, path, named({ [REQUEST]: '' })));
      expect(await patched('rita', path, named({ [REQUEST]: '' }))).toMatchObject({ status: 200 });
      // Nor is the request of another withdrawn by them.
      await refused(patched(EDITOR, path, named({ [REQUEST]: null })));
      expect(await patched(CONTROLLER, path, named({ [REQUEST]: null }))).toMatchObject({ status: 200 });
    });

    it('are created asked for by those only who have the verb', async () => {
      await refused(call(as(EDITOR), 'POST', pathOf(group), machine(group, 'born', { [REQUEST]: '' })));
      expect(await call(as(EDITOR), 'POST', pathOf(group), machine(group, 'plain', { note: 'x' }))).toMatchObject({ status: 201 });
      expect(await call(as(EDITOR), 'POST', pathOf(group), machine(group, 'bare'))).toMatchObject({ status: 201 });
    });

    it('are written in every other way as before, also while a request stands', async () => {
      const path = pathOf(group, 'other');
      expect(await patched(EDITOR, path, named({ note: 'before' }))).toMatchObject({ status: 200 });
      expect(await patched('rita', path, named({ [REQUEST]: '' }))).toMatchObject({ status: 200 });
      expect(await patched(EDITOR, path, { spec: { taints: [] } })).toMatchObject({ status: 200 });
      expect(await patched(EDITOR, path, named({ note: 'after' }))).toMatchObject({ status: 200 });
      await refused(patched(EDITOR, path, { metadata: { annotations: null } }));
      expect(await patched('rita', path, named({ [REQUEST]: null }))).toMatchObject({ status: 200 });
    });
  });

  it('the verb on one Machine is good for that one, of that group, alone', async () => {
    const [group = '', other = ''] = GROUPS;
    expect(await patched('nina', pathOf(group, 'm'), named({ [REQUEST]: '' }))).toMatchObject({ status: 200 });
    await refused(patched('nina', pathOf(group, 'other'), named({ [REQUEST]: '' })));
    await refused(patched('nina', pathOf(other, 'm'), named({ [REQUEST]: '' })));
    expect(await patched('nina', pathOf(group, 'm'), named({ [REQUEST]: null }))).toMatchObject({ status: 200 });
  });
});
