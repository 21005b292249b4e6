import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { ApiEvent } from '../../laws/trace.ts';
import { isAllowed, refusalOf, type Attempt } from './access.ts';
import type { Backend, ContainerLog } from './backend.ts';
import { initialObjects } from './built-ins.ts';
import { DEFINITIONS } from './definitions.ts';
import { discover, SERVER_VERSION } from './discovery.ts';
import { ApiFailure, forbidden, methodNotAllowed, NoHandler, qualified, statusObject, unknownPath } from './failure.ts';
import { Garbage } from './garbage.ts';
import type { Json, JsonObject } from './json.ts';
import { DefinitionController } from './definition-controller.ts';
import type { Kind } from './kinds.ts';
import { ExpiredContinue, expiredContinue } from './lists.ts';
import { openApi } from './openapi.ts';
import { Registry } from './registry.ts';
import { parseResourcePath, type ResourcePath, type ServerRequest, type ServerResponse, type User } from './request.ts';
import { isWatch, serveObjects, verbOf, type Result } from './resources.ts';
import { review } from './reviews.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { Store, type Change, type StoreBackup } from './store.ts';
import { presentation, type Presentation } from './presentation.ts';
import { NoShare, Troubles, type StartUp } from './troubles.ts';
import { Watches, WatchExpired, type ServerSink } from './watches.ts';

export interface ServerUser {
  name: string;
  groups: readonly string[];
  /** Bearer token; a user without one is reached in process only. */
  token?: string;
}

export interface ApiServerOptions {
  clock: Clock;
  random: Random;
  users: readonly ServerUser[];
  /** `rbac` decides by the roles and bindings in the store; `system:masters` may do everything. */
  authorization: 'always-allow' | 'rbac';
  /** Told of every request for objects, after it was answered. */
  audit?: (event: ApiEvent) => void;
  /** `at` of audit events. Default: the clock's wall time. */
  auditTimeMs?: () => number;
  /** Track field managers of every write, as a real server does; otherwise only of objects that were applied server-side. Default false. */
  tracksManagers?: boolean;
  /** What containers have written. Default: nobody has written anything. */
  logOf?: ContainerLog;
  /** Changes remembered per kind before older watches answer 410. Default 10,000. */
  historyLimit?: number;
  /** Serves watches that begin with what is there. Default true; servers before 1.32 do not unless told to. */
  streamsLists?: boolean;
}

const HISTORY_LIMIT = 10_000;
const KNOWN_PATHS_MAX = 1_000;
const AUTHENTICATED = 'system:authenticated';
const HEALTH = ['/healthz', '/readyz', '/livez'];

/**
 * A Kubernetes API server's logic: synchronous, deterministic, without I/O. Time and randomness are injected; delays and faults are put around it.
 * What real controllers in the server or beside it do at once (owner garbage collection, namespaces, establishing definitions) is done within each write.
 */
export class ApiServer {
  readonly #backend: Backend;
  readonly #options: ApiServerOptions;
  readonly #watches: Watches;
  readonly #garbage: Garbage;
  readonly #definitions: DefinitionController;
  readonly #observed = new Set<string>();
  #observedKinds: readonly Kind[] = [];
  readonly #paths = new Map<string, ResourcePath | undefined>();
  readonly #byToken = new Map<string, User>();
  readonly #tokens: ServiceAccountTokens;
  readonly #byName = new Map<string, User>();
  readonly #definitionChanges: Change[] = [];
  readonly #troubles: Troubles;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    const store = new Store(options.historyLimit ?? HISTORY_LIMIT);
    this.#backend = {
      store,
      registry: new Registry(),
      clock: options.clock,
      random: options.random,
      managedFields: options.tracksManagers === true ? 'all' : 'applied',
      logOf: options.logOf ?? (() => ''),
    };
    this.#troubles = new Troubles(options.clock);
    this.#tokens = new ServiceAccountTokens(this.#backend);
    this.#watches = new Watches(this.#backend, options.streamsLists ?? true);
    this.#garbage = new Garbage(this.#backend);
    this.#definitions = new DefinitionController(this.#backend, (storage) => {
      this.#watches.endAll(storage);
    });
    for (const user of options.users) {
      const known: User = { name: user.name, groups: [...user.groups, AUTHENTICATED] };
      this.#byName.set(user.name, known);
      if (user.token !== undefined) this.#byToken.set(user.token, known);
    }
    this.#observeNewKinds();
    for (const { storage, object } of initialObjects(options.clock.wallMs(), () => options.random.uuid())) store.put(storage, object);
  }

  userByToken(token: string): User | undefined {
    return this.#byToken.get(token) ?? this.#tokens.userOf(token);
  }

  userByName(name: string): User | undefined {
    return this.#byName.get(name);
  }

  /** resourceVersion of the last write. */
  get revision(): number {
    return this.#backend.store.revision;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Answers a request. Everything a client can do wrong becomes a `Status`; an exception is a defect of this server. */
  handle(request: ServerRequest): ServerResponse {
    const path = this.#pathOf(request);
    const shown = presentation(request.accept);
    try {
      const user = this.#admitted(request);
      if (path === undefined) return this.#handleOther(request, user);
      const kind = this.#authorized(request, path, user);
      const result = this.#serve(kind, path, request, user);
      this.#settle();
      this.#record(request, path, result.status, result.audited);
      if (result.text !== undefined) return { status: result.status, body: result.text, headers: { 'content-type': 'text/plain' } };
      return respond(result, shown, kind, this.#options.clock.wallMs());
    } catch (error) {
      const response = failed(error);
      if (path !== undefined) this.#record(request, path, response.status, undefined);
      return response;
    }
  }

  /** Opens a watch. A refusal is an ordinary response; else events come to the sink, the past ones before this returns. */
  watch(request: ServerRequest, sink: ServerSink): { close: () => void } | { refusal: ServerResponse } {
    const path = this.#pathOf(request);
    try {
      if (path === undefined) throw unknownPath(false);
      const kind = this.#authorized(request, path, this.#admitted(request));
      if (kind.virtual || path.name !== '') throw methodNotAllowed();
      const shown = presentation(request.accept).stream(kind, sink, () => this.#options.clock.wallMs());
      const close = this.#openOrExpire(kind, path, request, shown);
      this.#record(request, path, 200, undefined);
      return { close };
    } catch (error) {
      const refusal = failed(error);
      if (path !== undefined) this.#record(request, path, refusal.status, undefined);
      return { refusal };
    }
  }

  /** Sends bookmarks that are due and ends watches whose time is up. Call it about every second. */
  tick(): void {
    this.#watches.tick();
  }

  /** Sends a bookmark to every watch that asked for them. */
  bookmark(): void {
    this.#watches.tick(true);
  }

  /** Forgets all history: older watches, lists and continue tokens answer 410 from now on. */
  compact(): void {
    this.#backend.store.compact();
  }

  /** A backup of etcd. */
  backup(): StoreBackup {
    return this.#backend.store.backup();
  }

  /** etcd is restored from a backup: revisions go back with it. Watches end in the ordinary way, as those of a server that is restarted. */
  restore(backup: StoreBackup): void {
    this.#backend.store.restore(backup);
    this.#watches.endAll();
  }

  /** Revisions go on from here, as if so much more had been written. */
  advance(revisions: number): void {
    this.#backend.store.advance(revisions);
  }

  /** It was started anew: watches have ended, nothing of before is in its caches, and what it needs has yet to be read. */
  restart(startUp: StartUp): void {
    this.#backend.store.compact();
    this.#watches.endAll();
    this.#troubles.startUp(startUp);
  }

  /** API Priority and Fairness leaves these users no share: each request of theirs is answered 429 until what is returned is called. */
  throttle(isThrottled: (user: User) => boolean): () => void {
    return this.#troubles.throttle(isThrottled);
  }

  /** Ends all watches: in the ordinary way, or with an ERROR event of status 410. */
  endWatches(how: 'close' | 'expire'): void {
    if (how === 'close') this.#watches.endAll();
    else this.#watches.expireAll();
  }

  /** Callers ask for the same few paths again and again. */
  #pathOf({ path }: ServerRequest): ResourcePath | undefined {
    const known = this.#paths.get(path);
    if (known !== undefined || this.#paths.has(path)) return known;
    if (this.#paths.size >= KNOWN_PATHS_MAX) this.#paths.clear();
    const parsed = parseResourcePath(path);
    this.#paths.set(path, parsed);
    return parsed;
  }

  #openOrExpire(kind: Kind, path: ResourcePath, request: ServerRequest, sink: ServerSink): () => void {
    try {
      return this.#watches.open(kind, path.namespace, request.query, sink);
    } catch (error) {
      if (!(error instanceof WatchExpired)) throw error;
      sink.onEvent({ type: 'ERROR', object: statusObject(error.failure) });
      sink.onEnd();
      return () => undefined;
    }
  }

  #serve(kind: Kind, path: ResourcePath, request: ServerRequest, user: User): Result {
    if (kind.storage === 'serviceaccounts' && path.subresource === 'token' && request.method === 'POST')
      return { status: 201, body: this.#tokens.issue(kind, path, request.body), warnings: [] };
    if (!kind.virtual) return serveObjects(this.#backend, kind, path, request);
    if (request.method !== 'POST' || path.name !== '') throw methodNotAllowed();
    const body = review(kind, path.namespace, request.body, {
      backend: this.#backend,
      user,
      userByToken: (token) => this.userByToken(token),
      allowsAll: this.#options.authorization === 'always-allow',
    });
    return { status: 201, body, warnings: [] };
  }

  #admitted(request: ServerRequest): User {
    const user = authenticated(request);
    this.#troubles.checkShare(user);
    return user;
  }

  #authorized(request: ServerRequest, path: ResourcePath, user: User): Kind {
    this.#authorize(user, {
      verb: verbOf(request, path),
      group: path.group,
      resource: path.plural,
      subresource: path.subresource,
      namespace: path.namespace === '' && path.plural === 'namespaces' ? path.name : path.namespace,
      name: path.name === '' ? selectedName(request) : path.name,
      path: '',
    });
    const kind = this.#backend.registry.find(path.group, path.version, path.plural);
    if (kind === undefined || (!kind.namespaced && path.namespace !== '')) throw unknownPath(this.#backend.registry.isBuiltIn(path.group));
    if (!kind.virtual) this.#troubles.checkStorages(user);
    return kind;
  }

  #authorize(user: User, attempt: Attempt): void {
    const isKnown = !this.#troubles.deniesAll(user);
    if (isKnown && (this.#options.authorization === 'always-allow' || isAllowed(this.#backend, user, attempt))) return;
    if (attempt.path !== '') throw new ApiFailure(403, 'Forbidden', `forbidden: ${refusalOf(user, attempt)}`, {});
    throw forbidden({ group: attempt.group, plural: attempt.resource }, attempt.name, refusalOf(user, attempt));
  }

  #handleOther(request: ServerRequest, user: User): ServerResponse {
    this.#authorize(user, {
      verb: request.method.toLowerCase(),
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
      path: request.path,
    });
    const health = HEALTH.some((one) => request.path === one || request.path.startsWith(`${one}/`));
    const body: Json | undefined = health
      ? 'ok'
      : request.path === '/version'
        ? SERVER_VERSION
        : (discover(this.#backend.registry, request.path.replace(/\/$/, '')) ?? openApi(this.#backend.registry, request.path));
    if (body === undefined) throw unknownPath(false);
    if (request.method !== 'GET') throw methodNotAllowed();
    return { status: 200, body, headers: { 'content-type': health ? 'text/plain; charset=utf-8' : 'application/json' } };
  }

  /** Does what follows from the writes of a request, and watches over kinds that came with it. */
  #settle(): void {
    this.#garbage.collect();
    for (let change = this.#definitionChanges.shift(); change !== undefined; change = this.#definitionChanges.shift()) {
      this.#definitions.note(change);
      this.#garbage.collect();
    }
    if (this.#observedKinds !== this.#backend.registry.all()) this.#observeNewKinds();
  }

  #observeNewKinds(): void {
    this.#observedKinds = this.#backend.registry.all();
    for (const kind of this.#observedKinds) {
      if (this.#observed.has(kind.storage) || kind.virtual) continue;
      this.#observed.add(kind.storage);
      this.#backend.store.collection(kind.storage).onChange((change) => {
        this.#noticed(kind, change);
      });
    }
  }

  #noticed(kind: Kind, change: Change): void {
    this.#watches.deliver(kind.storage, change);
    this.#garbage.note(kind, change);
    if (kind.storage === DEFINITIONS) this.#definitionChanges.push(change);
    else if (kind.custom && change.type === 'DELETED') this.#definitions.noteGone(kind.storage);
  }

  #record(request: ServerRequest, path: ResourcePath, status: number, object: JsonObject | undefined): void {
    const { audit } = this.#options;
    // Of a dry run nothing is stored: it is no write.
    if (audit === undefined || request.query['dryRun'] === 'All') return;
    const name = path.name === '' ? objectName(object) : path.name;
    audit({
      at: this.#options.auditTimeMs?.() ?? this.#options.clock.wallMs(),
      kind: 'api',
      user: request.user?.name ?? '',
      verb: verbOf(request, path),
      resource: qualified(path),
      ...(path.subresource === '' ? {} : { subresource: path.subresource }),
      ...(path.namespace === '' ? {} : { namespace: path.namespace }),
      ...(name === '' ? {} : { name }),
      status,
      ...(request.method === 'GET' || request.body === undefined ? {} : { request: request.body }),
      ...(object === undefined || request.method === 'GET' ? {} : { object }),
    });
  }
}

function objectName(object: JsonObject | undefined): string {
  const metadata = object?.['metadata'];
  return typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) && typeof metadata['name'] === 'string'
    ? metadata['name']
    : '';
}

function authenticated(request: ServerRequest): User {
  if (request.user === undefined) throw new ApiFailure(401, 'Unauthorized', 'Unauthorized');
  return request.user;
}

function respond(result: Result, shown: Presentation, kind: Kind, nowMs: number): ServerResponse {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (result.warnings.length > 0) headers['warning'] = result.warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ');
  const body = result.objects === undefined ? result.body : shown.body(kind, result.objects, result.body, nowMs);
  return { status: result.status, body, headers };
}

function failed(error: unknown): ServerResponse {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (error instanceof ExpiredContinue) {
    const { failure, metadata } = expiredContinue(error);
    return { status: failure.status, body: { ...statusObject(failure), metadata }, headers };
  }
  if (error instanceof NoShare) {
    const retryAfter = String(error.retryAfterSeconds);
    return { status: 429, body: error.message, headers: { 'content-type': 'text/plain; charset=utf-8', 'retry-after': retryAfter } };
  }
  if (error instanceof NoHandler) return { status: 404, body: error.message, headers: { 'content-type': 'text/plain; charset=utf-8' } };
  if (!(error instanceof ApiFailure)) throw error;
  const retryAfter = error.details?.['retryAfterSeconds'];
  if (typeof retryAfter === 'number') headers['retry-after'] = String(retryAfter);
  return { status: error.status, body: statusObject(error), headers };
}

export { isWatch };

/** A collection request for exactly one name is authorized as one for that name (apiserver's RequestInfo). */
function selectedName({ query }: ServerRequest): string {
  const terms = (query['fieldSelector'] ?? '').split(',').map((term) => /^metadata\.name==?([^=!]+)$/.exec(term)?.[1]);
  return terms.find((name) => name !== undefined) ?? '';
}
