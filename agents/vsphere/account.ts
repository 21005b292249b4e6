import type { Outcome, PlugEntry, PowerState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import { identityOf, type CloudAccount, type InstanceView, type MachineFacts as Identified } from '../shared/cloud/instance.ts';
import type { KeptSession } from '../shared/cloud/kept-session.ts';
import { repeated, sentOnce, Throttled } from '../shared/cloud/repeat.ts';
import { areSameUUID, normalUUID } from '../shared/machine-uuid.ts';
import type { XmlElement } from '../shared/xml.ts';
import { agentError, wordsOf } from './faults.ts';
import { allMachines, askOf, isNamed, KnownMachines, machinesNamed } from './inventory.ts';
import { machineOf, stateOf, type Asked, type MachineFacts } from './machine.ts';
import { isUUID, providedUUID, type VsphereSettings } from './parameters.ts';
import { keptSession, type Session } from './sessions.ts';
import { NoSoap, SoapFault } from './soap.ts';
import { childOf, childrenOf, objectOf, objectXml, textOf, textXml, type ManagedObject } from './vim-xml.ts';
import { lookup } from '../../src/domain/lookup.ts';

const ASKED_MAX = 1_000;
const LIST_MAX = 1_000;
/** Of one machine: itself, its host and at most 200 recent tasks. */
const PAGES_MAX = 20;
const STATES: Readonly<Record<string, PowerState>> = { poweredOn: 'on', poweredOff: 'off' };
const PRIVILEGES = ['VirtualMachine.Interact.PowerOff', 'VirtualMachine.Interact.PowerOn'];

/** The machine, its host and its recent tasks, in one request: the documentation of `recentTask` says that what is under way is known by it. */
const RUNTIME_PATHS = ['runtime.powerState', 'runtime.connectionState', 'runtime.dasVmProtection', 'runtime.question'];
const MACHINE_PATHS = ['name', 'config.uuid', ...RUNTIME_PATHS, 'guest.net'];
const TASK_PATHS = ['info.state', 'info.error', 'info.descriptionId'];
const HOST_PATHS = ['name', 'runtime.connectionState', 'summary.managementServerIp'];

/** One vCenter, or one ESXi host, as one user. */
export class VsphereAccount implements CloudAccount {
  readonly #sessions: KeptSession<Session>;
  readonly #known: KnownMachines;
  /** The last set of each machine: its task may end in an error after it was accepted. */
  readonly #asked = new Map<string, Asked>();
  /** In which session a view was taken: an id means something at its own vCenter only. */
  readonly #shownIn = new WeakMap<InstanceView, Session>();
  #url: string | undefined;

  constructor(settings: VsphereSettings, reach: Reach) {
    this.#sessions = keptSession(settings, reach);
    this.#known = new KnownMachines(reach.clock);
  }

  async read(call: Call): Promise<InstanceView> {
    try {
      return await repeated(call, () => this.#inSession(call, (session) => this.#view(call, session)));
    } catch (error) {
      throw agentError(call, error, 'Unreachable');
    }
  }

  /** Read and identified anew where the session is not the one in which that was done. */
  async set(call: Call, view: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const send = async (session: Session): Promise<Outcome> => {
      const current = this.#shownIn.get(view) === session ? view : await this.#view(call, session);
      identityOf(call, current);
      return this.#switched(call, session, { type: 'VirtualMachine', id: current.id }, state);
    };
    try {
      return await sentOnce(call, () => this.#inSession(call, send));
    } catch (error) {
      throw agentError(call, error, 'Refused');
    }
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    try {
      return await repeated(call, () => this.#inSession(call, (session) => listed(call, session)));
    } catch (error) {
      throw agentError(call, error, 'Unreachable');
    }
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  /** A session that the server has ended meanwhile is opened anew, once. */
  async #inSession<T>(call: Call, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#session(call);
    try {
      return await work(session);
    } catch (error) {
      if (!(error instanceof SoapFault) || error.fault !== 'NotAuthenticated') throw error;
      this.#sessions.drop(session);
      return work(await this.#session(call));
    }
  }

  async #session(call: Call): Promise<Session> {
    const session = await this.#sessions.get(call);
    if (this.#url !== undefined && this.#url !== session.endpoint.url) {
      this.#known.clear();
      this.#asked.clear();
    }
    this.#url = session.endpoint.url;
    return session;
  }

  async #view(call: Call, session: Session): Promise<InstanceView> {
    const machine = await this.#machine(call, session);
    if (session.isHost) alone(call, machine);
    const { id } = machine.object;
    const wouldRefuse = call.target.isProbe === true ? await missingPrivileges(call, session, machine.object) : undefined;
    const view: InstanceView = {
      id,
      ...stateOf(machine, this.#asked.get(id)),
      machine: identified(call, machine),
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
    this.#shownIn.set(view, session);
    return view;
  }

  /** One that is not found where it was may be registered anew: it is looked for once more. */
  async #machine(call: Call, session: Session): Promise<MachineFacts> {
    const { plug } = call.target;
    const known = this.#known.get(plug);
    if (known !== undefined) {
      const machine = await retrieved(call, session, known).catch((error: unknown) => {
        if (error instanceof SoapFault && error.fault === 'ManagedObjectNotFound') return undefined;
        throw error;
      });
      if (machine !== undefined && bears(machine, plug)) return machine;
      this.#known.drop(plug);
    }
    const found = await machinesNamed(call, session, plug);
    const [object] = found;
    if (object === undefined) throw call.error('Misconfigured', notFound(plug, session));
    if (found.length > 1)
      throw call.error(
        'Misconfigured',
        `${found.length} machines are ${plug} (${found.map(({ id }) => id).join(', ')}): name one by its inventory path`,
      );
    const machine = await retrieved(call, session, object);
    if (machine === undefined) throw call.error('Unreachable', `nothing was shown of ${object.id}`);
    this.#known.set(plug, object);
    return machine;
  }

  async #switched(call: Call, session: Session, machine: ManagedObject, state: 'on' | 'off'): Promise<Outcome> {
    const method = state === 'off' ? 'PowerOffVM_Task' : 'PowerOnVM_Task';
    const ask = askOf(call, session);
    try {
      const task = objectOf(childOf(await ask({ method, on: machine, gate: () => call.target.beforeSend() }), 'returnval'));
      if (task === undefined) return { result: 'unclear', detail: `${method} was answered without a task` };
      this.#remember(machine.id, { task: task.id, state });
      return { result: 'accepted', detail: `${method} is ${task.id}` };
    } catch (error) {
      if (error instanceof NoSoap && error.kind === 'Unreachable') return { result: 'unclear', detail: `${method}: ${error.message}` };
      if (!(error instanceof SoapFault)) throw error;
      // Another task has the machine for itself, such as a snapshot: it was not taken up, and may be later.
      if (error.fault === 'TaskInProgress') throw new Throttled(wordsOf(error));
      // It may be so already, or the state is the last known: reads decide.
      if (error.fault === 'InvalidPowerState') return { result: 'unclear', detail: wordsOf(error) };
      throw error;
    }
  }

  #remember(machine: string, asked: Asked): void {
    this.#asked.delete(machine);
    this.#asked.set(machine, asked);
    const oldest = this.#asked.keys().next();
    if (this.#asked.size > ASKED_MAX && oldest.done !== true) this.#asked.delete(oldest.value);
  }
}

/** HA and vMotion take a machine to another host, and the one that had it may go on to show it, powered off. */
function alone(call: Call, { host }: MachineFacts): void {
  if (host?.isManagerShown !== true) throw call.error('Misconfigured', 'this ESXi host does not show this user whether a vCenter manages it');
  const { managedBy } = host;
  if (managedBy !== undefined)
    throw call.error(
      'Misconfigured',
      `this ESXi host is managed by vCenter ${managedBy}: ask that one, as the machine may run on another host by now`,
    );
}

function notFound(plug: string, { username }: Session): string {
  const what = isUUID(plug) ? `a machine with the firmware UUID ${plug} (config.uuid), in either byte order` : `a machine ${plug}`;
  return `there is not ${what}, or ${username} may not see it: what is not found is not off`;
}

/** Does the machine still bear the name by which it was found? */
function bears({ name, uuid }: MachineFacts, plug: string): boolean {
  if (!isUUID(plug)) return name === undefined || isNamed(name, plug.slice(plug.lastIndexOf('/') + 1));
  const [shown, wanted] = [normalUUID(uuid), normalUUID(plug)];
  return shown === undefined || wanted === undefined || areSameUUID(shown, wanted);
}

async function retrieved(call: Call, session: Session, machine: ManagedObject): Promise<MachineFacts | undefined> {
  const propertiesOf = (type: string, paths: readonly string[]): string =>
    `<propSet>${textXml('type', type)}${paths.map((path) => textXml('pathSet', path)).join('')}</propSet>`;
  const follow = (path: string): string =>
    `<selectSet xsi:type="TraversalSpec"><type>VirtualMachine</type>${textXml('path', path)}<skip>false</skip></selectSet>`;
  const wanted = propertiesOf('VirtualMachine', MACHINE_PATHS) + propertiesOf('Task', TASK_PATHS) + propertiesOf('HostSystem', HOST_PATHS);
  const start = `<objectSet>${objectXml('obj', machine)}<skip>false</skip>${follow('recentTask')}${follow('runtime.host')}</objectSet>`;
  const body = `<specSet>${wanted}${start}</specSet><options></options>`;
  const ask = askOf(call, session);
  const on = session.content.propertyCollector;
  const objects: XmlElement[] = [];
  let page = childOf(await ask({ method: 'RetrievePropertiesEx', on, body }), 'returnval');
  for (let pages = 1; ; pages += 1) {
    objects.push(...childrenOf(page, 'objects'));
    const token = textOf(page, 'token');
    if (token === undefined) return machineOf(objects, machine);
    // A task that is not shown may be about to start the machine.
    if (pages === PAGES_MAX) throw call.error('Unreachable', `what is shown of ${machine.id} comes to no end`);
    page = childOf(await ask({ method: 'ContinueRetrievePropertiesEx', on, body: textXml('token', token) }), 'returnval');
  }
}

/**
 * Addresses count only where UUIDs cannot be compared: what the tools in the guest report of a node with many interfaces is cut short, or older than its lease.
 */
function identified({ target }: Call, { uuid, addresses }: MachineFacts): Identified {
  const shown = normalUUID(uuid);
  const provided = normalUUID(providedUUID(target.identity.providerID));
  const isSame = shown !== undefined && provided !== undefined && areSameUUID(shown, provided);
  const isCompared = shown !== undefined && normalUUID(target.identity.systemUUID) !== undefined;
  return {
    providerID: provided === undefined || shown === undefined ? 'unknown' : isSame ? 'same' : 'other',
    ...(uuid === undefined ? {} : { uuid }),
    ...(isCompared ? {} : { addresses }),
  };
}

/** Asked of the session itself; undefined where nothing is missing, or the server does not tell. */
async function missingPrivileges(call: Call, session: Session, machine: ManagedObject): Promise<string | undefined> {
  const { content, key, username } = session;
  if (content.authorizationManager === undefined) return undefined;
  const body = objectXml('entity', machine) + textXml('sessionId', key) + PRIVILEGES.map((privilege) => textXml('privId', privilege)).join('');
  try {
    const response = await askOf(call, session)({ method: 'HasPrivilegeOnEntities', on: content.authorizationManager, body });
    const answers = childrenOf(response, 'returnval').flatMap((entity) => childrenOf(entity, 'privAvailability'));
    const missing = answers.filter((each) => textOf(each, 'isGranted') === 'false').map((each) => textOf(each, 'privId') ?? '');
    return missing.length === 0 ? undefined : `${username} lacks ${missing.join(', ')} on ${machine.id}`;
  } catch (error) {
    if (error instanceof SoapFault && error.fault !== 'NotAuthenticated') return undefined;
    throw error;
  }
}

async function listed(call: Call, session: Session): Promise<readonly PlugEntry[]> {
  const entries: PlugEntry[] = [];
  for await (const { object, name, value } of allMachines(call, session, ['name', 'config.uuid', 'runtime.powerState', 'runtime.connectionState'])) {
    const isSeen = value('runtime.connectionState') === 'connected';
    const state = (isSeen ? lookup(STATES, value('runtime.powerState') ?? '') : undefined) ?? 'unknown';
    entries.push({ plug: value('config.uuid') ?? name ?? object.id, ...(name === undefined ? {} : { alias: name }), state });
    if (entries.length === LIST_MAX) break;
  }
  return entries;
}
