import type { Backend } from './backend.ts';
import { isString, listAt, objectsAt, textAt, type ApiObject, type JsonObject } from './json.ts';
import type { User } from './request.ts';
import type { Store } from './store.ts';

/** What somebody wants to do. `path` is set for requests that are not about objects. */
export interface Attempt {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
}

const MASTERS = 'system:masters';
const ROLES = 'roles.rbac.authorization.k8s.io';
const ROLE_BINDINGS = 'rolebindings.rbac.authorization.k8s.io';
const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io';
const CLUSTER_ROLE_BINDINGS = 'clusterrolebindings.rbac.authorization.k8s.io';
const RBAC = [ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS];
/** Paths that every authenticated user may read (ClusterRoles system:discovery and system:public-info-viewer). */
const PUBLIC_PATHS = ['/api', '/apis', '/openapi', '/version', '/healthz', '/readyz', '/livez'];

const SELF_REVIEWS = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'];
export const EVERYTHING: JsonObject = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
export const EVERY_PATH: JsonObject = { verbs: ['*'], nonResourceURLs: ['*'] };
/** Of the ClusterRoles system:basic-user and system:discovery, which are not in the store. */
const OWN_REVIEWS: readonly JsonObject[] = [
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: SELF_REVIEWS.slice(0, 2) },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: SELF_REVIEWS.slice(2) },
];
const PUBLIC: JsonObject = { verbs: ['get'], nonResourceURLs: PUBLIC_PATHS.flatMap((path) => [path, `${path}/*`]) };

/** RBAC: is there a binding of this user to a role with a rule that covers the attempt? Aggregated roles are taken by their own rules only. */
export function isAllowed(backend: Backend, user: User, attempt: Attempt): boolean {
  if (user.groups.includes(MASTERS)) return true;
  if (attempt.path !== '') {
    if (attempt.verb === 'get' && PUBLIC_PATHS.some((path) => attempt.path === path || attempt.path.startsWith(`${path}/`))) return true;
    return rulesIn(backend, user, '').some((rule) => coversPath(rule, attempt));
  }
  if (isSelfReview(attempt)) return true;
  if (rulesIn(backend, user, '').some((rule) => covers(rule, attempt))) return true;
  return attempt.namespace !== '' && rulesIn(backend, user, attempt.namespace).some((rule) => covers(rule, attempt));
}

/** What the server tells of a user's rules in one namespace: those that hold everywhere, and those of that namespace. */
export function rulesFor(backend: Backend, user: User, namespace: string): JsonObject[] {
  const ofMasters = user.groups.includes(MASTERS) ? [EVERYTHING, EVERY_PATH] : [];
  return [...OWN_REVIEWS, PUBLIC, ...ofMasters, ...rulesIn(backend, user, ''), ...rulesIn(backend, user, namespace)];
}

/** The words of a refusal. */
export function refusalOf(user: User, attempt: Attempt): string {
  const scope = attempt.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(attempt.namespace)}`;
  const resource = attempt.subresource === '' ? attempt.resource : `${attempt.resource}/${attempt.subresource}`;
  if (attempt.path !== '') return `User ${JSON.stringify(user.name)} cannot ${attempt.verb} path ${JSON.stringify(attempt.path)}`;
  return `User ${JSON.stringify(user.name)} cannot ${attempt.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(attempt.group)} ${scope}`;
}

function isSelfReview(attempt: Attempt): boolean {
  return attempt.verb === 'create' && SELF_REVIEWS.includes(attempt.resource);
}

/** Of one user in one server, by namespace ('' for all), until a role or a binding changes. */
interface FoundRules {
  store: Store;
  version: number;
  rules: Map<string, readonly JsonObject[]>;
}

const NAMESPACES_MAX = 100;
const found = new WeakMap<User, FoundRules>();

function rulesIn(backend: Backend, user: User, namespace: string): readonly JsonObject[] {
  const { store } = backend;
  const version = RBAC.reduce((sum, name) => sum + store.collection(name).version, 0);
  let known = found.get(user);
  if (known?.store !== store || known.version !== version || known.rules.size >= NAMESPACES_MAX)
    found.set(user, (known = { store, version, rules: new Map<string, readonly JsonObject[]>() }));
  let rules = known.rules.get(namespace);
  if (rules === undefined) {
    const bindings = store.collection(namespace === '' ? CLUSTER_ROLE_BINDINGS : ROLE_BINDINGS).inNamespace(namespace);
    known.rules.set(namespace, (rules = rulesOf(backend, bindings, user, namespace)));
  }
  return rules;
}

function rulesOf(backend: Backend, bindings: readonly ApiObject[], user: User, namespace: string): JsonObject[] {
  return bindings
    .filter((binding) => objectsAt(binding, 'subjects').some((subject) => names(subject, user, namespace)))
    .flatMap((binding) => {
      const role = textAt(binding, 'roleRef', 'name');
      const isCluster = textAt(binding, 'roleRef', 'kind') === 'ClusterRole';
      const found = isCluster ? backend.store.collection(CLUSTER_ROLES).get(role) : backend.store.collection(ROLES).get(`${namespace}/${role}`);
      return objectsAt(found, 'rules');
    });
}

function names(subject: JsonObject, user: User, namespace: string): boolean {
  const name = textAt(subject, 'name');
  switch (subject['kind']) {
    case 'User':
      return name === user.name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${textAt(subject, 'namespace') || namespace}:${name}`;
    default:
      return false;
  }
}

/** Asked of each rule of a user by each request: what most rules fail at comes first, and nothing is built for it. */
function covers(rule: JsonObject, attempt: Attempt): boolean {
  const { verb, group, resource, subresource, name } = attempt;
  if (!has(rule, 'verbs', verb) || !has(rule, 'apiGroups', group)) return false;
  const isNamed = subresource === '' ? has(rule, 'resources', resource) : coversSubresource(rule, resource, subresource);
  if (!isNamed) return false;
  const onlyNames = listAt(rule, 'resourceNames').filter(isString);
  return onlyNames.length === 0 || onlyNames.includes(name);
}

function coversSubresource(rule: JsonObject, resource: string, subresource: string): boolean {
  return has(rule, 'resources', `${resource}/${subresource}`) || listAt(rule, 'resources').includes(`*/${subresource}`);
}

function has(rule: JsonObject, member: string, value: string): boolean {
  const values = listAt(rule, member);
  return values.includes(value) || values.includes('*');
}

function coversPath(rule: JsonObject, attempt: Attempt): boolean {
  const verbs = listAt(rule, 'verbs').filter(isString);
  const paths = listAt(rule, 'nonResourceURLs').filter(isString);
  const matches = paths.some((path) => path === '*' || path === attempt.path || (path.endsWith('*') && attempt.path.startsWith(path.slice(0, -1))));
  return (verbs.includes('*') || verbs.includes(attempt.verb)) && matches;
}
