import type { Written } from './ovirt-writing.ts';

export const CLUSTER = '22222222-aaaa-4bbb-8ccc-dddddddddddd';
const OTHER_CLUSTER = '44444444-aaaa-4bbb-8ccc-dddddddddddd';

type Shown = Record<string, Written>;

/** Two hosts of the cluster, of which the first is in this state, or is shown to nobody with all others; and a lost one of another cluster. */
export function hostsShown(status = 'up'): Shown[] {
  if (status === 'hidden') return [];
  const host = (name: string, shown: string, cluster: string): Shown => ({ id: name, name, status: shown, cluster: { id: cluster } });
  return [host('host-1', status, CLUSTER), host('host-2', 'up', CLUSTER), host('host-3', 'non_responsive', OTHER_CLUSTER)];
}

/** What a filtered request for permissions shows with `follow=role.permits`; `unshown`: an engine before 4.2 does not follow links. */
export function permissionsShown(lacks: readonly string[] | 'unshown' = []): Shown[] {
  if (lacks === 'unshown') return [{ id: 'permission-1', role: { id: 'role-1' } }];
  const permission = (id: string, names: readonly string[]): Shown => {
    const permits = names.filter((name) => !lacks.includes(name)).map((name) => ({ id: name, name, administrative: 'false' }));
    return { id: `permission-${id}`, role: { id, permits: { permit: permits } } };
  };
  return [permission('role-1', ['login', 'stop_vm']), permission('role-2', ['login', 'run_vm'])];
}
