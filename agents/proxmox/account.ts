import type { Outcome, PlugEntry } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import type { CloudAccount, InstanceView, MachineFacts } from '../shared/cloud/instance.ts';
import { sentOnce } from '../shared/cloud/repeat.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { textAt } from '../shared/web/web-client.ts';
import { PveApi, PveRefusal } from './api.ts';
import { configPath, Finder, pathOf } from './finding.ts';
import {
  configuredIn,
  listedIn,
  managedIn,
  runningTasksIn,
  staleness,
  stateOf,
  TASKS_MAX,
  vmidIn,
  type Configured,
  type Listed,
  type Requested,
} from './machine.ts';
import { isSameUUID, isUUID, isVmid, plugProblem, providedMachine, type ProxmoxSettings } from './parameters.ts';
import { missingPrivileges } from './permissions.ts';
import { AskedTasks } from './tasks.ts';

const LIST_MAX = 1_000;
const KEPT_MAX = 1_000;

/** What a set relies on. */
interface Place {
  machine: Listed;
  configured: Configured;
}

/** One cluster of Proxmox VE, or one host on its own. */
export class ProxmoxAccount implements CloudAccount {
  readonly #api: PveApi;
  readonly #finder: Finder;
  /** Where the machine of a plug was last; each use shows whether it still is there. */
  readonly #kept = new Map<string, Listed>();
  readonly #tasks: AskedTasks;
  readonly #places = new WeakMap<InstanceView, Place>();

  constructor(settings: ProxmoxSettings, reach: Reach) {
    this.#api = new PveApi(settings, reach);
    this.#finder = new Finder(this.#api, reach.clock);
    this.#tasks = new AskedTasks(this.#api);
  }

  async read(call: Call): Promise<InstanceView> {
    return this.#told(call, async () => this.#again(() => this.#view(call)));
  }

  /** A machine moves: its host shows its configuration only while it has it. */
  async identify(call: Call): Promise<InstanceView> {
    return this.#told(call, async () => {
      const kept = this.#kept.get(call.target.plug);
      if (kept !== undefined) {
        try {
          return await this.#identified(call, kept);
        } catch (error) {
          if (!hasMoved(error)) throw error;
          this.#kept.delete(call.target.plug);
        }
      }
      return this.#again(async () => this.#identified(call, (await this.#found(call)).machine));
    });
  }

  async set(call: Call, view: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const place = this.#places.get(view);
    if (place === undefined) throw call.error('NotSent', 'the machine was not looked at');
    const { machine, configured } = place;
    this.#tasks.forget(machine.vmid);
    const name = state === 'off' ? 'stop' : 'start';
    const form = state === 'off' ? await this.#stopForm(call, machine, configured) : {};
    const gate = (): void => call.target.beforeSend();
    return sentOnce(call, async () => {
      try {
        return await this.#sent(call, machine, { name, form, wanted: state, gate });
      } catch (error) {
        if (!(error instanceof PveRefusal)) throw error;
        // 595: it could not even be handed to the host. What broke otherwise may have been done: reads decide.
        if (error.status === 595) throw call.error('Unreachable', `${error.message} (${name}: ${machine.host})`);
        if (error.status >= 500) return { result: 'unclear', detail: `${name}: ${error.message}` };
        throw await this.#refusal(call, error);
      }
    });
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    return this.#told(call, async () => {
      const machines = listedIn(await this.#api.get(call, '/cluster/resources?type=vm')).filter(
        ({ kind, isTemplate }) => kind === 'qemu' && !isTemplate,
      );
      return machines.slice(0, LIST_MAX).map(({ vmid, name }) => ({ plug: vmid, ...(name === undefined ? {} : { alias: name }) }));
    });
  }

  close(): Promise<void> {
    this.#api.close();
    return Promise.resolve();
  }

  async #told<T>(call: Call, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof PveRefusal ? await this.#refusal(call, error) : error;
    }
  }

  /** Once more where the machine moved to another host between two requests. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!hasMoved(error)) throw error;
      return work();
    }
  }

  async #found(call: Call): Promise<{ machine: Listed; status: unknown }> {
    const { plug } = call.target;
    const problem = plugProblem(plug, undefined);
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    const [listed, status] = await Promise.all([this.#api.get(call, '/cluster/resources?type=vm'), this.#api.get(call, '/cluster/status')]);
    const machine = await this.#finder.find(call, listedIn(listed), status);
    this.#keep(plug, machine);
    return { machine, status };
  }

  async #view(call: Call): Promise<InstanceView> {
    const { machine, status } = await this.#found(call);
    const stale = staleness(status, machine.host);
    if (stale?.isAway === true)
      return { id: machine.vmid, state: 'unknown', detail: deviceMessage(stale.words, []), machine: this.#factsOf(call, machine, undefined) };
    const [current, configured, requested] = await Promise.all([
      this.#api.get(call, `${pathOf(machine)}/status/current`),
      this.#configured(call, machine),
      machine.isManaged ? this.#requested(call, machine) : undefined,
    ]);
    if (vmidIn(current) !== machine.vmid) throw call.error('Unreachable', `asked for ${machine.vmid}, and was shown ${vmidIn(current) ?? 'nothing'}`);
    // The list shows what HA ignores as its own.
    this.#keep(call.target.plug, { ...machine, isManaged: managedIn(current) !== 'none' });
    const said = { current, configured, staleness: stale?.words, tasks: [] as readonly string[], requested };
    // HA may have taken it in hand since the list was made.
    if (said.requested === undefined && managedIn(current) !== 'none') said.requested = await this.#requested(call, machine);
    if (stateOf(said).state === 'off') said.tasks = await this.#running(call, machine, configured);
    const { state, detail } = stateOf(said);
    const failed = await this.#tasks.failed(call, machine.vmid, state);
    const wouldRefuse = call.target.isProbe === true ? await this.#wouldRefuse(call, machine, current) : undefined;
    const view: InstanceView = {
      id: machine.vmid,
      state,
      detail: failed === undefined ? detail : `${detail}; ${failed}`,
      machine: this.#factsOf(call, machine, configured),
      ...startable(configured),
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
    this.#places.set(view, { machine, configured });
    return view;
  }

  async #identified(call: Call, machine: Listed): Promise<InstanceView> {
    const configured = await this.#configured(call, machine);
    const view: InstanceView = {
      id: machine.vmid,
      state: 'unknown',
      detail: `on ${machine.host}`,
      machine: this.#factsOf(call, machine, configured),
      ...startable(configured),
    };
    this.#places.set(view, { machine, configured });
    return view;
  }

  async #configured(call: Call, machine: Listed): Promise<Configured> {
    const configured = configuredIn(await this.#api.get(call, configPath(machine)));
    const { plug } = call.target;
    if (configured.isTemplate) throw call.error('Misconfigured', `${plug} is a template, which never runs`);
    const other = anotherBy(plug, configured);
    if (other === undefined) return configured;
    this.#finder.forget(machine.vmid);
    this.#kept.delete(plug);
    throw call.error('Misconfigured', `${machine.vmid} ${other}`);
  }

  /** A number is given to another machine once the first one is gone: the UUID tells them apart. */
  #factsOf({ target }: Call, { vmid }: Listed, configured: Configured | undefined): MachineFacts {
    const provided = providedMachine(target.identity.providerID);
    const uuid = configured?.uuid;
    const shown = uuid === undefined ? {} : { uuid };
    if (provided === undefined) return { providerID: 'unknown', ...shown };
    if (provided.uuid === undefined) return { providerID: provided.plug === vmid ? 'named' : 'other', ...shown };
    if (uuid === undefined) return { providerID: 'unknown' };
    return { providerID: isSameUUID(provided.uuid, uuid) ? 'same' : 'other', ...shown };
  }

  async #requested(call: Call, { vmid }: Listed): Promise<Requested> {
    try {
      const data = await this.#api.get(call, `/cluster/ha/resources/vm:${vmid}`);
      // Without the key it is `started` (pve-ha-manager, `PVE::HA::Resources`).
      return { state: textAt(data, 'state') ?? 'started' };
    } catch (error) {
      if (!(error instanceof PveRefusal)) throw error;
      return { unknown: error.message };
    }
  }

  /** Where it starts with its host, also what that host does for all of its machines, which no list for one of them shows. */
  async #running(call: Call, { host, vmid }: Listed, { startsWithHost }: Configured): Promise<readonly string[]> {
    const path = `/nodes/${encodeURIComponent(host)}/tasks?source=active&limit=${TASKS_MAX}${startsWithHost ? '' : `&vmid=${vmid}`}`;
    const running = runningTasksIn(await this.#api.get(call, path), vmid);
    if (running === undefined) throw call.error('Unreachable', `${host} shows no list of its tasks: one of them may be about to start ${vmid}`);
    return running;
  }

  /** A stop that waits behind a shutdown that hangs would be no fence; what HA has is not taken out of its hands. */
  async #stopForm(call: Call, machine: Listed, { lock }: Configured): Promise<Record<string, string>> {
    const isRoot = (await this.#api.user(call)) === 'root@pam';
    return {
      ...(machine.isManaged ? {} : { 'overrule-shutdown': '1' }),
      // Only root may; and a backup alone is given up without harm to the machine.
      ...(isRoot && lock === 'backup' ? { skiplock: '1' } : {}),
    };
  }

  async #sent(
    call: Call,
    machine: Listed,
    { name, form, wanted, gate }: { name: string; form: Readonly<Record<string, string>>; wanted: 'on' | 'off'; gate: () => void },
  ): Promise<Outcome> {
    const path = `${pathOf(machine)}/status/${name}`;
    let data: unknown;
    try {
      data = await this.#api.post(call, path, form, gate);
    } catch (error) {
      // Before 8.2 there is no such parameter, and HA's machines do not take it: parameters are looked at before anything is done.
      if (!(error instanceof PveRefusal) || error.status !== 400 || !error.parameters.includes('overrule-shutdown')) throw error;
      const { 'overrule-shutdown': _refused, ...rest } = form;
      data = await this.#api.post(call, path, rest, gate);
    }
    if (!this.#tasks.remember(machine.vmid, wanted, data)) return { result: 'unclear', detail: `${name} was answered without a task` };
    return { result: 'accepted', detail: `${name} is ${deviceMessage(data, [])}` };
  }

  async #wouldRefuse(call: Call, machine: Listed, current: unknown): Promise<string | undefined> {
    const ha = managedIn(current);
    if (typeof ha === 'object' && ha.state === 'error')
      return `HA has ${machine.vmid} in state error, in which it stops and starts nothing: ask it for disabled, then for started`;
    const missing = await missingPrivileges(call, this.#api, machine);
    return missing.length === 0 ? undefined : `${await this.#api.user(call)} lacks ${missing.join(' and ')}`;
  }

  async #refusal(call: Call, { status, message }: PveRefusal): Promise<Error> {
    const words = `${message} (${await this.#api.user(call)})`;
    if (status === 401) return call.error('Misconfigured', words);
    return call.error(status >= 500 ? 'Unreachable' : 'Refused', words);
  }

  #keep(plug: string, machine: Listed): void {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= KEPT_MAX && !this.#kept.has(plug) && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(plug, machine);
  }
}

/** UUIDs and names are changed by people, while we remember which number bore one; undefined: it does still. One without a name is listed by its number. */
function anotherBy(plug: string, { name, uuid }: Configured): string | undefined {
  if (isUUID(plug)) return isSameUUID(uuid, plug) ? undefined : `has another UUID now: ${uuid ?? 'none'}`;
  return isVmid(plug) || name === undefined || name === plug ? undefined : `has another name now: ${deviceMessage(name, [])}`;
}

/** The host that was asked has no such machine (any more). */
function hasMoved(error: unknown): boolean {
  return error instanceof PveRefusal && error.status === 500 && /Configuration file .* does not exist/.test(error.message);
}

/** Resumed, it would write what it had in mind before: its volumes may be another's by then. */
function startable({ isHibernated }: Configured): { cannotStart?: string } {
  return isHibernated
    ? { cannotStart: 'its memory is kept on a disk: started, it would write on; start it by hand when nobody else uses its volumes' }
    : {};
}
