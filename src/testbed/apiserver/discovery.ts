import type { Json, JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';
import type { Registry } from './registry.ts';

export const SERVER_VERSION: JsonObject = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3-nodefence',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'node',
  platform: 'linux/amd64',
};

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Answers `/api`, `/apis` and the group and version documents; `undefined` for every other path. */
export function discover(registry: Registry, path: string): Json | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (parts[0] === 'api' && parts.length === 2) return resourcesOf(registry, '', parts[1] ?? '');
  if (parts[0] !== 'apis') return undefined;
  switch (parts.length) {
    case 1:
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupNames(registry).map((group) => groupOf(registry, group)) };
    case 2:
      return groupNames(registry).includes(parts[1] ?? '') ? { ...groupOf(registry, parts[1] ?? ''), kind: 'APIGroup', apiVersion: 'v1' } : undefined;
    case 3:
      return resourcesOf(registry, parts[1] ?? '', parts[2] ?? '');
    default:
      return undefined;
  }
}

/** Every served `group/version`, `v1` first. */
export function groupVersions(registry: Registry): { group: string; version: string }[] {
  const seen = new Map<string, { group: string; version: string }>();
  for (const { group, version } of registry.all()) seen.set(`${group}/${version}`, { group, version });
  return [...seen.values()];
}

function groupNames(registry: Registry): string[] {
  return [...new Set(registry.all().map((kind) => kind.group))].filter((group) => group !== '');
}

function groupOf(registry: Registry, group: string): JsonObject {
  const served = new Set<string>();
  for (const kind of registry.all()) if (kind.group === group) served.add(kind.version);
  const versions = [...served].map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions, preferredVersion: versions[0] ?? null };
}

function resourcesOf(registry: Registry, group: string, version: string): Json | undefined {
  const kinds = registry.all().filter((kind) => kind.group === group && kind.version === version);
  if (kinds.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: kinds.flatMap(entriesOf),
  };
}

function entriesOf(kind: Kind): JsonObject[] {
  const main: JsonObject = {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: kind.virtual ? ['create'] : VERBS,
    ...(kind.shortNames.length === 0 ? {} : { shortNames: [...kind.shortNames] }),
    ...(kind.categories.length === 0 ? {} : { categories: [...kind.categories] }),
  };
  return [main, ...kind.subresources.map((subresource) => subresourceEntry(kind, subresource))];
}

function subresourceEntry(kind: Kind, subresource: string): JsonObject {
  const entry: JsonObject = { name: `${kind.plural}/${subresource}`, singularName: '', namespaced: kind.namespaced };
  switch (subresource) {
    case 'eviction':
      return { ...entry, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] };
    case 'binding':
      return { ...entry, kind: 'Binding', verbs: ['create'] };
    case 'token':
      return { ...entry, group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] };
    case 'log':
      return { ...entry, kind: kind.kind, verbs: ['get'] };
    case 'scale':
      return { ...entry, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] };
    default:
      return { ...entry, kind: kind.kind, verbs: ['get', 'patch', 'update'] };
  }
}
