import { beforeAll, describe, expect, it } from 'vitest';
import { questionsOf } from '../../src/controllers/self-check/questions.ts';
import type { Fault } from '../../src/controllers/self-check/questions.ts';
import { CONTROLLER_ACCESS, ELSEWHERE_ACCESS, NAMESPACE } from '../../src/manifests/access.ts';
import type { Role } from '../../src/manifests/access.ts';
import { FOLDER_PURPOSES } from '../../src/manifests/folder-purposes.ts';
import { RIGHT_REASONS } from '../../src/manifests/right-reasons.ts';
import { foldersWithRoles, rightsPage } from '../../src/manifests/rights-page.ts';
import { ApiServerCheck } from '../../src/manager/self-check/api-server.ts';
import { installedFor } from '../../src/manager/self-check/installed.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testClock, testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';

const ROLES = CONTROLLER_ACCESS.filter((object): object is Role => 'rules' in object);

interface Removal {
  role: Role;
  rule: number;
  resource: string;
  verb: string;
}

/** Every verb on every resource of every rule, each to be taken away by itself. */
const REMOVALS: readonly Removal[] = ROLES.flatMap((role) =>
  role.rules.flatMap(({ resources, verbs }, rule) => resources.flatMap((resource) => verbs.map((verb) => ({ role, rule, resource, verb })))),
);

function described({ role, rule, resource, verb }: Removal): string {
  const group = role.rules[rule]?.apiGroups[0] ?? '';
  return `${role.metadata.namespace ?? 'cluster'}: ${verb} ${resource}${group === '' ? '' : `.${group}`}`;
}

/** The role without it; other resources of the same rule keep the verb. */
function without({ role, rule: index, resource, verb }: Removal): Role['rules'] {
  return role.rules.flatMap((rule, at) => {
    if (at !== index) return [rule];
    const rest = rule.resources.filter((other) => other !== resource);
    const left = rule.verbs.filter((other) => other !== verb);
    return [
      ...(rest.length > 0 ? [{ ...rule, resources: rest }] : []),
      ...(left.length > 0 ? [{ ...rule, resources: [resource], verbs: left }] : []),
    ];
  });
}

function pathOf({ kind, metadata: { name, namespace } }: Role): string {
  const place = kind === 'ClusterRole' ? 'clusterroles' : `namespaces/${namespace ?? ''}/roles`;
  return `/apis/rbac.authorization.k8s.io/v1/${place}/${name}`;
}

describe('each right of the controller, taken away by itself', () => {
  let admin: ApiTransport;
  let controller: ApiTransport;

  const grant = async (role: Role, rules: Role['rules']): Promise<void> => {
    const request = { method: 'PATCH' as const, path: pathOf(role), body: { rules }, contentType: 'application/merge-patch+json', deadlineMs: 5_000 };
    expect((await admin.request(request)).status).toBe(200);
  };
  const faults = async (): Promise<Fault[]> => {
    const questions = questionsOf(new ApiServerCheck(controller), installedFor({ namespace: NAMESPACE }));
    return (await Promise.all(questions.map(async ({ ask }) => ask()))).flat();
  };

  beforeAll(async () => {
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER_USER, groups: ['system:authenticated'] },
    ];
    const server = new ApiServer({ clock: testClock(), random: testRandom(), users, authorization: 'rbac' });
    admin = inProcessTransport(server, 'admin');
    controller = inProcessTransport(server, CONTROLLER_USER);
    await sendShipped(admin, ['crd', 'rbac']);
  });

  it('is shown in docs/rights.md with what does not work without it, and nothing else is', () => {
    const tried = REMOVALS.map(({ role, rule, resource, verb }) => {
      const group = role.rules[rule]?.apiGroups[0] ?? '';
      return `${role.metadata.namespace ?? 'cluster'} ${verb} ${resource}${group === '' ? '' : `.${group}`}`;
    });
    const told = RIGHT_REASONS.flatMap(({ place, resource, verbs }) => verbs.map((verb) => `${place} ${verb} ${resource}`));
    expect(told.toSorted()).toEqual([...new Set(tried)].toSorted());
    const page = rightsPage();
    for (const { without: words } of RIGHT_REASONS) expect(page).toContain(`| ${words}`);
    expect(foldersWithRoles().toSorted()).toEqual(Object.keys(FOLDER_PURPOSES).toSorted());
  });

  it('is none that the shipped roles lack', async () => {
    expect(REMOVALS.length).toBeGreaterThan(40);
    expect(await faults()).toEqual([]);
  });

  it.each(REMOVALS.map((removal) => [described(removal), removal] as const))(
    '%s: the controller says that it lacks it, and does not lead',
    async (_what, removal) => {
      await grant(removal.role, without(removal));
      const found = await faults();
      await grant(removal.role, removal.role.rules);
      const folder = ELSEWHERE_ACCESS.includes(removal.role) ? 'other-namespaces' : 'rbac';
      expect([...new Set(found.map(({ part, remedy }) => `${part}: ${remedy}`))]).toEqual([`rights: kubectl apply -k config/${folder}`]);
      const words = found.map(({ message }) => message).join('; ');
      expect(words).toContain(removal.verb);
      for (const part of removal.resource.split('/')) expect(words).toContain(part);
    },
  );
});
