import type { CloudAnswer, CloudRequest } from './cloud-server.ts';
import type { EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';
import { json } from './keystone.ts';
import { NovaServices, type ServiceOddities } from './nova-services.ts';
import { SERVER_SAMPLE } from './nova-server.ts';

export interface NovaEvent {
  event: string;
  result: 'Success' | 'Error' | null;
  hostId?: string;
}

/** As nova records what is done with a server. */
export interface NovaAction {
  action: string;
  requestId: string;
  startTime: string;
  events: NovaEvent[];
}

/** What may be odd with the compute service. */
export interface NovaOddities extends ServiceOddities {
  /** Shown to everybody here; nova shows it to admins, from microversion 2.16. */
  hostStatus?: string;
  /** Members of the server that are shown otherwise; undefined leaves them out. */
  shown?: Readonly<Record<string, unknown>>;
  /** Newest microversion; `none`: a service from before there were any. */
  newest?: number | 'none';
  isLocked?: true;
  hidesActions?: true;
  hostId?: string;
  /** A name that all servers bear. */
  name?: string;
}

const HOST_ID = SERVER_SAMPLE.hostId;

/**
 * Nova's compute API v2.1, written from its api-ref ("Servers", "Servers - run an action", "Servers - list instance actions", "Microversions"), from
 * nova/compute/api.py and manager.py at 00a030403f for what a stop does to vm_state, task_state and recorded actions, and from recorded samples.
 */
export class Nova {
  readonly instances: readonly EmulatedInstance[];
  /** Of every instance, newest first. */
  readonly actions: ReadonlyMap<string, NovaAction[]>;
  readonly services: NovaServices;
  readonly #faults: () => CloudFaults;
  readonly #oddities: NovaOddities;
  readonly #isAdmin: () => boolean;
  #requests = 0;

  constructor(instances: readonly EmulatedInstance[], faults: () => CloudFaults, oddities: NovaOddities, isAdmin: () => boolean) {
    this.instances = instances;
    this.#faults = faults;
    this.#oddities = oddities;
    this.#isAdmin = isAdmin;
    this.services = new NovaServices(instances, oddities);
    const ended = (action: string, event: string): NovaAction => this.#action(action, [{ event, result: 'Success', hostId: HOST_ID }]);
    this.actions = new Map(
      instances.map(({ id, phase }) => [
        id,
        [...(phase === 'stopped' ? [ended('stop', 'compute_stop_instance')] : []), ended('create', 'compute__do_build_and_run_instance')],
      ]),
    );
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    const asked = /^compute (\d+)\.(\d+)$/.exec(request.headers['openstack-api-version'] ?? '')?.[2];
    const { newest = 96 } = this.#oddities;
    const version = newest === 'none' ? 1 : Number(asked ?? 1);
    if (name === 'GET version')
      return json(200, { version: { id: 'v2.1', status: 'CURRENT', version: newest === 'none' ? '' : `2.${newest}`, min_version: '2.1' } });
    if (newest !== 'none' && version > newest)
      return fault(406, 'computeFault', `Version 2.${version} is not supported by the API. Minimum is 2.1 and maximum is 2.${newest}.`);
    this.#settle();
    if (/services?$|evacuate$/.test(name) || request.query.has('host')) {
      if (!this.#isAdmin()) return fault(403, 'forbidden', "Policy doesn't allow this to be performed.");
    }
    if (name === 'GET services') return this.services.list(request);
    if (name === 'PUT service') return this.services.change(request);
    if (name === 'GET servers') return this.#list(request, version);
    const [, id = '', requestId = ''] = /\/servers\/([^/]+)(?:\/\S+?\/([^/]+))?/.exec(request.path) ?? [];
    const instance = this.#faults().isReplaced === true ? undefined : this.instances.find((one) => one.id === id);
    if (instance === undefined) return fault(404, 'itemNotFound', `Instance ${id} could not be found.`);
    if (name === 'GET server') return json(200, { server: this.#shown(instance, version) });
    if (name === 'GET actions' || name === 'GET action') return this.#recorded(instance, name === 'GET action' ? requestId : undefined, version);
    return name === 'POST evacuate' ? this.services.evacuate(id) : this.#changed(instance, name);
  }

  /** Something that somebody else did with it. */
  record(id: string, action: string, events: NovaEvent[], ageMs = 0): void {
    this.actions.get(id)?.unshift(this.#action(action, events, ageMs));
  }

  /** A stop ends when the guest is off: nova-compute says so by its event. */
  #settle(): void {
    for (const { id, phase } of this.instances)
      for (const event of phase === 'stopped' ? (this.actions.get(id) ?? []).flatMap(({ events }) => events) : [])
        if (event.event === 'compute_stop_instance' && event.result === null) event.result = 'Success';
  }

  #changed(instance: EmulatedInstance, name: string): CloudAnswer {
    const isStop = name === 'POST os-stop';
    const { failsOperation } = this.#faults();
    if (this.#oddities.isLocked === true && !this.#isAdmin()) {
      instance.commands.push({ wanted: isStop ? 'off' : 'on' });
      return fault(409, 'conflictingRequest', `Instance ${instance.id} is locked`);
    }
    const { vm, task } = this.#states(instance);
    const verb = isStop ? 'stop' : 'start';
    if (task !== null || vm !== (isStop ? 'active' : 'stopped')) {
      instance.commands.push({ wanted: isStop ? 'off' : 'on' });
      const [what, state] = task === null ? ['vm_state', vm] : ['task_state', task];
      return fault(409, 'conflictingRequest', `Cannot '${verb}' instance ${instance.id} while it is in ${what} ${state}`);
    }
    const action = this.#action(verb, [
      { event: `compute_${verb}_instance`, result: failsOperation === true ? 'Error' : null, hostId: this.#hostId },
    ]);
    this.actions.get(instance.id)?.unshift(action);
    if (failsOperation === true) instance.commands.push({ wanted: isStop ? 'off' : 'on' });
    else if (isStop) instance.stop();
    else instance.start();
    return { status: 202, headers: { 'x-openstack-request-id': action.requestId, 'x-compute-request-id': action.requestId }, body: '' };
  }

  get #hostId(): string {
    return this.#oddities.hostId ?? HOST_ID;
  }

  #action(action: string, events: NovaEvent[], ageMs = 0): NovaAction {
    this.#requests += 1;
    const now = Date.now() + (this.#faults().aheadMs ?? 0) - ageMs;
    const startTime = new Date(now).toISOString().replace('Z', '000');
    return { action, requestId: `req-${String(this.#requests).padStart(8, '0')}-1527-4669-bdf0-ffad31b5105b`, startTime, events };
  }

  #states({ phase }: EmulatedInstance): { status: string; vm: string; task: string | null; power: number } {
    switch (phase) {
      case 'running':
        return { status: 'ACTIVE', vm: 'active', task: null, power: 1 };
      case 'stopping':
        return { status: 'ACTIVE', vm: 'active', task: 'powering-off', power: 1 };
      case 'stopped':
        return { status: 'SHUTOFF', vm: 'stopped', task: null, power: 4 };
      case 'starting':
        return { status: 'SHUTOFF', vm: 'stopped', task: 'powering-on', power: 4 };
    }
  }

  #shown(instance: EmulatedInstance, version: number): unknown {
    const { hostStatus, shown = {}, isLocked, name } = this.#oddities;
    const { status, vm, task, power } = this.#states(instance);
    const { shows } = this.#faults();
    const { machine, id } = instance;
    const address = { addr: machine.address, version: 4, 'OS-EXT-IPS:type': 'fixed', 'OS-EXT-IPS-MAC:mac_addr': '00:0c:29:0d:11:74' };
    const floating = { addr: '203.0.113.7', version: 4, 'OS-EXT-IPS:type': 'floating', 'OS-EXT-IPS-MAC:mac_addr': '00:0c:29:0d:11:74' };
    const server: Record<string, unknown> = {
      ...SERVER_SAMPLE,
      id,
      name: name ?? machine.node,
      hostId: this.#hostId,
      addresses: { private: [address, floating] },
      updated: `${this.actions.get(id)?.[0]?.startTime.slice(0, 19) ?? '2013-09-03T04:01:33'}Z`,
      status: shows ?? status,
      'OS-EXT-STS:vm_state': vm,
      'OS-EXT-STS:task_state': task,
      'OS-EXT-STS:power_state': power,
      locked: isLocked === true,
      host_status: hostStatus ?? 'UP',
      ...(shows === null ? { status: null } : {}),
      ...shown,
      ...this.#oddities.states?.[id],
    };
    if (shows === 'absent') delete server['status'];
    if (version < 16 || (hostStatus === undefined && !this.#isAdmin())) delete server['host_status'];
    if (version < 9) delete server['locked'];
    return server;
  }

  #list({ query }: CloudRequest, version: number): CloudAnswer {
    const pattern = new RegExp(query.get('name') ?? '');
    const host = query.get('host');
    const servers = this.instances
      .filter(({ id, machine }) => pattern.test(this.#oddities.name ?? machine.node) && (host === null || this.services.hosts.get(id) === host))
      .map((one) => this.#shown(one, version));
    return json(200, { servers });
  }

  #recorded({ id }: EmulatedInstance, requestId: string | undefined, version: number): CloudAnswer {
    const policy = `os_compute_api:os-instance-actions:${requestId === undefined ? 'list' : 'show'}`;
    if (this.#oddities.hidesActions === true) return fault(403, 'forbidden', `Policy doesn't allow ${policy} to be performed.`);
    const all = this.actions.get(id) ?? [];
    if (requestId === undefined) return json(200, { instanceActions: all.map((one) => described(one)) });
    const action = all.find((one) => one.requestId === requestId);
    if (action === undefined) return fault(404, 'itemNotFound', `Action ${requestId} not found`);
    const events = action.events.map(({ event, result, hostId }) => ({
      event,
      result,
      start_time: action.startTime,
      finish_time: result === null ? null : action.startTime,
      ...(version >= 62 ? { hostId } : {}),
    }));
    return json(200, { instanceAction: { ...described(action), ...(version >= 51 || this.#isAdmin() ? { events } : {}) } });
  }
}

function described({ action, requestId, startTime, events }: NovaAction): Record<string, unknown> {
  const message = events.some(({ result }) => result === 'Error') ? 'Error' : null;
  return { action, request_id: requestId, start_time: startTime, message, project_id: SERVER_SAMPLE.tenant_id, user_id: 'fake' };
}

/** As nova words it: the name of the fault is the only key. */
export function fault(status: number, name: string, message: string): CloudAnswer {
  return json(status, { [name]: { code: status, message } });
}
