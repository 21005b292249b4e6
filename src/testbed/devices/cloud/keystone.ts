import type { Random } from '../../../ports/random.ts';
import type { CloudAnswer, CloudRequest } from './cloud-server.ts';
import type { CloudFaults } from './faults.ts';

export const USER = 'fence';
export const PROJECT = 'nodefence-emulated';
export const REGION = 'RegionOne';
export const USER_ID = 'ee4dfb6e5540447cb3741905149d9b6e';
export const APPLICATION_CREDENTIAL = 'aa809205ed614a0e854bac92c0768bb9';

/** What may be odd with the identity service. */
export interface KeystoneOddities {
  roles?: readonly string[];
  /** Tokens end so soon. */
  tokenMs?: number;
  passwordExpiresAt?: string;
  applicationCredentialExpiresAt?: string;
  /** Further regions of the catalog, at an address where nobody answers. */
  regions?: readonly string[];
  /** The catalog lacks the compute service. */
  lacksCompute?: true;
}

/**
 * Keystone v3, written from the Identity API reference ("Password authentication with scoped authorization", "Authenticating with an application
 * credential", "Show application credential details"). No real one was at hand to compare with.
 */
export class Keystone {
  readonly password: string;
  readonly secret: string;
  readonly #tokens = new Set<string>();
  readonly #random: Random;
  readonly #faults: () => CloudFaults;
  readonly #oddities: KeystoneOddities;
  readonly #url: () => string;

  constructor(random: Random, faults: () => CloudFaults, oddities: KeystoneOddities, url: () => string) {
    this.#random = random;
    this.#faults = faults;
    this.#oddities = oddities;
    this.#url = url;
    this.password = `password-${random.uuid()}`;
    this.secret = `secret-${random.uuid()}`;
  }

  isGood(token: string | undefined): boolean {
    return this.#tokens.has(token ?? '');
  }

  get isAdmin(): boolean {
    return this.#roles.includes('admin');
  }

  forgetAll(): void {
    this.#tokens.clear();
  }

  login({ body }: CloudRequest): CloudAnswer {
    const { auth } = JSON.parse(body) as { auth: { identity: Identity; scope?: Scope } };
    const methods = auth.identity.methods ?? [];
    const isKnown = methods[0] === 'password' ? this.#isPassword(auth.identity, auth.scope) : this.#isApplication(auth.identity, auth.scope);
    if (methods.length !== 1 || !isKnown || this.#faults().refusesLogin === true)
      return failure(401, 'Unauthorized', 'The request you have made requires authentication.');
    const token = `gAAAA${this.#random.uuid()}`;
    this.#tokens.add(token);
    return json(201, { token: this.#token(methods[0] ?? '') }, { 'X-Subject-Token': token });
  }

  applicationCredential(): CloudAnswer {
    const { applicationCredentialExpiresAt = null } = this.#oddities;
    return json(200, { application_credential: { id: APPLICATION_CREDENTIAL, name: 'nodefence', expires_at: applicationCredentialExpiresAt } });
  }

  get #roles(): readonly string[] {
    return this.#oddities.roles ?? ['member', 'reader'];
  }

  #isPassword({ password }: Identity, scope: Scope | undefined): boolean {
    const user = password?.user;
    const isUser = user?.id === USER_ID || (user?.name === USER && isDefault(user.domain));
    const isProject = scope?.project?.name === PROJECT && isDefault(scope.project.domain);
    return isUser && isProject && user.password === this.password;
  }

  /** It is bound to its project already: a scope besides is refused. */
  #isApplication({ application_credential: own }: Identity, scope: Scope | undefined): boolean {
    const isNamed = own?.name === 'nodefence' && (own.user?.id === USER_ID || (own.user?.name === USER && isDefault(own.user.domain)));
    return scope === undefined && own?.secret === this.secret && (own.id === APPLICATION_CREDENTIAL || isNamed);
  }

  #token(method: string): unknown {
    const { tokenMs = 3_600_000, passwordExpiresAt = null, regions = [], lacksCompute } = this.#oddities;
    const nowMs = Date.now() + (this.#faults().aheadMs ?? 0);
    const endpoint = (region: string, url: string, kind: string): unknown => ({
      id: this.#random.uuid(),
      interface: kind,
      region,
      region_id: region,
      url,
    });
    const url = `${this.#url()}/compute/v2.1`;
    const endpoints = ['public', 'internal', 'admin'].map((kind) => endpoint(REGION, url, kind));
    const others = regions.map((region) => endpoint(region, 'http://127.0.0.1:9/compute/v2.1', 'public'));
    const compute = { type: 'compute', name: 'nova', id: 'c1', endpoints: [...others, ...endpoints] };
    const identity = { type: 'identity', name: 'keystone', id: 'i1', endpoints: [endpoint(REGION, `${this.#url()}/identity`, 'public')] };
    const domain = { id: 'default', name: 'Default' };
    return {
      methods: [method],
      user: { domain, id: USER_ID, name: USER, password_expires_at: passwordExpiresAt },
      ...(method === 'application_credential' ? { application_credential: { id: APPLICATION_CREDENTIAL, name: 'nodefence', restricted: true } } : {}),
      issued_at: new Date(nowMs).toISOString(),
      expires_at: new Date(nowMs + tokenMs).toISOString(),
      project: { domain, id: '263fd9', name: PROJECT },
      roles: this.#roles.map((name, index) => ({ id: `role-${index}`, name })),
      catalog: lacksCompute === true ? [identity] : [identity, compute],
    };
  }
}

interface Domain {
  id?: string;
  name?: string;
}

interface User {
  id?: string;
  name?: string;
  domain?: Domain;
  password?: string;
}

interface Identity {
  methods?: readonly string[];
  password?: { user?: User };
  application_credential?: { id?: string; name?: string; secret?: string; user?: User };
}

interface Scope {
  project?: { name?: string; domain?: Domain };
}

function isDefault(domain: Domain | undefined): boolean {
  return domain?.id === 'default' || domain?.name === 'Default';
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): CloudAnswer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** As Keystone words it. */
export function failure(status: number, title: string, message: string): CloudAnswer {
  return json(status, { error: { code: status, title, message } });
}
