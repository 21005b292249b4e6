import { collectionOf, find, keyFor, needNamespace, schemaOf, storedForm, type Backend, type WriteContext } from './backend.ts';
import { checkBuiltIn, encodeSecret, prepareBuiltIn } from './built-ins.ts';
import { seconds } from './clock-text.ts';
import { checkDefinition } from './definitions.ts';
import { alreadyExists, ApiFailure, badRequest, conflict, invalid, MODIFIED, notFound, qualified } from './failure.ts';
import { contentOf, equal, isObject, metadataWithout, reuse, without, type ApiObject, type Json, type JsonObject, type Metadata } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { asObject, checkMetadata, desiredState } from './metadata.ts';
import { trackUpdate } from './patches/field-managers.ts';
import { applyDefaults, dropNulls, prune, unknownFields } from './schema/structure.ts';
import { wholeSeconds } from './schema/times.ts';
import { validate } from './schema/validate.ts';

export const OBJECT_BYTES_MAX = 1_572_864;
const NAME_SUFFIX = 'bcdfghjklmnpqrstvwxz2456789';
/** Kinds whose PUT may leave out `metadata.resourceVersion`. */
const CONDITIONAL = [
  'leases.coordination.k8s.io',
  'volumeattachments.storage.k8s.io',
  'poddisruptionbudgets.policy',
  'customresourcedefinitions.apiextensions.k8s.io',
  'storageclasses.storage.k8s.io',
];
const CREATED_BY_PUT = ['leases.coordination.k8s.io', 'events', 'events.events.k8s.io'];

/** POST: creates an object and returns it as stored. */
export function create(backend: Backend, kind: Kind, namespace: string, body: Json | undefined, context: WriteContext): ApiObject {
  const given = asObject(body, kind);
  checkFields(given, kind, context);
  if (given.metadata.namespace !== undefined && given.metadata.namespace !== '' && given.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (given.metadata.resourceVersion !== undefined && given.metadata.resourceVersion !== '')
    throw badRequest('resourceVersion should not be set on objects to be created');
  const name =
    given.metadata.name === '' && given.metadata.generateName !== undefined
      ? generatedName(backend, given.metadata.generateName)
      : given.metadata.name;
  if (kind.namespaced) needNamespace(backend, kind, namespace, name);
  const metadata = freshMetadata(given.metadata, name, kind, namespace, backend, context);
  const object = admitted(shaped({ ...given, metadata }, kind, backend, true), undefined, kind);
  if (find(backend, kind, namespace, name) !== undefined) throw alreadyExists(kind, name);
  return commit(backend, kind, trackUpdate(object, undefined, kind, backend, context, ''), context);
}

function freshMetadata(given: Metadata, name: string, kind: Kind, namespace: string, backend: Backend, context: WriteContext): Metadata {
  const { managedFields } = given;
  const rest = metadataWithout(
    given,
    'resourceVersion',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'selfLink',
    'managedFields',
  );
  return {
    ...rest,
    name,
    ...(kind.namespaced ? { namespace } : {}),
    uid: backend.random.uuid(),
    creationTimestamp: seconds(backend.clock.wallMs()),
    ...(kind.generation ? { generation: 1 } : {}),
    ...(context.applied === true && managedFields !== undefined ? { managedFields } : {}),
  };
}

function generatedName(backend: Backend, prefix: string): string {
  let suffix = '';
  for (let count = 0; count < 5; count++) suffix += NAME_SUFFIX[Math.floor(backend.random.next() * NAME_SUFFIX.length)] ?? 'b';
  return prefix.slice(0, 58) + suffix;
}

/** Refuses or reports members that the kind does not have, as `fieldValidation` asks. */
export function checkFields(object: ApiObject, kind: Kind, context: WriteContext): void {
  if (context.fieldValidation === 'Ignore') return;
  const unknown = unknownFields(contentOf(object), schemaOf(kind));
  if (unknown.length === 0) return;
  const words = unknown.map((field) => `unknown field "${field}"`);
  if (context.fieldValidation === 'Warn') context.warnings.push(...words);
  else throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${words.join(', ')}`);
}

/** Pruned, defaulted and checked by schema; new objects of built-in kinds get what admission adds. */
export function shaped(object: ApiObject, kind: Kind, backend: Backend, isNew: boolean): ApiObject {
  if (!kind.custom) {
    const filled = isNew ? prepareBuiltIn(object, kind, backend) : object;
    const stored = storedForm(kind.kind === 'Secret' ? encodeSecret(filled) : filled, kind);
    const { apiVersion, kind: kindName, metadata, ...content } = stored;
    return { apiVersion, kind: kindName, metadata, ...(wholeSeconds(content, schemaOf(kind)) as JsonObject) };
  }
  const { apiVersion, kind: kindName, metadata, ...content } = object;
  if (isNew && kind.subresources.includes('status')) Reflect.deleteProperty(content, 'status');
  const result = applyDefaults(dropNulls(prune(content, kind.schema), kind.schema), kind.schema);
  return { apiVersion, kind: kindName, metadata, ...(isObject(result) ? result : {}) };
}

/** Everything that must hold before an object is written. */
function admitted(object: ApiObject, before: ApiObject | undefined, kind: Kind): ApiObject {
  checkMetadata(object.metadata, kind);
  const content = contentOf(object);
  const schema = schemaOf(kind);
  if (schema !== undefined) {
    const causes = validate(content, schema, '');
    const mistyped = causes.find((cause) => cause.reason === 'FieldValueTypeInvalid');
    if (!kind.custom && mistyped !== undefined) {
      throw badRequest(
        `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: json: cannot unmarshal: ${mistyped.field}: ${mistyped.message}`,
      );
    }
    if (causes.length > 0) throw invalid(kind, object.metadata.name, causes);
  }
  if (kind.plural === 'customresourcedefinitions') checkDefinition(object, before);
  else if (!kind.custom) checkBuiltIn(object, before, kind);
  return object;
}

function commit(backend: Backend, kind: Kind, object: ApiObject, context: WriteContext): ApiObject {
  const size = sizeOver(object);
  if (size > OBJECT_BYTES_MAX) throw new ApiFailure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${String(OBJECT_BYTES_MAX)}`);
  return context.dryRun ? object : backend.store.put(kind.storage, object);
}

/** A cheap bound first: only objects with much text are written out to be measured. */
function sizeOver(value: Json): number {
  const bound = boundOf(value);
  return bound <= OBJECT_BYTES_MAX ? bound : Buffer.byteLength(JSON.stringify(value));
}

function boundOf(value: Json | undefined): number {
  if (typeof value === 'string') return 6 * value.length + 2;
  if (typeof value !== 'object' || value === null) return 24;
  let total = 2;
  if (Array.isArray(value)) for (const item of value) total += 4 + boundOf(item);
  else for (const name in value) total += name.length + 4 + boundOf(value[name]);
  return total;
}

/** What a PUT or a patch may change: the object without its status, or one subresource of it. */
export type UpdateScope = '' | 'status';

/** PUT of the object or of its status. */
export function replace(
  backend: Backend,
  kind: Kind,
  namespace: string,
  name: string,
  scope: UpdateScope,
  body: Json | undefined,
  context: WriteContext,
): ApiObject {
  const before = find(backend, kind, namespace, name);
  const given = withPartsOf(asObject(body, kind), before);
  checkFields(given, kind, context);
  if (given.metadata.name !== name)
    throw badRequest(
      given.metadata.name === ''
        ? 'name must be provided'
        : `the name of the object (${given.metadata.name}) does not match the name on the URL (${name})`,
    );
  if (kind.namespaced && given.metadata.namespace !== undefined && given.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (before === undefined) {
    if (scope === '' && CREATED_BY_PUT.includes(qualified(kind)) && (given.metadata.resourceVersion ?? '') === '')
      return create(backend, kind, namespace, body, context);
    throw notFound(kind, name);
  }
  const version = given.metadata.resourceVersion ?? '';
  if (version === '' && (kind.custom || CONDITIONAL.includes(qualified(kind)))) {
    throw invalid({ ...kind, kind: kind.plural }, name, [
      { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message: 'Invalid value: 0: must be specified for an update' },
    ]);
  }
  return update(backend, kind, before, given, scope, context);
}

/** Most of what comes with a PUT stands there already. */
function withPartsOf(given: ApiObject, before: ApiObject | undefined): ApiObject {
  if (before === undefined) return given;
  const { apiVersion, kind, metadata } = given;
  const content = reuse(contentOf(given), contentOf(before));
  return { ...(isObject(content) ? content : {}), apiVersion, kind, metadata };
}

/** Writes a new state of an existing object, under the preconditions that its metadata names. */
export function update(backend: Backend, kind: Kind, before: ApiObject, given: ApiObject, scope: UpdateScope, context: WriteContext): ApiObject {
  const { name } = before.metadata;
  checkPreconditions(kind, before, given.metadata.uid, given.metadata.resourceVersion);
  const merged = scoped(before, shaped(given, kind, backend, false), kind, scope);
  refuseNewFinalizers(kind, before, merged);
  if (kind.generation && !equal(desiredState(merged, kind), desiredState(before, kind)))
    merged.metadata.generation = (before.metadata.generation ?? 0) + 1;
  const object = admitted(merged, before, kind);
  const tracked = trackUpdate(object, before, kind, backend, context, scope);
  if (sameButManagers(tracked, before)) return before;
  const finished =
    before.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).length === 0 &&
    (before.metadata.finalizers ?? []).length > 0;
  if (finished && (before.metadata.deletionGracePeriodSeconds ?? 0) === 0) {
    return context.dryRun ? tracked : backend.store.remove(kind.storage, tracked);
  }
  if (collectionOf(backend, kind).get(keyFor(kind, before.metadata.namespace ?? '', name)) !== before) throw conflict(kind, name, MODIFIED);
  return commit(backend, kind, tracked, context);
}

/** 409 when an object is not the one, or not in the state, that the writer read. */
export function checkPreconditions(kind: Kind, before: ApiObject, uid: string | undefined, resourceVersion: string | undefined): void {
  const { name } = before.metadata;
  if (uid !== undefined && uid !== '' && uid !== before.metadata.uid) {
    throw conflict(kind, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid ?? ''}`);
  }
  if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== before.metadata.resourceVersion)
    throw conflict(kind, name, MODIFIED);
}

/** Combines what the scope may change with what it must leave. */
function scoped(before: ApiObject, given: ApiObject, kind: Kind, scope: UpdateScope): ApiObject {
  const kept = {
    uid: before.metadata.uid,
    creationTimestamp: before.metadata.creationTimestamp,
    generation: before.metadata.generation,
    namespace: before.metadata.namespace,
  };
  const deletion = { deletionTimestamp: before.metadata.deletionTimestamp, deletionGracePeriodSeconds: before.metadata.deletionGracePeriodSeconds };
  const metadata = (chosen: Record<string, Json | undefined> & { name: string }): Metadata =>
    defined({ ...chosen, ...kept, ...deletion, resourceVersion: before.metadata.resourceVersion, selfLink: undefined });
  if (scope === 'status') {
    const chosen = kind.custom ? before.metadata : { ...given.metadata, ownerReferences: before.metadata.ownerReferences };
    const managers = given.metadata.managedFields;
    return {
      ...before,
      apiVersion: apiVersionOf(kind),
      metadata: metadata(managers === undefined ? chosen : { ...chosen, managedFields: managers }),
      status: given['status'],
    };
  }
  const result: ApiObject = {
    ...given,
    apiVersion: before.kind === 'Event' ? before.apiVersion : given.apiVersion,
    metadata: metadata(given.metadata),
  };
  if (!kind.subresources.includes('status')) return result;
  if (before['status'] === undefined) Reflect.deleteProperty(result, 'status');
  else result['status'] = before['status'];
  return result;
}

function defined(metadata: Record<string, Json | undefined> & { name: string }): Metadata {
  const result: Metadata = { name: metadata.name };
  for (const name in metadata) if (metadata[name] !== undefined) result[name] = metadata[name];
  return result;
}

function refuseNewFinalizers(kind: Kind, before: ApiObject, after: ApiObject): void {
  if (before.metadata.deletionTimestamp === undefined) return;
  const added = (after.metadata.finalizers ?? []).filter((one) => !(before.metadata.finalizers ?? []).includes(one));
  if (added.length === 0) return;
  const list = added.map((one) => JSON.stringify(one)).join(', ');
  throw invalid(kind, before.metadata.name, [
    {
      field: 'metadata.finalizers',
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    },
  ]);
}

function sameButManagers(after: ApiObject, before: ApiObject): boolean {
  if (equal(after, before)) return true;
  const { managedFields: one, ...afterMetadata } = after.metadata;
  const { managedFields: other, ...beforeMetadata } = before.metadata;
  if (!equal({ ...after, metadata: afterMetadata }, { ...before, metadata: beforeMetadata })) return false;
  const timeless = (fields: typeof one): Json => (fields ?? []).map((entry) => without(entry, 'time'));
  return equal(timeless(one), timeless(other));
}
