import type { PowerState } from '../../src/ports/agents.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import type { XmlElement } from '../shared/xml.ts';
import { childOf, childrenOf, objectOf, textOf, type ManagedObject } from './vim-xml.ts';

/** A task of vSphere on a machine. */
export interface TaskFacts {
  id: string;
  /** `VirtualMachine.powerOff`, `Drm.ExecuteVmPowerOnLRO`. */
  description: string;
  /** `queued`, `running`, `success`, `error`. */
  state: string;
  /** Why it ended in an error. */
  words: string | undefined;
}

interface HostFacts {
  name: string | undefined;
  connectionState: string | undefined;
  /** Address of the vCenter that has it, where one does and it is shown. */
  managedBy: string | undefined;
  isManagerShown: boolean;
}

/** All that one read shows of a machine. */
export interface MachineFacts {
  object: ManagedObject;
  name: string | undefined;
  /** Of its firmware (`config.uuid`). */
  uuid: string | undefined;
  powerState: string | undefined;
  connectionState: string | undefined;
  /** vSphere HA would start it again where its host loses it. */
  isProtected: boolean;
  /** What it waits for a person to answer. */
  question: string | undefined;
  addresses: readonly string[];
  host: HostFacts | undefined;
  tasks: readonly TaskFacts[];
  /** Why properties are not shown. */
  missing: readonly string[];
}

/** What we asked for last. */
export interface Asked {
  task: string;
  state: 'on' | 'off';
}

const ACTIVE = new Set(['queued', 'running']);
const OVER = new Set(['success', 'error']);
/** What may start a machine: also DRS (`Drm.ExecuteVmPowerOnLRO`) and snapshots (`vm.Snapshot.revert`). */
const STARTS = /poweron|revert/i;
const STOPS = /poweroff/i;

/** Of the objects of a RetrieveResult: the machine, its host and its recent tasks. Undefined where this machine is not among them. */
export function machineOf(objects: readonly XmlElement[], wanted: ManagedObject): MachineFacts | undefined {
  const found = objects.map((element) => ({ object: objectOf(childOf(element, 'obj')), element }));
  const machine = found.find(({ object }) => object?.type === wanted.type && object.id === wanted.id);
  if (machine?.object === undefined) return undefined;
  const value = propertiesOf(machine.element);
  const host = found.find(({ object }) => object?.type === 'HostSystem');
  return {
    object: machine.object,
    name: textOf(value('name')),
    uuid: textOf(value('config.uuid')),
    powerState: textOf(value('runtime.powerState')),
    connectionState: textOf(value('runtime.connectionState')),
    isProtected: textOf(value('runtime.dasVmProtection'), 'dasProtected') === 'true',
    question: questionOf(value('runtime.question')),
    addresses: childrenOf(value('guest.net'), 'GuestNicInfo').flatMap((nic) => childrenOf(nic, 'ipAddress').map(({ text }) => text.trim())),
    host: host === undefined ? undefined : hostOf(host.element),
    tasks: found.flatMap(({ object, element }) => (object?.type === 'Task' ? [taskOf(object.id, propertiesOf(element))] : [])),
    missing: childrenOf(machine.element, 'missingSet').map(
      (each) => `${textOf(each, 'path') ?? ''}: ${deviceMessage(textOf(each, 'fault', 'localizedMessage') ?? 'not shown', [])}`,
    ),
  };
}

/** What a machine's power is, by rules that never guess. `asked`: the task that we began last, if it is still known. */
export function stateOf(machine: MachineFacts, asked: Asked | undefined): { state: PowerState; detail: string } {
  const { powerState = 'absent', connectionState = 'absent', host } = machine;
  const shown = `powerState=${powerState}, connectionState=${connectionState}`;
  const said = [shown, ...remarksOf(machine, asked)];
  const told = (state: PowerState, why?: string): { state: PowerState; detail: string } => ({
    state,
    detail: [...said, ...(why === undefined ? [] : [why])].join('; '),
  });
  if (connectionState !== 'connected') return told('unknown', 'the server does not see the machine: its power is the last known');
  if (host?.connectionState !== undefined && host.connectionState !== 'connected')
    return told('unknown', `host ${host.name ?? ''} connectionState=${host.connectionState}: what it runs is not known`);
  const isUnderWay = (way: RegExp, state: Asked['state']): boolean =>
    machine.tasks.some((task) => ACTIVE.has(task.state) && (way.test(task.description) || (task.id === asked?.task && asked.state === state)));
  if (powerState === 'poweredOn') return told(isUnderWay(STOPS, 'off') ? 'pending' : 'on');
  if (powerState === 'poweredOff') {
    const untold = machine.tasks.find(({ state }) => !ACTIVE.has(state) && !OVER.has(state));
    if (untold !== undefined) return told('pending', `${untold.id} is shown without its state, and may be about to start it`);
    if (isUnderWay(STARTS, 'on')) return told('pending');
    return machine.isProtected && !isOffByUs(machine, asked) ? told('pending', LOST) : told('off');
  }
  if (powerState === 'suspended')
    return told('unknown', 'its memory is kept: resumed, it would write on where it stopped. Power it off, or resume it');
  return told('unknown');
}

/**
 * HA registers what a host lost at another one and starts it there, which no task shows; it does not start what was powered off through vCenter. A host that it cannot
 * see may run the machine all the same, and holds its files: then the start fails, and is tried again.
 */
const LOST = 'vSphere HA protects it and may be about to start it elsewhere, and its old host may run it still';

function isOffByUs({ tasks }: MachineFacts, asked: Asked | undefined): boolean {
  return asked?.state === 'off' && tasks.some(({ id, state }) => id === asked.task && state === 'success');
}

function remarksOf({ tasks, question, missing }: MachineFacts, asked: Asked | undefined): string[] {
  const active = tasks.filter(({ state }) => ACTIVE.has(state)).map(({ id, description, state }) => `${id} ${description} ${state}`);
  const failed = tasks.find(({ id, state }) => id === asked?.task && state === 'error');
  return [
    ...active,
    ...(failed === undefined ? [] : [`${failed.id} ${failed.description} ended in an error: ${failed.words ?? 'no words'}`]),
    ...(question === undefined ? [] : [`it waits for an answer: ${question}`]),
    ...missing,
  ];
}

function propertiesOf(element: XmlElement): (path: string) => XmlElement | undefined {
  const values = new Map(childrenOf(element, 'propSet').map((each) => [textOf(each, 'name'), childOf(each, 'val')]));
  return (path) => values.get(path);
}

function hostOf(element: XmlElement): HostFacts {
  const value = propertiesOf(element);
  return {
    name: textOf(value('name')),
    connectionState: textOf(value('runtime.connectionState')),
    managedBy: managerOf(textOf(value('summary.managementServerIp'))),
    isManagerShown: childrenOf(element, 'missingSet').every((each) => textOf(each, 'path') !== 'summary.managementServerIp'),
  };
}

/** A host that no vCenter has shows its own loopback address (read off the host in vcsim's templates, ESXi 6.5). */
function managerOf(address: string | undefined): string | undefined {
  return address === undefined || /^(127\.|::1$|localhost$)/.test(address) ? undefined : address;
}

function taskOf(id: string, value: (path: string) => XmlElement | undefined): TaskFacts {
  const error = value('info.error');
  const fault = childOf(error, 'fault');
  const name = Object.entries(fault?.attributes ?? {}).find(([key]) => key.endsWith(':type'))?.[1];
  const words = [name, textOf(error, 'localizedMessage')].filter((each) => each !== undefined).join(': ');
  return {
    id,
    description: textOf(value('info.descriptionId')) ?? 'task',
    state: textOf(value('info.state')) ?? 'absent',
    words: words === '' ? undefined : deviceMessage(words, []),
  };
}

function questionOf(value: XmlElement | undefined): string | undefined {
  const text = textOf(value, 'text');
  return text === undefined ? undefined : deviceMessage(text, []);
}
