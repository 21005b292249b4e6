import type { CloudAnswer, CloudProtocol, CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import type { EmulatedInstance } from './emulated-instance.ts';
import { ProxmoxMachine, type HaOddity } from './proxmox-machine.ts';
import { ServedCloud } from './served-cloud.ts';

/**
 * The API of Proxmox VE 8.2 and later, written from the API viewer (pve.proxmox.com/pve-docs/api-viewer) and the manual's chapters "Qemu/KVM Virtual
 * Machines" and "High Availability". No real one was compared.
 */
export const TOKEN_ID = 'fence@pve!nodefence';
export const USER = 'fence@pve';
const HOSTS = ['pve1', 'pve2'];
const API = '/api2/json';
const ONE = /^\/nodes\/([^/]+)\/qemu\/(\d+)\/(.+)$/;
const PROXY_WORDS: Readonly<Record<number, string>> = { 595: 'No route to host', 596: 'Connection timed out', 599: 'Too many redirections' };

/** Set by tests beside the faults that all clouds share. */
export interface ProxmoxOddities {
  /** HA of the first machine; absent: HA has none. */
  ha?: HaOddity;
  lock?: string;
  vmstate?: string;
  isTemplate?: true;
  isContainer?: true;
  /** A second machine of the same name, or with the same UUID. */
  twin?: 'name' | 'uuid';
  hasNoQuorum?: true;
  /** One host on its own is no cluster. */
  isAlone?: true;
  /** Hosts that the others do not see. */
  offline?: readonly string[];
  /** Where the first machine is; absent: on the first host. */
  host?: string;
  /** The first machine moves to the other host the moment in which its host is asked for it. */
  moves?: true;
  /** A version before 8.2. */
  hasNoOverrule?: true;
  /** Privileges that the user does not have, as the API names them with their path. */
  lacks?: readonly string[];
  /** Answers of the front where it does not reach the host. */
  proxyStatus?: number;
  /** A task of somebody else that runs, by its type. */
  runs?: string;
  /** The first machine starts with its host. */
  onboot?: true;
  /** Instead of the list of tasks there is null. */
  hidesTasks?: true;
  /** How tasks end; absent: OK. */
  exit?: string;
  /** Words stand in the status line only. */
  isSilent?: true;
  needsSecondFactor?: true;
  /** `status/current` without these. */
  hidden?: readonly string[];
  smbios?: string;
  /** The name of the first machine, where somebody gave it another one. */
  renamed?: string;
}

export const proxmoxCloud: CloudKind = {
  providerID: (_machine, index) => `proxmox://emulated/${100 + index}`,
  start: (options) => Proxmox.start(options),
};

export function pveOf(service: CloudService): Proxmox {
  if (!(service instanceof Proxmox)) throw new Error('no emulated Proxmox VE');
  return service;
}

class Proxmox extends ServedCloud implements CloudProtocol {
  readonly machines: readonly ProxmoxMachine[];
  readonly password: string;
  readonly tokenSecret: string;
  oddities: ProxmoxOddities = {};
  /** Forms of the sets that arrived. */
  readonly forms: string[] = [];
  readonly #options: CloudServiceOptions;
  readonly #tickets = new Map<string, string>();
  #tasks = 0;

  private constructor(options: CloudServiceOptions) {
    super();
    this.#options = options;
    this.password = `password-${options.random.uuid()}`;
    this.tokenSecret = options.random.uuid();
    this.machines = options.machines.map(
      (machine, index) =>
        new ProxmoxMachine(String(100 + index), machine, options.clock, () => ({
          faults: this.faults,
          ha: index === 0 ? this.oddities.ha : undefined,
        })),
    );
  }

  static async start(options: CloudServiceOptions): Promise<Proxmox> {
    const proxmox = new Proxmox(options);
    await proxmox.serve(proxmox, options);
    return proxmox;
  }

  override get instances(): readonly EmulatedInstance[] {
    return this.machines.map(({ instance }) => instance);
  }

  override get variables(): Readonly<Record<string, string>> {
    return { PROXMOX_VE_ENDPOINT: this.url, PROXMOX_VE_API_TOKEN: `${TOKEN_ID}=${this.tokenSecret}` };
  }

  override async close(): Promise<void> {
    for (const machine of this.machines) machine.close();
    await super.close();
  }

  protected override forget(): void {
    this.#tickets.clear();
  }

  nameOf({ method, path, query }: CloudRequest): string {
    const rest = path.startsWith(API) ? path.slice(API.length) : path;
    const [, , , last] = ONE.exec(rest) ?? [];
    if (last !== undefined)
      return `${method} ${last.replace(/^status\//, '')}${last === 'config' && query.get('current') !== '1' ? ' as it will be' : ''}`;
    if (/^\/nodes\/[^/]+\/tasks/.test(rest)) return `${method} ${rest.endsWith('/status') ? 'task' : 'tasks'}`;
    if (rest.startsWith('/cluster/ha/')) return `${method} ha`;
    return `${method} ${rest.slice(1)}`;
  }

  isSet(name: string): boolean {
    return /^POST (?!access)/.test(name);
  }

  failure({ status, message }: { status: number; message: string }): CloudAnswer {
    return this.#failed(status, message);
  }

  tooOften(): CloudAnswer {
    return { status: 429, headers: { 'Retry-After': '1' }, body: 'Too Many Requests' };
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    if (name === 'POST access/ticket') return this.#login(request);
    const refused = this.#stranger(request);
    if (refused !== undefined) return refused;
    const path = request.path.slice(API.length);
    if (name === 'GET access/permissions') return this.#permissions(request.query.get('path') ?? '');
    if (name === 'GET cluster/resources') return data(this.machines.flatMap((machine, index) => this.#listed(machine, index)));
    if (name === 'GET cluster/status') return this.#lacking('/', 'Sys.Audit') ?? data(this.#members());
    if (name === 'GET ha') return this.#ha(path);
    const [, host = ''] = /^\/nodes\/([^/]+)\//.exec(path) ?? [];
    const { proxyStatus } = this.oddities;
    if (proxyStatus !== undefined) return this.#failed(proxyStatus, PROXY_WORDS[proxyStatus] ?? 'proxy error');
    if (this.oddities.offline?.includes(host) === true) return this.#failed(595, 'No route to host');
    if (name === 'GET task')
      return data({ status: 'stopped', exitstatus: this.faults.failsOperation === true ? 'got timeout' : (this.oddities.exit ?? 'OK') });
    if (name === 'GET tasks') return data(this.oddities.hidesTasks === true ? null : this.#running(request.query.get('vmid') ?? undefined));
    return this.#ofMachine(request, host, path);
  }

  #ofMachine(request: CloudRequest, host: string, path: string): CloudAnswer {
    const [, , vmid = '', what = ''] = ONE.exec(path) ?? [];
    const index = this.machines.findIndex((machine) => machine.instance.id === vmid);
    const machine = this.machines[index];
    if (index === 0 && this.oddities.moves === true) Object.assign(this.oddities, { host: HOSTS[1], moves: undefined });
    if (machine === undefined || this.#hostOf(index) !== host)
      return this.#failed(500, `Configuration file 'nodes/${host}/qemu-server/${vmid}.conf' does not exist`);
    if (what === 'config') return this.#lacking(`/vms/${vmid}`, 'VM.Audit') ?? data(this.#config(machine, index));
    if (what === 'status/current') return this.#lacking(`/vms/${vmid}`, 'VM.Audit') ?? data(this.#current(machine, index));
    return this.#lacking(`/vms/${vmid}`, 'VM.PowerMgmt') ?? this.#switched(request, machine, what.replace('status/', ''), host);
  }

  #hostOf(index: number): string {
    return (index === 0 ? (this.oddities.host ?? HOSTS[0]) : HOSTS[1]) ?? '';
  }

  #login({ body }: CloudRequest): CloudAnswer {
    const form = new URLSearchParams(body);
    const user = form.get('username') ?? '';
    if (this.faults.refusesLogin === true || form.get('password') !== this.password || ![USER, 'root@pam'].includes(user))
      return this.#failed(401, 'authentication failure');
    if (this.oddities.needsSecondFactor === true) return data({ username: user, ticket: 'PVE:!tfa!abc', CSRFPreventionToken: 'x', NeedTFA: 1 });
    const ticket = `PVE:${user}:${this.#options.random.uuid()}`;
    const csrf = `csrf-${this.#options.random.uuid()}`;
    this.#tickets.set(ticket, csrf);
    return data({ username: user, ticket, CSRFPreventionToken: csrf });
  }

  #stranger({ method, headers }: CloudRequest): CloudAnswer | undefined {
    const given = headers['authorization'] ?? '';
    if (given.startsWith('PVEAPIToken=')) {
      const isKnown = given === `PVEAPIToken=${TOKEN_ID}=${this.tokenSecret}` && this.faults.refusesLogin !== true;
      return isKnown ? undefined : this.#failed(401, 'invalid token value!');
    }
    const csrf = this.#tickets.get((headers['cookie'] ?? '').replace(/^PVEAuthCookie=/, ''));
    if (csrf === undefined) return this.#failed(401, 'permission denied - invalid PVE ticket');
    return method === 'GET' || headers['csrfpreventiontoken'] === csrf ? undefined : this.#failed(401, 'Permission denied - invalid csrf token');
  }

  #lacking(path: string, privilege: string): CloudAnswer | undefined {
    return this.oddities.lacks?.includes(`${privilege} ${path}`) === true
      ? this.#failed(403, `Permission check failed (${path}, ${privilege})`)
      : undefined;
  }

  #permissions(path: string): CloudAnswer {
    const held = ['VM.Audit', 'VM.PowerMgmt', 'Sys.Audit'].filter((privilege) => this.oddities.lacks?.includes(`${privilege} ${path}`) !== true);
    return data({ [path]: Object.fromEntries(held.map((privilege) => [privilege, 1])) });
  }

  #listed(machine: ProxmoxMachine, index: number): object[] {
    const { twin, isTemplate, isContainer } = this.oddities;
    const node = this.#hostOf(index);
    const kind = index === 0 && isContainer === true ? 'lxc' : 'qemu';
    const { id } = machine.instance;
    const isSeen = this.oddities.offline?.includes(node) !== true;
    const entry = {
      id: `${kind}/${id}`,
      type: kind,
      vmid: Number(id),
      node,
      name: twin === 'name' ? 'a' : this.#nameOf(machine, index),
      status: isSeen ? machine.shown().status : 'unknown',
      template: index === 0 && isTemplate === true ? 1 : 0,
      ...(index === 0 && this.oddities.ha !== undefined ? { hastate: machine.haState ?? 'queued' } : {}),
    };
    return [entry];
  }

  #nameOf(machine: ProxmoxMachine, index: number): string {
    return index === 0 ? (this.oddities.renamed ?? machine.instance.machine.node) : machine.instance.machine.node;
  }

  #members(): object[] {
    const { isAlone, hasNoQuorum, offline = [] } = this.oddities;
    const nodes = HOSTS.slice(0, isAlone === true ? 1 : 2).map((name, index) => ({
      type: 'node',
      id: `node/${name}`,
      name,
      nodeid: index + 1,
      online: offline.includes(name) ? 0 : 1,
      local: index === 0 ? 1 : 0,
    }));
    const cluster = { type: 'cluster', id: 'cluster', name: 'emulated', nodes: 2, version: 2, quorate: hasNoQuorum === true ? 0 : 1 };
    return isAlone === true ? nodes : [cluster, ...nodes];
  }

  #ha(path: string): CloudAnswer {
    const sid = decodeURIComponent(path.split('/').at(-1) ?? '');
    const machine = this.machines.find(({ instance }) => `vm:${instance.id}` === sid);
    if (machine === undefined || this.oddities.ha === undefined) return this.#failed(500, `no such resource '${sid}'`);
    return (
      this.#lacking('/', 'Sys.Audit') ??
      data({ sid, type: 'vm', digest: 'x', ...(machine.requested === undefined ? {} : { state: machine.requested }) })
    );
  }

  #config(machine: ProxmoxMachine, index: number): object {
    const { twin, smbios, vmstate, lock, isTemplate } = this.oddities;
    const other = this.faults.isReplaced === true ? 'ffffffff-1111-4222-8333-444444444444' : undefined;
    const uuid = other ?? (twin === 'uuid' ? this.machines[0]?.instance.machine.uuid : machine.instance.machine.uuid) ?? '';
    return {
      name: this.#nameOf(machine, index),
      smbios1: smbios ?? `uuid=${uuid}`,
      digest: 'x',
      ...(index === 0 && lock !== undefined ? { lock } : {}),
      ...(index === 0 && vmstate !== undefined ? { vmstate } : {}),
      ...(index === 0 && isTemplate === true ? { template: 1 } : {}),
      ...(index === 0 && this.oddities.onboot === true ? { onboot: 1 } : {}),
    };
  }

  #current(machine: ProxmoxMachine, index: number): object {
    const { shows } = this.faults;
    const { lock, hidden = [], ha } = this.oddities;
    const truth = machine.shown();
    const [status, qmpstatus] = shows === undefined ? [truth.status, truth.qmpstatus] : shows === null ? [null, null] : pairOf(shows);
    const all = {
      vmid: Number(machine.instance.id),
      name: machine.instance.machine.node,
      status,
      qmpstatus,
      ...(status === 'running' ? { pid: 4_711 } : {}),
      ha: index === 0 && ha !== undefined ? { managed: 1, state: machine.haState } : { managed: 0 },
      ...(index === 0 && lock !== undefined ? { lock } : {}),
    };
    const without = shows === 'absent' ? ['status', 'qmpstatus'] : hidden;
    return Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)));
  }

  /** Those of one machine alone where `vmid` is given: a task of the host for all of its machines names none. */
  #running(vmid: string | undefined): object[] {
    const { runs } = this.oddities;
    const over = { upid: 'UPID:pve1:1:1:1:qmstart:100:root@pam:', type: 'qmstart', id: '100', endtime: 5, status: 'OK' };
    const id = runs === 'startall' ? '' : '100';
    const all = runs === undefined ? [over] : [over, { upid: `UPID:pve1:2:2:2:x:${id}:root@pam:`, type: runs, id, status: 'RUNNING' }];
    return all.filter((task) => vmid === undefined || task.id === vmid);
  }

  #switched({ body }: CloudRequest, machine: ProxmoxMachine, action: string, host: string): CloudAnswer {
    const form = new URLSearchParams(body);
    this.forms.push(`${action} ${body}`.trim());
    const isManaged = machine.haState !== undefined || (this.oddities.ha !== undefined && machine === this.machines[0]);
    const words = isManaged
      ? 'Not applicable for HA resources.'
      : 'property is not defined in schema and the schema does not allow additional properties';
    if (form.has('overrule-shutdown') && (isManaged || this.oddities.hasNoOverrule === true))
      return this.#failed(400, 'Parameter verification failed.', { 'overrule-shutdown': words });
    const isLocked = machine === this.machines[0] && this.oddities.lock !== undefined && form.get('skiplock') !== '1';
    if (action === 'stop') machine.stop(isManaged, isLocked);
    else if (action === 'start') machine.start(isManaged, isLocked);
    else machine.instance.told();
    this.#tasks += 1;
    const type = `${isManaged ? 'ha' : 'qm'}${action}`;
    return data(`UPID:${host}:${this.#tasks.toString(16).padStart(8, '0')}:00000001:00000001:${type}:${machine.instance.id}:${TOKEN_ID}:`);
  }

  /** Words stand in the status line, and in newer versions in the body too. */
  #failed(status: number, message: string, errors?: Readonly<Record<string, string>>): CloudAnswer {
    const body = { data: null, ...(this.oddities.isSilent === true ? {} : { message: `${message}\n` }), ...(errors === undefined ? {} : { errors }) };
    return { ...json(status, body), reason: message };
  }
}

function pairOf(shows: string): [string, string] {
  const [status = '', qmpstatus] = shows.split(' ');
  return [status, qmpstatus ?? status];
}

function data(value: unknown): CloudAnswer {
  return json(200, { data: value });
}

function json(status: number, body: unknown): CloudAnswer {
  return { status, headers: { 'Content-Type': 'application/json;charset=UTF-8' }, body: JSON.stringify(body) };
}
