import type { ApiEvent } from '../../laws/trace.ts';

/** One line of `--audit-log-path`, as far as it is read here (audit.k8s.io/v1 Event). */
interface AuditEvent {
  kind: 'Event';
  stage: 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  requestURI?: string;
  verb: string;
  user?: { username?: string };
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  requestObject?: unknown;
  responseObject?: unknown;
  stageTimestamp: string;
}

interface Stored {
  kind?: string;
  metadata: { name?: string; resourceVersion?: string; managedFields?: unknown; [field: string]: unknown };
  [field: string]: unknown;
}

interface Known {
  object: Stored;
  at: number;
}

/** The smallest step of the audit's clock. */
const MICROSECOND_MS = 0.001;
/** Nothing of it is stored. */
const DRY_RUN = /[?&]dryRun=All(&|$)/;
const WRITES_OF_THE_WHOLE: readonly string[] = ['create', 'update', 'patch'];

/**
 * Turns the audit log of a real API server into what the embedded one tells the judge. Remembers the objects, because a deletion is often
 * answered without the object, and their order, because two answers may be stamped in another order than they were stored.
 */
export class AuditReader {
  readonly #known = new Map<string, Known>();

  /** The request that this line tells of; `undefined` when the line is none, or has been told already. */
  read(line: string): ApiEvent | undefined {
    const audited = parsed(line);
    if (audited?.objectRef?.resource === undefined || !isTold(audited) || isDryRun(audited)) return undefined;
    const { verb, objectRef, requestObject: request } = audited;
    const status = audited.responseStatus?.code ?? 0;
    const { resource = '', apiGroup = '', subresource = '', namespace = '', name = '' } = objectRef;
    const isWrite = !['get', 'list', 'watch'].includes(verb);
    const event: ApiEvent = {
      at: millisecondsOf(audited.stageTimestamp),
      kind: 'api',
      user: audited.user?.username ?? '',
      verb: verb as ApiEvent['verb'],
      resource: apiGroup === '' ? resource : `${resource}.${apiGroup}`,
      ...(subresource === '' ? {} : { subresource }),
      ...(namespace === '' ? {} : { namespace }),
      ...(name === '' ? {} : { name }),
      status,
      ...(isWrite && request !== undefined ? { request } : {}),
    };
    return isWrite && status < 300 ? this.#withObject(event, audited.responseObject) : event;
  }

  #withObject(event: ApiEvent, response: unknown): ApiEvent {
    const answered = objectIn(response);
    const name = event.name ?? answered?.metadata.name;
    if (name === undefined || event.verb === 'deletecollection') return event;
    const named = { ...event, name };
    const key = [event.resource, event.namespace ?? '', name].join(' ');
    if (event.verb === 'delete') return this.#deleted(named, key, answered);
    if (event.subresource === 'binding') return this.#bound(named, key);
    const isWhole = event.subresource === undefined || event.subresource === 'status';
    if (!isWhole || !WRITES_OF_THE_WHOLE.includes(event.verb) || answered === undefined) return named;
    return { ...named, at: this.#stored(key, answered, event.at), object: answered };
  }

  #deleted(event: ApiEvent, key: string, answered: Stored | undefined): ApiEvent {
    const object = answered ?? this.#known.get(key)?.object;
    if (answered === undefined) this.#known.delete(key);
    else this.#stored(key, answered, event.at);
    return object === undefined ? event : { ...event, object };
  }

  /** The time of this state: before that of a later state of the same object which was stamped earlier. */
  #stored(key: string, object: Stored, at: number): number {
    const later = this.#known.get(key);
    if (later !== undefined && versionOf(later.object) > versionOf(object)) return Math.min(at, later.at - MICROSECOND_MS);
    this.#known.set(key, { object, at });
    return at;
  }

  /** A binding is answered with a `Status`: what it made of the pod is told from what the pod was. */
  #bound(event: ApiEvent, key: string): ApiEvent {
    const known = this.#known.get(key);
    const nodeName = (event.request as { target?: { name?: string } } | undefined)?.target?.name;
    if (known === undefined || nodeName === undefined) return event;
    const object = { ...known.object, spec: { ...(known.object['spec'] as object), nodeName } };
    this.#known.set(key, { ...known, object });
    return { ...event, object };
  }
}

function parsed(line: string): AuditEvent | undefined {
  if (!line.startsWith('{')) return undefined;
  const value = JSON.parse(line) as Partial<AuditEvent>;
  return value.kind === 'Event' && value.stageTimestamp !== undefined ? (value as AuditEvent) : undefined;
}

/** A watch is told when it was opened (or refused), everything else when it was answered. */
function isTold({ verb, stage, responseStatus }: AuditEvent): boolean {
  if (verb !== 'watch') return stage === 'ResponseComplete';
  return stage === 'ResponseStarted' || (stage === 'ResponseComplete' && (responseStatus?.code ?? 0) >= 300);
}

/** The object in an answer that is one; a `Status` is none. Without managedFields, of which nothing here reads. */
function objectIn(response: unknown): Stored | undefined {
  const object = response as Partial<Stored> | undefined;
  if (object?.metadata === undefined || object.kind === 'Status') return undefined;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function versionOf({ metadata }: Stored): bigint {
  const text = metadata.resourceVersion ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
}

/** RFC 3339 with microseconds → milliseconds since 1970 with their fraction. */
function millisecondsOf(timestamp: string): number {
  const [seconds = '', fraction = '0Z'] = timestamp.split('.');
  const wholeMs = Date.parse(fraction === '0Z' ? timestamp : `${seconds}Z`);
  return wholeMs + Number(`0.${fraction.replace('Z', '')}`) * 1_000;
}

function isDryRun({ requestURI = '' }: AuditEvent): boolean {
  return DRY_RUN.test(requestURI);
}
