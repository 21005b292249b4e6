import type { CloudAnswer, CloudProtocol, CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance, type InstancePhase } from './emulated-instance.ts';
import { CLUSTER, hostsShown, permissionsShown } from './ovirt-surroundings.ts';
import { asJson, asXml, type Written } from './ovirt-writing.ts';
import { ServedCloud } from './served-cloud.ts';

/**
 * oVirt's engine, API version 4, written from its API model (oVirt/ovirt-engine-api-model: "REST API Guide", `VmStatus`, `HostStatus`) and, where that is
 * silent, from what the engine's own source says: faults, which states a stop is refused in. No real one was compared.
 */
const API = '/ovirt-engine/api';
const SSO = '/ovirt-engine/sso/oauth/token';
const LOGOUT = '/ovirt-engine/services/sso-logout';
export const USER = 'fence@internal';
const OTHER_ID = 'ffffffff-1111-4222-8333-444444444444';
const STATUS: Readonly<Record<InstancePhase, string>> = { running: 'up', stopping: 'powering_down', stopped: 'down', starting: 'wait_for_launch' };

/** Set by tests beside the faults that all clouds share. */
export interface OvirtOddities {
  isHighlyAvailable?: true;
  hasLease?: true;
  /** Of the host `host-1`; `hidden`: no host is shown to the user. */
  hostStatus?: string;
  statusDetail?: string;
  /** A machine of another name is found by each search, or one of the same name. */
  twin?: 'near' | 'same';
  /** An engine before 4.0. */
  hasNoTokens?: true;
  /** Permits that no role of the user has, or `unshown`. */
  lacks?: readonly string[] | 'unshown';
  /** Whatever is asked for, the other machine is shown. */
  showsOther?: true;
}

export const ovirtCloud: CloudKind = {
  providerID: ({ uuid }) => `ovirt://${uuid}`,
  start: (options) => Engine.start(options),
};

/** The emulated engine of a service that `ovirtCloud` started. */
export function engineOf(service: CloudService): Engine {
  if (service instanceof Engine) return service;
  throw new Error('no engine');
}

class Engine extends ServedCloud implements CloudProtocol {
  oddities: OvirtOddities = {};
  override readonly instances: readonly EmulatedInstance[];
  readonly password: string;
  /** What was said with the last stop. */
  readonly reasons = new Map<string, string>();
  /** Headers of the last request. */
  headers: Readonly<Record<string, string>> = {};
  readonly #options: CloudServiceOptions;
  readonly #tokens = new Set<string>();

  private constructor(options: CloudServiceOptions) {
    super();
    this.#options = options;
    this.password = `pass "word" & ${options.random.uuid()}`;
    this.instances = options.machines.map((machine) => new EmulatedInstance(machine.uuid, machine, options.clock, () => this.faults));
  }

  static async start(options: CloudServiceOptions): Promise<Engine> {
    const engine = new Engine(options);
    await engine.serve(engine, options);
    return engine;
  }

  override get variables(): Readonly<Record<string, string>> {
    return { OVIRT_URL: `${this.url}${API}`, OVIRT_USERNAME: USER, OVIRT_PASSWORD: this.password };
  }

  protected override forget(): void {
    this.#tokens.clear();
  }

  protected override get sessions(): number {
    return this.#tokens.size;
  }

  /** Each request passes here first. */
  nameOf({ method, path, headers }: CloudRequest): string {
    this.headers = headers;
    if (path === SSO) return 'POST token';
    if (path === LOGOUT) return 'POST logout';
    const [kind = '', id = '', action = ''] = path
      .slice(API.length)
      .split('/')
      .filter((part) => part !== '');
    if (action !== '') return `${method} ${action}`;
    return `${method} ${kind === '' ? 'api' : id === '' ? kind : kind.replace(/s$/, '')}`;
  }

  isSet(name: string): boolean {
    return /^POST (?!token|logout)/.test(name);
  }

  /** A fault of the API; with a code, an error of the single sign-on. */
  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    if (code !== '') return json(status, { error_code: code, error: message });
    return this.#written(status, 'fault', { detail: `[${message}]`, reason: 'Operation Failed' });
  }

  /** Of the web server in front of the engine. */
  tooOften(): CloudAnswer {
    return html(503, 'Service Unavailable');
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    if (name === 'POST token') return this.#login(request.body);
    if (name === 'POST logout') return this.#logout(request.body);
    if (!request.path.startsWith(API)) return html(404, 'Not Found');
    if (!this.#isKnown(request.headers['authorization'] ?? '')) return html(401, 'Unauthorized');
    const id = /\/vms\/([^/]+)/.exec(request.path)?.[1];
    switch (name) {
      case 'GET api':
        return this.#written(200, 'api', { product_info: { name: 'oVirt Engine' } });
      case 'GET vms':
        return this.#written(200, 'vms', { vm: this.#found(request.query.get('search')) });
      case 'GET hosts':
        return this.#written(200, 'hosts', { host: hostsShown(this.oddities.hostStatus) });
      default:
        return this.#asked(name, id ?? '', request.body);
    }
  }

  #login(body: string): CloudAnswer {
    if (this.oddities.hasNoTokens === true) return html(404, 'Not Found');
    const form = new URLSearchParams(body);
    const isWell = form.get('grant_type') === 'password' && form.get('scope') === 'ovirt-app-api' && this.faults.refusesLogin !== true;
    if (!isWell || form.get('username') !== USER || form.get('password') !== this.password)
      return json(400, {
        error_code: 'access_denied',
        error: `Cannot authenticate user '${form.get('username') ?? ''}': Unable to log in. Verify your login information.`,
      });
    const token = `token-${this.#options.random.uuid()}`;
    const { noise, truncates, stalls } = this.faults;
    // What nobody could read is nobody's session.
    if (noise !== true && truncates !== true && stalls !== true) this.#tokens.add(token);
    return json(200, { access_token: token, scope: 'ovirt-app-api', exp: '9223372036854775807', token_type: 'bearer' });
  }

  #logout(body: string): CloudAnswer {
    this.#tokens.delete(new URLSearchParams(body).get('token') ?? '');
    return json(200, {});
  }

  #isKnown(authorization: string): boolean {
    const [, basic] = /^Basic (.+)$/.exec(authorization) ?? [];
    if (basic !== undefined) return this.faults.refusesLogin !== true && Buffer.from(basic, 'base64').toString() === `${USER}:${this.password}`;
    return this.#tokens.has(authorization.replace(/^Bearer /, ''));
  }

  #asked(name: string, id: string, body: string): CloudAnswer {
    const { isReplaced } = this.faults;
    const instance = this.instances.find((each) => each.id === id);
    if (instance === undefined || (isReplaced === true && instance === this.instances[0])) return html(404, 'Not Found');
    if (name === 'GET vm')
      return this.#written(200, 'vm', this.#shown(this.oddities.showsOther === true ? (this.instances[1] ?? instance) : instance));
    if (name === 'GET permissions') return this.#written(200, 'permissions', { permission: permissionsShown(this.oddities.lacks) });
    if (name === 'POST stop') return this.#stopped(instance, body);
    if (name === 'POST start') return this.#started(instance);
    instance.told();
    return this.#conflict(`${name} is not emulated`);
  }

  /** `StopVmCommandBase.validate`: a machine whose host is lost is called not running. */
  #stopped(instance: EmulatedInstance, body: string): CloudAnswer {
    const status = this.#statusOf(instance);
    if (status === 'saving_state' || status === 'restoring_state')
      return this.#conflict('Cannot stop VM. VM is in saving/restoring state. Please try again when the VM is either up or down.');
    if (['unknown', 'unassigned', 'image_locked'].includes(status ?? '')) return this.#conflict('Cannot stop VM. VM is not running.');
    instance.stop();
    if (this.faults.failsOperation === true) return this.#failed();
    this.reasons.set(instance.id, /"reason":"([^"]*)"/.exec(body)?.[1] ?? '');
    return this.#written(200, 'action', { job: { id: this.#options.random.uuid() }, status: 'complete' });
  }

  #started(instance: EmulatedInstance): CloudAnswer {
    if (this.#statusOf(instance) === 'up') return this.#conflict('Cannot run VM. VM is running.');
    instance.start();
    if (this.faults.failsOperation === true) return this.#failed();
    this.reasons.delete(instance.id);
    return this.#written(200, 'action', { job: { id: this.#options.random.uuid() }, status: 'complete' });
  }

  /** It broke on its way to the host. */
  #failed(): CloudAnswer {
    return this.failure({ status: 400, code: '', message: 'Network error during communication with the Host.' });
  }

  #conflict(message: string): CloudAnswer {
    return this.failure({ status: 409, code: '', message });
  }

  /** Undefined: none is shown. */
  #statusOf(instance: EmulatedInstance): string | null | undefined {
    const { shows } = this.faults;
    return shows === undefined ? STATUS[instance.phase] : shows === 'absent' ? undefined : shows;
  }

  #shown(instance: EmulatedInstance, change: Record<string, Written> = {}): Record<string, Written> {
    const { isHighlyAvailable, hasLease, statusDetail } = this.oddities;
    const status = this.#statusOf(instance);
    const reason = this.reasons.get(instance.id);
    return {
      ...{ id: instance.id, href: `${API}/vms/${instance.id}`, name: instance.machine.node },
      ...(status === undefined ? {} : { status }),
      ...(statusDetail === undefined ? {} : { status_detail: statusDetail }),
      ...(reason === undefined ? {} : { stop_reason: reason }),
      high_availability: { enabled: String(isHighlyAvailable === true), priority: '1' },
      cluster: { id: CLUSTER, href: `${API}/clusters/${CLUSTER}` },
      ...(hasLease === true ? { lease: { storage_domain: { id: '33333333-aaaa-4bbb-8ccc-dddddddddddd' } } } : {}),
      ...change,
    };
  }

  /** `name="a"`, `name=a`; `*` stands for anything. */
  #found(search: string | null): Record<string, Written>[] {
    const wanted = /^\s*name\s*=\s*"?([^"]*)"?\s*$/.exec(search ?? 'name=*')?.[1] ?? '';
    const pattern = new RegExp(
      `^${wanted
        .split('*')
        .map((part) => part.replaceAll(/[.\\+?^${}()|[\]]/g, '\\$&'))
        .join('.*')}$`,
    );
    const found = this.instances.filter(({ machine }) => pattern.test(machine.node));
    const [first] = found;
    const { twin } = this.oddities;
    const replaced = (instance: EmulatedInstance): Record<string, Written> =>
      this.#shown(instance, this.faults.isReplaced === true && instance === this.instances[0] ? { id: OTHER_ID } : {});
    if (first === undefined || twin === undefined) return found.map(replaced);
    return [this.#shown(first, { id: OTHER_ID, name: twin === 'near' ? `${first.machine.node}-2` : first.machine.node }), ...found.map(replaced)];
  }

  /** In what whoever asks accepts. */
  #written(status: number, name: string, value: Record<string, Written>): CloudAnswer {
    if (!(this.headers['accept'] ?? '').includes('json'))
      return { status, headers: { 'Content-Type': 'application/xml;charset=UTF-8' }, body: asXml(name, value) };
    return { status, headers: { 'Content-Type': 'application/json;charset=UTF-8' }, body: asJson(value) };
  }
}

function json(status: number, body: unknown): CloudAnswer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

function html(status: number, words: string): CloudAnswer {
  return { status, headers: { 'Content-Type': 'text/html' }, body: `<html><head><title>Error</title></head><body>${words}</body></html>` };
}
