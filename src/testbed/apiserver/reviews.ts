import { EVERY_PATH, EVERYTHING, isAllowed, rulesFor, type Attempt } from './access.ts';
import type { Backend } from './backend.ts';
import { badRequest } from './failure.ts';
import { at, isObject, isString, listAt, textAt, type Json, type JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import type { User } from './request.ts';

export interface ReviewContext {
  backend: Backend;
  user: User;
  userByToken: (token: string) => User | undefined;
  /** Are all requests allowed, whatever RBAC says? */
  allowsAll: boolean;
}

/** Answers a review. Nothing is stored. */
export function review(kind: Kind, namespace: string, body: Json | undefined, context: ReviewContext): JsonObject {
  const given = isObject(body) ? body : {};
  const metadata = isObject(given['metadata']) ? given['metadata'] : {};
  const spec = isObject(given['spec']) ? given['spec'] : {};
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: kind.kind === 'SelfSubjectRulesReview' ? {} : { ...metadata, creationTimestamp: null },
    ...(kind.kind === 'SelfSubjectReview' ? {} : { spec: kind.kind === 'SelfSubjectRulesReview' ? {} : spec }),
    status: statusOf(kind, namespace, spec, context),
  };
}

function statusOf(kind: Kind, namespace: string, spec: JsonObject, context: ReviewContext): JsonObject {
  switch (kind.kind) {
    case 'TokenReview': {
      const user = context.userByToken(textAt(spec, 'token'));
      return user === undefined ? { user: {}, error: 'invalid bearer token' } : { authenticated: true, user: userInfo(user) };
    }
    case 'SelfSubjectReview':
      return { userInfo: userInfo(context.user) };
    case 'SelfSubjectRulesReview':
      return rules(context, textAt(spec, 'namespace'));
    case 'SelfSubjectAccessReview':
      return decision(context, context.user, spec, namespace);
    default:
      return decision(context, { name: textAt(spec, 'user'), groups: listAt(spec, 'groups').filter(isString) }, spec, namespace);
  }
}

function userInfo(user: User): JsonObject {
  return { username: user.name, groups: [...user.groups] };
}

/** Every rule by itself, as RBAC answers: nothing is merged. */
function rules({ backend, user, allowsAll }: ReviewContext, namespace: string): JsonObject {
  if (namespace === '') throw badRequest('no namespace on request');
  const found = allowsAll ? [EVERYTHING, EVERY_PATH] : rulesFor(backend, user, namespace);
  const resourceRules = found
    .filter((rule) => listAt(rule, 'resources').length > 0)
    .map(({ verbs = [], apiGroups = [], resources = [], resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    }));
  const nonResourceRules = found
    .filter((rule) => listAt(rule, 'nonResourceURLs').length > 0)
    .map(({ verbs = [], nonResourceURLs = [] }) => ({ verbs, nonResourceURLs }));
  return { resourceRules, nonResourceRules, incomplete: false };
}

function decision(context: ReviewContext, user: User, spec: JsonObject, namespace: string): JsonObject {
  const resource = at(spec, 'resourceAttributes');
  const path = at(spec, 'nonResourceAttributes');
  const attempt: Attempt = {
    verb: textAt(resource ?? path, 'verb'),
    group: textAt(resource, 'group'),
    resource: textAt(resource, 'resource'),
    subresource: textAt(resource, 'subresource'),
    namespace: textAt(resource, 'namespace') || namespace,
    name: textAt(resource, 'name'),
    path: resource === undefined ? textAt(path, 'path') : '',
  };
  const isGranted = context.allowsAll || isAllowed(context.backend, user, attempt);
  return isGranted ? { allowed: true } : { allowed: false };
}
