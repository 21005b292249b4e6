import { find, need, present, schemaOf, type Backend, type WriteContext } from './backend.ts';
import { ApiFailure, badRequest, invalid, notFound, unsupportedMediaType } from './failure.ts';
import { isObject, type ApiObject, type Json } from './json.ts';
import type { Kind } from './kinds.ts';
import { asObject } from './metadata.ts';
import { applyConfiguration } from './patches/apply-patch.ts';
import { applyJsonPatch } from './patches/json-patch.ts';
import { applyMergePatch } from './patches/merge-patch.ts';
import { applyStrategicPatch } from './patches/strategic-patch.ts';
import { checkFields, create, update, type UpdateScope } from './writes.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

export interface Target {
  kind: Kind;
  namespace: string;
  name: string;
  scope: UpdateScope;
}

/** PATCH by any of the four content types. Only a server-side apply creates what is not there. */
export function patch(
  backend: Backend,
  target: Target,
  contentType: string,
  body: Json | undefined,
  force: boolean,
  context: WriteContext,
): { object: ApiObject; created: boolean } {
  const { kind, namespace, name, scope } = target;
  if (contentType === APPLY_PATCH) return apply(backend, target, body, force, context);
  checkContentType(contentType, kind);
  const before = need(backend, kind, namespace, name);
  const given = asObject(patched(present(before, kind), kind, contentType, body), kind);
  if (given.metadata.name !== name) {
    throw badRequest(`the name of the object (${given.metadata.name}) does not match the name on the URL (${name})`);
  }
  if (given.metadata.namespace !== before.metadata.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  checkSameUid(kind, before, given);
  checkFields(given, kind, context);
  return { object: update(backend, kind, before, given, scope, context), created: false };
}

/** A patch is not bound by a uid, it may only not change it. */
function checkSameUid(kind: Kind, before: ApiObject, given: ApiObject): void {
  const { uid } = given.metadata;
  if (uid === undefined || uid === before.metadata.uid) return;
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  throw invalid(kind, before.metadata.name, [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message }]);
}

function checkContentType(contentType: string, kind: Kind): void {
  const accepted = [JSON_PATCH, MERGE_PATCH, ...(kind.custom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH];
  if (accepted.includes(contentType)) return;
  throw unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`);
}

function patched(before: ApiObject, kind: Kind, contentType: string, body: Json | undefined): Json {
  if (contentType === JSON_PATCH) return applyJsonPatch(before, body);
  if (!isObject(body)) throw badRequest(`error decoding patch: the body must be a JSON object`);
  return contentType === MERGE_PATCH ? applyMergePatch(before, body) : applyStrategicPatch(before, body, schemaOf(kind));
}

function apply(
  backend: Backend,
  target: Target,
  body: Json | undefined,
  force: boolean,
  context: WriteContext,
): { object: ApiObject; created: boolean } {
  const { kind, namespace, name, scope } = target;
  if (context.manager === '') {
    throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'PatchOptions' }, '', [
      { field: 'fieldManager', reason: 'FieldValueRequired', message: 'Required value: is required for apply patch' },
    ]);
  }
  if (!isObject(body)) throw badRequest('error decoding YAML: the body must be an object');
  const configuration = asObject(body, kind);
  if (configuration.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (configuration.metadata.name === '') configuration.metadata.name = name;
  if (configuration.metadata.name !== name)
    throw badRequest(`the name of the object (${configuration.metadata.name}) does not match the name on the URL (${name})`);
  checkFields(configuration, kind, context);
  const before = find(backend, kind, namespace, name);
  if (before === undefined) {
    if (scope !== '') throw notFound(kind, name);
    if (configuration.metadata.uid !== undefined)
      throw new ApiFailure(
        409,
        'Conflict',
        `uid mismatch: the provided object specified uid ${configuration.metadata.uid}, and no existing object was found`,
      );
    return { object: createApplied(backend, target, configuration, context), created: true };
  }
  checkSameUid(kind, before, configuration);
  const merged = applyConfiguration(before, configuration, kind, backend, context, scope, force);
  return { object: update(backend, kind, before, merged, scope, { ...context, fieldValidation: 'Ignore', applied: true }), created: false };
}

function createApplied(backend: Backend, target: Target, configuration: ApiObject, context: WriteContext): ApiObject {
  const merged = applyConfiguration(undefined, configuration, target.kind, backend, context, target.scope, false);
  return create(backend, target.kind, target.namespace, merged, { ...context, fieldValidation: 'Ignore', applied: true });
}
