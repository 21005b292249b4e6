import { need, type Backend } from './backend.ts';
import { seconds } from './clock-text.ts';
import { badRequest, invalid } from './failure.ts';
import { at, isObject, isString, listAt, type ApiObject, type Json, type JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';
import type { ResourcePath, User } from './request.ts';

const DEFAULT_SECONDS = 3_600;
const LEAST_SECONDS = 600;
/** The oldest go first: nobody holds so many in one drill. */
const TOKENS_MAX = 10_000;
const AUDIENCE = 'https://kubernetes.default.svc.cluster.local';
const ACCOUNTS = 'serviceaccounts';

interface Bound {
  namespace: string;
  name: string;
  uid: string;
  expiresMs: number;
  /** Always the same one: what it may do is remembered by it. */
  user: User;
}

/** What the TokenRequest API makes: tokens of a ServiceAccount that end with their time and with the account. */
export class ServiceAccountTokens {
  readonly #backend: Backend;
  readonly #bound = new Map<string, Bound>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Answers `create serviceaccounts/token`. */
  issue(kind: Kind, { namespace, name }: ResourcePath, body: Json | undefined): JsonObject {
    const account = need(this.#backend, kind, namespace, name);
    if (isObject(at(body, 'spec', 'boundObjectRef'))) throw badRequest('this server binds tokens to their ServiceAccount only: spec.boundObjectRef');
    const expirationSeconds = at(body, 'spec', 'expirationSeconds') ?? DEFAULT_SECONDS;
    if (typeof expirationSeconds !== 'number' || expirationSeconds < LEAST_SECONDS) throw tooShort(name, expirationSeconds);
    const asked = listAt(at(body, 'spec'), 'audiences').filter(isString);
    const audiences = asked.length === 0 ? [AUDIENCE] : asked;
    const nowMs = this.#backend.clock.wallMs();
    const expiresMs = nowMs + expirationSeconds * 1_000;
    const token = this.#write(account, expiresMs, audiences);
    if (audiences.includes(AUDIENCE))
      this.#remember(token, { namespace, name, uid: account.metadata.uid ?? '', expiresMs, user: accountUser(namespace, name) });
    return {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, creationTimestamp: seconds(nowMs) },
      spec: { audiences, expirationSeconds, boundObjectRef: null },
      status: { token, expirationTimestamp: seconds(expiresMs) },
    };
  }

  /** Who comes with this token; nobody once its time is over, or its account another one or gone. */
  userOf(token: string): User | undefined {
    const bound = this.#bound.get(token);
    if (bound === undefined || bound.expiresMs <= this.#backend.clock.wallMs()) return undefined;
    const account = this.#backend.store.collection(ACCOUNTS).get(`${bound.namespace}/${bound.name}`);
    return account?.metadata.uid === bound.uid ? bound.user : undefined;
  }

  /** Three parts as clients expect them; the last is chance, since nobody but this server looks at it. */
  #write({ metadata }: ApiObject, expiresMs: number, audiences: readonly string[]): string {
    const claims = {
      aud: audiences,
      exp: Math.floor(expiresMs / 1_000),
      iss: AUDIENCE,
      sub: `system:serviceaccount:${metadata.namespace ?? ''}:${metadata.name}`,
    };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { random } = this.#backend;
    return [part({ alg: 'none', typ: 'JWT' }), part(claims), `${random.uuid()}${random.uuid()}`.replaceAll('-', '')].join('.');
  }

  #remember(token: string, bound: Bound): void {
    this.#bound.set(token, bound);
    const [oldest] = this.#bound.keys();
    if (this.#bound.size > TOKENS_MAX && oldest !== undefined) this.#bound.delete(oldest);
  }
}

function accountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

function tooShort(name: string, given: Json): Error {
  const message = `Invalid value: ${JSON.stringify(given)}: may not specify a duration less than 10 minutes`;
  return invalid({ group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' }, name, [
    { field: 'spec.expirationSeconds', reason: 'FieldValueInvalid', message },
  ]);
}
