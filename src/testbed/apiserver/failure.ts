import type { JsonObject } from './json.ts';

/** Why a request was refused: becomes a `Status` object (metav1.Status). Messages are those of a real server, since people and tools read them. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;
  constructor(status: number, reason: string, message: string, details?: JsonObject) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

/** How a kind is named in messages: `plural.group`, or `plural` in the core group. */
export interface Named {
  group: string;
  plural: string;
  kind: string;
}

export interface FieldCause {
  field: string;
  reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTypeInvalid'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate';
  message: string;
}

export function qualified(named: Pick<Named, 'group' | 'plural'>): string {
  return named.group === '' ? named.plural : `${named.plural}.${named.group}`;
}

function qualifiedKind(named: Named): string {
  return named.group === '' ? named.kind : `${named.kind}.${named.group}`;
}

function detailsOf(named: Named, name: string): JsonObject {
  return { name, ...(named.group === '' ? {} : { group: named.group }), kind: named.plural };
}

export function notFound(named: Named, name: string): ApiFailure {
  return new ApiFailure(404, 'NotFound', `${qualified(named)} "${name}" not found`, detailsOf(named, name));
}

/** What a real server answers where no handler is: in words of HTTP, not as a `Status`. */
export class NoHandler extends Error {
  override readonly name = 'NoHandler';
}

/** Below a group that is built in, the API machinery answers; below others, and at paths that are no API, nobody does. */
export function unknownPath(isBuiltIn: boolean): ApiFailure | NoHandler {
  if (!isBuiltIn) return new NoHandler('404 page not found\n');
  return new ApiFailure(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function alreadyExists(named: Named, name: string): ApiFailure {
  return new ApiFailure(409, 'AlreadyExists', `${qualified(named)} "${name}" already exists`, detailsOf(named, name));
}

export function conflict(named: Named, name: string, why: string): ApiFailure {
  return new ApiFailure(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(named)} "${name}": ${why}`, detailsOf(named, name));
}

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export function invalid(named: Named, name: string, causes: readonly FieldCause[]): ApiFailure {
  const lines = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const words = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  return new ApiFailure(422, 'Invalid', `${qualifiedKind(named)} "${name}" is invalid: ${words}`, {
    name,
    ...(named.group === '' ? {} : { group: named.group }),
    kind: named.kind,
    causes: causes.map((cause) => ({ reason: cause.reason, message: cause.message, field: cause.field })),
  });
}

export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, 'BadRequest', message);
}

export function forbidden(named: Pick<Named, 'group' | 'plural'>, name: string, why: string): ApiFailure {
  const details = { ...(name === '' ? {} : { name }), ...(named.group === '' ? {} : { group: named.group }), kind: named.plural };
  return new ApiFailure(403, 'Forbidden', `${qualified(named)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`, details);
}

export function expired(message: string): ApiFailure {
  return new ApiFailure(410, 'Expired', message);
}

export function methodNotAllowed(): ApiFailure {
  return new ApiFailure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function unsupportedMediaType(message: string): ApiFailure {
  return new ApiFailure(415, 'UnsupportedMediaType', message);
}

/** The failure as `kind: Status`. */
export function statusObject(failure: ApiFailure): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: failure.message,
    ...(failure.reason === '' ? {} : { reason: failure.reason }),
    ...(failure.details === undefined ? {} : { details: failure.details }),
    code: failure.status,
  };
}

export function success(details: JsonObject): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
