import { find, need, present, type Backend, type WriteContext } from './backend.ts';
import { withDefaultNames } from './definitions.ts';
import { parseDeleteOptions, remove } from './deletes.ts';
import { badRequest, invalid, methodNotAllowed, success, unknownPath, unsupportedMediaType } from './failure.ts';
import { without, type ApiObject, type Json, type JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { checkFuture, list, parseVersion, selectorOf } from './lists.ts';
import { patch } from './patch.ts';
import { bind, evict, logText } from './pods.ts';
import type { ResourcePath, ServerRequest } from './request.ts';
import { scale } from './scale.ts';
import { create, replace } from './writes.ts';

/** What a request for objects came to. `audited` is the object for the audit: as stored, or for a deletion as it was. */
export interface Result {
  status: number;
  body: JsonObject;
  /** Answered instead of the body. */
  text?: string;
  /** Objects of the answer, for a Table. */
  objects?: readonly ApiObject[];
  audited?: JsonObject;
  warnings: readonly string[];
}

/** The verb of a request, as RBAC and the audit name it. */
export function verbOf(
  request: ServerRequest,
  path: ResourcePath,
): 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' {
  switch (request.method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return path.name === '' ? 'deletecollection' : 'delete';
    default:
      if (path.name !== '') return 'get';
      return isWatch(request) ? 'watch' : 'list';
  }
}

export function isWatch(request: ServerRequest): boolean {
  return ['true', '1'].includes(request.query['watch'] ?? '');
}

/** Does what a request for objects asks, except watches and reviews. */
export function serveObjects(backend: Backend, kind: Kind, path: ResourcePath, request: ServerRequest): Result {
  const context = contextOf(request);
  const { namespace, name, subresource } = path;
  if (subresource !== '' && !kind.subresources.includes(subresource)) throw unknownPath(!kind.custom);
  if (kind.namespaced && namespace === '' && (name !== '' || !['GET'].includes(request.method))) {
    if (request.method === 'POST' || name !== '') throw badRequest('an empty namespace may not be set during creation');
  }
  const done = (status: number, object: ApiObject, answer: JsonObject = present(object, kind)): Result => ({
    status,
    body: answer,
    audited: object,
    warnings: context.warnings,
  });
  switch (verbOf(request, path)) {
    case 'get':
      return get(backend, kind, path, request, context);
    case 'list':
      return listed(backend, kind, namespace, request);
    case 'create':
      return created(backend, kind, path, request, context, done);
    case 'update': {
      checkBodyType(request);
      if (subresource === 'scale')
        return { status: 200, body: scale(backend, kind, namespace, name, 'PUT', request.body, context), warnings: context.warnings };
      const isNew = find(backend, kind, namespace, name) === undefined;
      const object = replace(backend, kind, namespace, name, subresource === 'status' ? 'status' : '', namesOf(kind, request.body), context);
      return done(isNew ? 201 : 200, object);
    }
    case 'patch': {
      if (subresource === 'scale')
        return { status: 200, body: scale(backend, kind, namespace, name, 'PATCH', request.body, context), warnings: context.warnings };
      const target = { kind, namespace, name, scope: subresource === 'status' ? ('status' as const) : ('' as const) };
      const contentType = mediaType(request.contentType);
      const applied = contentType === 'application/apply-patch+yaml';
      const manager = applied ? (request.query['fieldManager'] ?? '') : context.manager;
      const { object, created: isNew } = patch(backend, target, contentType, request.body, request.query['force'] === 'true', {
        ...context,
        manager,
      });
      return done(isNew ? 201 : 200, object);
    }
    case 'delete': {
      const before = need(backend, kind, namespace, name);
      const deletion = remove(backend, kind, before, parseDeleteOptions(request.body, request.query));
      return { ...done(200, deletion.object), body: deletion.gone ? deletion.answer : present(deletion.object, kind) };
    }
    case 'deletecollection':
      return deleteAll(backend, kind, namespace, request);
    case 'watch':
      throw methodNotAllowed();
  }
}

function get(backend: Backend, kind: Kind, { namespace, name, subresource }: ResourcePath, request: ServerRequest, context: WriteContext): Result {
  if (kind.virtual) throw methodNotAllowed();
  checkFuture(backend, parseVersion(request.query['resourceVersion'] ?? ''));
  if (subresource === 'scale') return { status: 200, body: scale(backend, kind, namespace, name, 'GET', undefined, context), warnings: [] };
  if (subresource === 'log')
    return { status: 200, body: {}, text: logText(backend, need(backend, kind, namespace, name), request.query), warnings: [] };
  if (subresource !== '' && subresource !== 'status') throw methodNotAllowed();
  const object = present(need(backend, kind, namespace, name), kind);
  return { status: 200, body: object, objects: [object], warnings: [] };
}

function listed(backend: Backend, kind: Kind, namespace: string, request: ServerRequest): Result {
  if (kind.virtual) throw methodNotAllowed();
  const { items, metadata } = list(backend, kind, namespace, request.query);
  const body = { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata, items: kind.custom ? [...items] : items.map(untyped) };
  return { status: 200, body, objects: items, warnings: [] };
}

/** Items of built-in lists do not repeat their type. */
function untyped(object: ApiObject): JsonObject {
  return without(object, 'apiVersion', 'kind');
}

function created(
  backend: Backend,
  kind: Kind,
  { namespace, name, subresource }: ResourcePath,
  request: ServerRequest,
  context: WriteContext,
  done: (status: number, object: ApiObject, answer?: JsonObject) => Result,
): Result {
  if (name === '') {
    checkBodyType(request);
    return done(201, create(backend, kind, namespace, namesOf(kind, request.body), context));
  }
  checkBodyType(request);
  const answer = success({});
  Reflect.deleteProperty(answer, 'details');
  if (subresource === 'eviction') return done(201, evict(backend, kind, namespace, name, request.body, request.query), { ...answer, code: 201 });
  if (subresource === 'binding') return done(201, bind(backend, kind, namespace, name, request.body), { ...answer, code: 201 });
  throw methodNotAllowed();
}

function deleteAll(backend: Backend, kind: Kind, namespace: string, request: ServerRequest): Result {
  const options = parseDeleteOptions(request.body, request.query);
  const selector = selectorOf(request.query, kind);
  const objects = backend.store
    .collection(kind.storage)
    .inNamespace(namespace)
    .filter((object) => selector.matches(object));
  const items = objects.map((object) => remove(backend, kind, object, options).object);
  const body = { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata: { resourceVersion: String(backend.store.revision) }, items };
  return { status: 200, body, audited: body, warnings: [] };
}

function namesOf(kind: Kind, body: Json | undefined): Json | undefined {
  return kind.plural === 'customresourcedefinitions' ? withDefaultNames(body) : body;
}

export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function checkBodyType(request: ServerRequest): void {
  const type = mediaType(request.contentType);
  if (['', 'application/json', 'application/yaml', '*/*'].includes(type)) return;
  const note = type === 'application/vnd.kubernetes.protobuf' ? ' (protobuf bodies are not supported by this server)' : '';
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml${note}`,
  );
}

function contextOf(request: ServerRequest): WriteContext {
  const { dryRun = '', fieldManager = '', fieldValidation = 'Ignore' } = request.query;
  const refuse = (field: string, value: string, supported: string): Error =>
    invalid({ group: 'meta.k8s.io', plural: '', kind: 'UpdateOptions' }, '', [
      { field, reason: 'FieldValueNotSupported', message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}` },
    ]);
  if (dryRun !== '' && dryRun !== 'All') throw refuse('dryRun', dryRun, '"All"');
  if (fieldValidation !== 'Strict' && fieldValidation !== 'Warn' && fieldValidation !== 'Ignore')
    throw refuse('fieldValidation', fieldValidation, '"Ignore", "Strict", "Warn"');
  const agent = (request.userAgent ?? '').split('/', 1)[0] ?? '';
  return { dryRun: dryRun === 'All', manager: fieldManager === '' ? agent || 'unknown' : fieldManager, fieldValidation, warnings: [] };
}
