import { collectionOf, present, type Backend } from './backend.ts';
import { ApiFailure, badRequest, expired, invalid } from './failure.ts';
import { isObject, type ApiObject, type JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';
import { parseSelector, type Selector } from './selectors.ts';
import { apiVersionOf } from './kinds.ts';
import { keyOf } from './store.ts';

export type Query = Readonly<Record<string, string>>;

export interface Page {
  items: readonly ApiObject[];
  metadata: JsonObject;
}

interface Continue {
  revision: number;
  /** Key of the last object already sent. */
  after: string;
}

const OPTIONS = { group: 'meta.k8s.io', plural: '', kind: 'ListOptions' };

export function selectorOf(query: Query, kind: Kind): Selector {
  const { labelSelector = '', fieldSelector = '' } = query;
  return parseSelector(labelSelector, fieldSelector, kind.selectable, apiVersionOf(kind), kind.kind);
}

/** GET of a collection: resourceVersion unset, 0 or a number; `limit` and `continue`. */
export function list(backend: Backend, kind: Kind, namespace: string, query: Query): Page {
  const selector = selectorOf(query, kind);
  const limit = parseLimit(query['limit']);
  const token = query['continue'] ?? '';
  const { revision, after } = token === '' ? { revision: startRevision(backend, query), after: '' } : parseContinue(token, query);
  const collection = collectionOf(backend, kind);
  const isOne = !kind.namespaced || namespace !== '';
  const named = isOne ? nameOf(selector) : undefined;
  const isCached = query['resourceVersion'] === '0' && token === '';
  const all =
    named === undefined || revision !== undefined
      ? everything()
      : [collection.get(kind.namespaced ? `${namespace}/${named}` : named)].filter((one) => one !== undefined);
  const rest = after === '' ? all : all.filter((object) => keyOf(object) > after);
  const matching = rest.filter((object) => selector.matches(object));
  const at = revision ?? backend.store.revision;
  if (limit === 0 || isCached || matching.length <= limit)
    return { items: matching.map((object) => present(object, kind)), metadata: { resourceVersion: String(at) } };
  const items = matching.slice(0, limit);
  const last = items.at(-1);
  const isPlain = (query['labelSelector'] ?? '') === '' && (query['fieldSelector'] ?? '') === '';
  return {
    items: items.map((object) => present(object, kind)),
    metadata: {
      resourceVersion: String(at),
      continue: last === undefined ? '' : formatContinue({ revision: at, after: keyOf(last) }),
      ...(isPlain ? { remainingItemCount: matching.length - limit } : {}),
    },
  };

  function everything(): ApiObject[] {
    if (revision === undefined) return collection.inNamespace(namespace);
    try {
      return collection.inNamespaceAt(namespace, revision);
    } catch (error) {
      if (token === '' || !(error instanceof ApiFailure)) throw error;
      throw new ExpiredContinue(formatContinue({ revision: -1, after }));
    }
  }
}

/** 410 for a paged list whose revision is gone; carries the token with which a client may go on inconsistently. */
export class ExpiredContinue extends Error {
  readonly token: string;
  constructor(token: string) {
    super(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    );
    this.token = token;
  }
}

/** A list can be answered by one look-up when it asks for one name in one namespace. */
function nameOf(selector: Selector): string | undefined {
  return selector.fields.find((one) => one.field === 'metadata.name' && one.equal)?.value;
}

function parseLimit(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  if (!/^\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Which past state is asked for; `undefined` is the present. */
function startRevision(backend: Backend, query: Query): number | undefined {
  const { resourceVersion: version = '', resourceVersionMatch: match = '' } = query;
  if (match !== '' && version === '') {
    throw invalid(OPTIONS, '', [
      {
        field: 'resourceVersionMatch',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      },
    ]);
  }
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalid(OPTIONS, '', [
      {
        field: 'resourceVersionMatch',
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`,
      },
    ]);
  }
  if (query['sendInitialEvents'] !== undefined) {
    throw invalid(OPTIONS, '', [
      { field: 'sendInitialEvents', reason: 'FieldValueForbidden', message: 'Forbidden: sendInitialEvents is forbidden for list' },
    ]);
  }
  const wanted = parseVersion(version);
  if (match === 'Exact' && wanted === 0) {
    throw invalid(OPTIONS, '', [
      {
        field: 'resourceVersionMatch',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      },
    ]);
  }
  checkFuture(backend, wanted);
  const isExact = match === 'Exact' || (match === '' && wanted > 0 && parseLimit(query['limit']) > 0);
  return isExact ? wanted : undefined;
}

export function parseVersion(version: string): number {
  if (version === '') return 0;
  if (!/^\d+$/.test(version))
    throw invalid({ group: '', plural: '', kind: '' }, '', [
      {
        field: 'resourceVersion',
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(version)}: strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`,
      },
    ]);
  return Number(version);
}

/** 504 for a state that has not come about: the client has read from a server that is ahead, or from another cluster. */
export function checkFuture(backend: Backend, wanted: number): void {
  if (wanted <= backend.store.revision) return;
  throw new ApiFailure(504, 'Timeout', `Too large resource version: ${String(wanted)}, current: ${String(backend.store.revision)}`, {
    retryAfterSeconds: 1,
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
  });
}

function parseContinue(token: string, query: Query): { revision: number | undefined; after: string } {
  const { resourceVersion = '' } = query;
  if (resourceVersion !== '' && resourceVersion !== '0') throw badRequest('specifying resource version is not allowed when using continue');
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (isObject(parsed) && typeof parsed['rv'] === 'number' && typeof parsed['start'] === 'string') {
      return { revision: parsed['rv'] < 0 ? undefined : parsed['rv'], after: parsed['start'].replace('\0', '') };
    }
  } catch (error) {
    throw badRequest(`continue key is not valid: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw badRequest('continue key is not valid: it was not issued by this server');
}

function formatContinue({ revision, after }: Continue): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\0` })).toString('base64url');
}

/** The 410 of a paged list as a failure with the token in its metadata. */
export function expiredContinue(error: ExpiredContinue): { failure: ApiFailure; metadata: JsonObject } {
  return { failure: expired(error.message), metadata: { continue: error.token } };
}
