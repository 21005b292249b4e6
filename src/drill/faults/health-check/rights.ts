import type { Cluster, Resource } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import { definitionOf } from '../../../testbed/objects/any-definition.ts';
import { firstAnswer } from '../../run/pause.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io';
const SERVED_MS = 20_000;
const POLL_MS = 100;

interface Rule {
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
}

function rights(kind: 'ClusterRole' | 'ClusterRoleBinding'): Resource<KubeObject & Record<string, unknown>> {
  return { group: AUTHORIZATION, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
}

const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** So many verbs on a kind. */
export function allow({ group, plural }: Resource, verbs: readonly string[], subresource = ''): Rule {
  return { apiGroups: [group], resources: [subresource === '' ? plural : `${plural}/${subresource}`], verbs };
}

/** A user may do this, and what the roles say that are installed. */
export async function grant(cluster: Cluster, user: string, rules: readonly Rule[], installed: readonly string[] = []): Promise<void> {
  const own = `drill-${user.replaceAll(':', '-')}`;
  await cluster.create(rights('ClusterRole'), { metadata: { name: own }, rules });
  for (const role of [own, ...installed]) {
    await cluster.create(rights('ClusterRoleBinding'), {
      metadata: { name: `${own}-${role}` },
      roleRef: { apiGroup: AUTHORIZATION, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'User', apiGroup: AUTHORIZATION, name: user }],
    });
  }
}

/** Kinds of somebody else, which take whatever is written. Resolves when they are served. */
export async function define(cluster: Cluster, resources: readonly Resource[]): Promise<void> {
  for (const resource of resources) {
    await cluster.create(DEFINITIONS, definitionOf(resource));
    const isServed = (): Promise<true | undefined> =>
      cluster.list(resource).then(
        () => true as const,
        () => undefined,
      );
    if ((await firstAnswer(isServed, SERVED_MS, POLL_MS)) === undefined) throw new Error(`${resource.plural}.${resource.group} is not served`);
  }
}
