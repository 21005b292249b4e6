import { CloudServer, type CloudAnswer, type CloudProtocol, type CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';
import { failure, Keystone, PROJECT, USER, type KeystoneOddities } from './keystone.ts';
import { fault, Nova, type NovaOddities } from './nova.ts';

/** OpenStack: Keystone and Nova behind one address, each written from its own documents; there is no emulator of others that can stop a server. */
export const openstackCloud: CloudKind = {
  providerID: ({ uuid }) => `openstack:///${uuid}`,
  start: (options) => OpenStack.start(options),
};

export type OpenStackOddities = KeystoneOddities & NovaOddities;

/** What tests see of it besides. */
export interface OpenStackService extends CloudService {
  readonly oddities: OpenStackOddities;
  readonly keystone: Keystone;
  readonly nova: Nova;
}

export function openstackOf(service: CloudService): OpenStackService {
  if (!(service instanceof OpenStack)) throw new Error('no emulated OpenStack');
  return service;
}

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^POST \/identity\/v3\/auth\/tokens$/, 'POST token'],
  [/^GET \/identity\/v3\/users\/[^/]+\/application_credentials\/[^/]+$/, 'GET application credential'],
  [/^GET \/compute\/v2\.1\/$/, 'GET version'],
  [/^GET \/compute\/v2\.1\/os-services$/, 'GET services'],
  [/^PUT \/compute\/v2\.1\/os-services\/[^/]+$/, 'PUT service'],
  [/^GET \/compute\/v2\.1\/servers\/detail$/, 'GET servers'],
  [/^GET \/compute\/v2\.1\/servers\/[^/]+$/, 'GET server'],
  [/^GET \/compute\/v2\.1\/servers\/[^/]+\/os-instance-actions$/, 'GET actions'],
  [/^GET \/compute\/v2\.1\/servers\/[^/]+\/os-instance-actions\/[^/]+$/, 'GET action'],
];

class OpenStack implements CloudProtocol, OpenStackService {
  readonly instances: readonly EmulatedInstance[];
  readonly oddities: OpenStackOddities = {};
  readonly keystone: Keystone;
  readonly nova: Nova;
  #server: CloudServer | undefined;
  #url = '';

  private constructor({ machines, clock, random }: CloudServiceOptions) {
    const faults = (): CloudFaults => this.#server?.faults ?? {};
    this.instances = machines.map((machine) => new EmulatedInstance(machine.uuid, machine, clock, faults));
    this.keystone = new Keystone(random, faults, this.oddities, () => this.url);
    this.nova = new Nova(this.instances, faults, this.oddities, () => this.keystone.isAdmin);
  }

  static async start(options: CloudServiceOptions): Promise<OpenStack> {
    const cloud = new OpenStack(options);
    const { host, certificate } = options;
    cloud.#server = await CloudServer.start({ host, protocol: cloud, ...(certificate === undefined ? {} : { certificate }) });
    cloud.#url = cloud.#server.url;
    return cloud;
  }

  /** Also after its end: a slow answer may be written then. */
  get url(): string {
    return this.#url;
  }

  get requests(): readonly string[] {
    return this.#running.requests;
  }

  get variables(): Readonly<Record<string, string>> {
    return {
      OS_AUTH_URL: `${this.url}/identity`,
      OS_USERNAME: USER,
      OS_PASSWORD: this.keystone.password,
      OS_USER_DOMAIN_NAME: 'Default',
      OS_PROJECT_NAME: PROJECT,
      OS_PROJECT_DOMAIN_NAME: 'Default',
    };
  }

  get files(): Readonly<Record<string, string>> {
    return {};
  }

  get settings(): Readonly<Record<string, string>> {
    return {};
  }

  leftOpen(): { sessions: number; connections: number } {
    return { sessions: 0, connections: this.#running.connections };
  }

  setFaults(faults: CloudFaults): void {
    if (faults.forgetsTokens === true) this.keystone.forgetAll();
    this.#running.faults = faults;
  }

  async close(): Promise<void> {
    for (const instance of this.instances) instance.close();
    await this.#running.close();
  }

  nameOf({ method, path, body }: CloudRequest): string {
    const asked = `${method} ${path}`;
    if (method === 'POST' && path.endsWith('/action')) return `POST ${/"([\w-]+)"/.exec(body)?.[1] ?? ''}`;
    return NAMES.find(([pattern]) => pattern.test(asked))?.[1] ?? asked;
  }

  isSet(name: string): boolean {
    return name === 'PUT service' || (name.startsWith('POST ') && name !== 'POST token');
  }

  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    return code === 'identity' ? failure(status, 'Error', message) : fault(status, code, message);
  }

  tooOften(): CloudAnswer {
    return { ...fault(413, 'overLimit', 'This request was rate-limited.'), headers: { 'Content-Type': 'application/json', 'Retry-After': '1' } };
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    if (name === 'POST token') return this.keystone.login(request);
    if (!this.keystone.isGood(request.headers['x-auth-token']))
      return { status: 401, headers: { 'WWW-Authenticate': `Keystone uri='${this.url}/identity'` }, body: 'Authentication required' };
    if (name === 'GET application credential') return this.keystone.applicationCredential();
    if (!request.path.startsWith('/compute/v2.1/')) return failure(404, 'Not Found', 'The resource could not be found.');
    return this.nova.answer(request, name);
  }

  get #running(): CloudServer {
    if (this.#server === undefined) throw new Error('the cloud was not started');
    return this.#server;
  }
}
