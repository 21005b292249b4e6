import type { CloudAnswer, CloudProtocol, CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance, type InstancePhase } from './emulated-instance.ts';
import { ServedCloud } from './served-cloud.ts';

/** Hetzner Cloud, written from its API reference ("Servers", "Server Actions", "Actions", "Errors", "Rate Limiting"). No real one was compared. */
export const hetznerCloud: CloudKind = {
  providerID: (_machine, index) => `hcloud://${FIRST + index}`,
  start: (options) => Hetzner.start(options),
};

const FIRST = 42_000_001;
const WORDS: Readonly<Record<InstancePhase, string>> = { running: 'running', stopping: 'stopping', stopped: 'off', starting: 'starting' };

/** Set by tests beside the faults that all clouds share. */
export interface HetznerOddities {
  /** An action such as a snapshot is under way. */
  isLocked?: true;
  /** The token may read only. */
  isReadOnly?: true;
  /** A name that all servers bear. */
  name?: string;
  /** Another number than was asked for. */
  id?: number | string;
  /** `locked` is not shown. */
  hidesLock?: true;
}

export function hetznerOf(service: CloudService): { oddities: HetznerOddities; token: string } {
  if (!(service instanceof Hetzner)) throw new Error('no emulated Hetzner Cloud');
  return service;
}

class Hetzner extends ServedCloud implements CloudProtocol {
  override readonly instances: readonly EmulatedInstance[];
  readonly oddities: HetznerOddities = {};
  readonly #random: CloudServiceOptions['random'];
  readonly #commands: { id: number; command: string; isFailed: boolean }[] = [];
  #token: string;

  private constructor({ machines, clock, random }: CloudServiceOptions) {
    super();
    this.#random = random;
    this.#token = `token-${random.uuid()}`;
    this.instances = machines.map((machine, index) => new EmulatedInstance(String(FIRST + index), machine, clock, () => this.faults));
  }

  static async start(options: CloudServiceOptions): Promise<Hetzner> {
    const hetzner = new Hetzner(options);
    await hetzner.serve(hetzner, options);
    return hetzner;
  }

  get token(): string {
    return this.#token;
  }

  override get variables(): Readonly<Record<string, string>> {
    return { HCLOUD_TOKEN: this.#token, HCLOUD_ENDPOINT: `${this.url}/v1` };
  }

  protected override forget(): void {
    this.#token = `token-${this.#random.uuid()}`;
  }

  nameOf({ method, path }: CloudRequest): string {
    const [, command] = /^\/v1\/servers\/\d+\/actions\/(\w+)$/.exec(path) ?? [];
    if (method === 'POST' && command !== undefined) return `POST ${command}`;
    if (/^\/v1\/actions\/\d+$/.test(path)) return `${method} action`;
    if (/^\/v1\/servers\/\d+$/.test(path)) return `${method} server`;
    return path === '/v1/servers' ? `${method} servers` : `${method} ${path}`;
  }

  isSet(name: string): boolean {
    return name.startsWith('POST ');
  }

  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    return json(status, { error: { code, message, details: null } });
  }

  tooOften(): CloudAnswer {
    return this.failure({ status: 429, code: 'rate_limit_exceeded', message: 'rate limit exceeded' });
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    if (this.faults.refusesLogin === true || request.headers['authorization'] !== `Bearer ${this.#token}`)
      return this.failure({ status: 401, code: 'unauthorized', message: 'unable to authenticate' });
    if (name === 'GET servers') return this.#list(request);
    const [, id = '', action = ''] = /^\/v1\/(?:servers\/(\d+)|actions\/(\d+))/.exec(request.path) ?? [];
    if (name === 'GET action') return json(200, { action: this.#action(Number(action)) });
    const instance = this.faults.isReplaced === true ? undefined : this.instances.find((one) => one.id === id);
    if (instance === undefined) return this.failure({ status: 404, code: 'not_found', message: `server with ID '${id}' not found` });
    return name === 'GET server' ? json(200, { server: this.#shown(instance) }) : this.#changed(instance, name.slice('POST '.length));
  }

  #list({ query }: CloudRequest): CloudAnswer {
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 25)];
    const wanted = query.get('name');
    const all = this.instances.map((instance) => this.#shown(instance)).filter(({ name }) => wanted === null || name === wanted);
    const servers = all.slice((page - 1) * size, page * size);
    const next = page * size < all.length ? page + 1 : null;
    return json(200, { servers, meta: { pagination: { page, per_page: size, next_page: next, total_entries: all.length } } });
  }

  #shown(instance: EmulatedInstance): Record<string, unknown> & { name: string } {
    const { phase, machine } = instance;
    const { shows } = this.faults;
    const { isLocked, name, id, hidesLock } = this.oddities;
    const status = shows === undefined ? { status: WORDS[phase] } : shows === 'absent' ? {} : { status: shows };
    const isBusy = isLocked === true || phase === 'stopping' || phase === 'starting';
    return {
      id: id ?? Number(instance.id),
      name: name ?? machine.node,
      ...status,
      ...(hidesLock === true ? {} : { locked: isBusy }),
      rescue_enabled: false,
      public_net: { ipv4: { id: 1, ip: '203.0.113.7', blocked: false }, ipv6: null, floating_ips: [] },
      private_net: [{ network: 4711, ip: machine.address, alias_ips: [], mac_address: '86:00:ff:2a:7d:e1' }],
    };
  }

  #changed(instance: EmulatedInstance, command: string): CloudAnswer {
    const { isLocked, isReadOnly } = this.oddities;
    if (isReadOnly === true) return this.failure({ status: 403, code: 'token_readonly', message: 'token is only allowed to perform GET requests' });
    if (isLocked === true) return this.failure({ status: 423, code: 'locked', message: 'server is locked' });
    if (command === 'poweron') instance.start();
    else if (command === 'poweroff') instance.stop();
    else instance.told();
    this.#commands.push({ id: Number(instance.id), command, isFailed: this.faults.failsOperation === true });
    return json(201, { action: { ...this.#action(this.#commands.length), status: 'running', error: null } });
  }

  #action(id: number): object {
    const { command, isFailed, ...server } = this.#commands[id - 1] ?? { id: 0, command: '', isFailed: false };
    const error = isFailed ? { code: 'action_failed', message: 'Action failed' } : null;
    const resources = [{ id: server.id, type: 'server' }];
    return { id, command: `${command}_server`, status: isFailed ? 'error' : 'success', progress: 100, resources, error };
  }
}

function json(status: number, body: unknown): CloudAnswer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}
