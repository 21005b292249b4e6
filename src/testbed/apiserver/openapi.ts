import { groupVersions } from './discovery.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import type { Registry } from './registry.ts';
import { definedTypes, typeFields } from './schema/built-in.ts';

const TYPE_PREFIX = 'io.k8s.api.';
const QUERY_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty'];

/** Answers `/openapi/v3` and its documents, one a group and version; `undefined` for every other path. */
export function openApi(registry: Registry, path: string): Json | undefined {
  if (path === '/openapi/v3')
    return { paths: Object.fromEntries(groupVersions(registry).map((one) => [rootOf(one), { serverRelativeURL: `/openapi/v3/${rootOf(one)}` }])) };
  const found = groupVersions(registry).find((one) => path === `/openapi/v3/${rootOf(one)}`);
  if (found === undefined) return undefined;
  return documentOf(registry.all().filter((kind) => kind.group === found.group && kind.version === found.version));
}

function rootOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function documentOf(kinds: readonly Kind[]): JsonObject {
  const paths: JsonObject = {};
  for (const kind of kinds) Object.assign(paths, pathsOf(kind));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.3' },
    paths,
    components: { schemas: { ...sharedTypes(), ...Object.fromEntries(kinds.map((kind) => [schemaName(kind), schemaOfKind(kind)])) } },
  };
}

function pathsOf(kind: Kind): JsonObject {
  const root = `/${rootOf(kind)}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  const operation = (action: string): JsonObject => ({
    operationId: `${action}${kind.kind}`,
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': identity(kind),
    responses: { '200': { description: 'OK', content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(kind)}` } } } } },
  });
  const changing = (action: string): JsonObject => ({
    ...operation(action),
    parameters: QUERY_PARAMETERS.map((name) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } })),
    requestBody: { required: true, content: { 'application/json': {}, 'application/merge-patch+json': {}, 'application/apply-patch+yaml': {} } },
  });
  if (kind.virtual) return { [root]: { post: changing('post') } };
  return {
    [root]: { get: operation('list'), post: changing('post') },
    [`${root}/{name}`]: { get: operation('get'), put: changing('put'), patch: changing('patch'), delete: operation('delete') },
  };
}

function identity({ group, version, kind }: Kind): JsonObject {
  return { group, version, kind };
}

function schemaName(kind: Kind): string {
  return kind.custom
    ? `${kind.group.split('.').reverse().join('.')}.${kind.version}.${kind.kind}`
    : `${TYPE_PREFIX}${kind.group === '' ? 'core' : (kind.group.split('.')[0] ?? '')}.${kind.version}.${kind.kind}`;
}

const OBJECT_MEMBERS: JsonObject = {
  apiVersion: { type: 'string', description: 'APIVersion defines the versioned schema of this representation of an object.' },
  kind: { type: 'string', description: 'Kind is a string value representing the REST resource this object represents.' },
  metadata: { allOf: [{ $ref: `#/components/schemas/${TYPE_PREFIX}ObjectMeta` }], description: "Standard object's metadata.", default: {} },
};

function schemaOfKind(kind: Kind): JsonObject {
  const own = kind.custom ? (kind.schema ?? {}) : typeFields(kind.kind, reference);
  const properties = own['properties'];
  return {
    ...own,
    type: 'object',
    properties: { ...(isObject(properties) ? properties : {}), ...OBJECT_MEMBERS },
    'x-kubernetes-group-version-kind': [identity(kind)],
    ...(own['description'] === undefined ? { description: `${kind.kind} of ${apiVersionOf(kind)}.` } : {}),
  };
}

function sharedTypes(): JsonObject {
  return Object.fromEntries(definedTypes().map((name) => [TYPE_PREFIX + name, typeFields(name, reference)]));
}

function reference(name: string): JsonObject {
  return { allOf: [{ $ref: `#/components/schemas/${TYPE_PREFIX}${name}` }], default: {} };
}
