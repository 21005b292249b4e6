import type { EmulatedInstance } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';
import { escaped, textProperty, type Property } from './vsphere-xml.ts';

/** What may be odd about vSphere beyond what clouds have in common. */
export interface VsphereOddities {
  /** It is an ESXi host; `managedBy`: the vCenter that has it. */
  host?: { managedBy?: string };
  connectionState?: string;
  hostConnectionState?: string;
  question?: string;
  /** Another machine bears the same name, or the same UUID: a copy. */
  twin?: 'name' | 'uuid';
  /** Privileges that the user does not have. */
  lacks?: readonly string[];
  /** Properties that the user may not read. */
  hidden?: readonly string[];
  /** Somebody else's task on each machine. */
  task?: { description: string; state: 'queued' | 'running' | 'success' };
  /** Machines were registered anew, and have other ids. */
  isRegisteredAnew?: true;
  /** So many objects stand in one page of an answer, whatever is asked for. */
  pageSize?: number;
  /** vSphere HA protects each machine. */
  isProtected?: true;
  /** What it shows of a machine is that of another one. */
  showsOther?: true;
  /** A vCenter of old. */
  hasNoFindAllByUuid?: true;
}

/** Kubelets of every other machine show its UUID in the other byte order, as those of virtual hardware 13 and later do. */
export function firmwareUUID(systemUUID: string, index: number): string {
  if (index % 2 === 1) return systemUUID.toLowerCase();
  const [first = '', second = '', third = '', ...rest] = systemUUID.toLowerCase().split('-');
  const swapped = (group: string): string => (group.match(/../g) ?? []).reverse().join('');
  return [swapped(first), swapped(second), swapped(third), ...rest].join('-');
}

interface EmulatedTask {
  id: string;
  properties: Readonly<Record<string, Property>>;
}

interface Begun {
  id: string;
  wanted: 'on' | 'off';
  error?: { fault: string; message: string };
}

/** A virtual machine as vCenter shows it: power is a state, and what is on its way is a task. */
export class EmulatedMachine {
  readonly instance: EmulatedInstance;
  readonly #index: number;
  readonly #faults: () => CloudFaults;
  readonly #oddities: () => VsphereOddities;
  readonly #begun: Begun[] = [];

  constructor(instance: EmulatedInstance, index: number, faults: () => CloudFaults, oddities: () => VsphereOddities) {
    this.instance = instance;
    this.#index = index;
    this.#faults = faults;
    this.#oddities = oddities;
  }

  get id(): string {
    const isOther = this.#faults().isReplaced === true || this.#oddities().isRegisteredAnew === true;
    return `vm-${(isOther ? 900 : 100) + this.#index}`;
  }

  get name(): string {
    return this.#oddities().twin === 'name' ? 'a' : this.instance.machine.node;
  }

  get path(): string {
    return `DC0/vm/${this.instance.machine.node}`;
  }

  get uuid(): string {
    const { id } = this.instance;
    return this.#faults().isReplaced === true ? id.replace(/^.{8}/, 'feedface') : id;
  }

  hasUUID(uuid: string): boolean {
    return this.uuid === uuid.toLowerCase() || this.#oddities().twin === 'uuid';
  }

  get properties(): Readonly<Record<string, Property>> {
    const { connectionState = 'connected', question, isProtected } = this.#oddities();
    const address = this.#faults().isReplaced === true ? '10.99.99.99' : this.instance.machine.address;
    const power = this.#powerState();
    const nic = `<GuestNicInfo><macAddress>00:50:56:00:00:01</macAddress><ipAddress>${address}</ipAddress><ipAddress>fe80::250:56ff:fe00:1</ipAddress></GuestNicInfo>`;
    const asked = `<id>1</id><text>${escaped(question ?? '')}</text><choice><choiceInfo xsi:type="ElementDescription"><label>Yes</label><key>0</key></choiceInfo></choice>`;
    return {
      name: textProperty(this.name),
      'config.uuid': textProperty(this.uuid),
      'runtime.connectionState': textProperty(connectionState, 'VirtualMachineConnectionState'),
      'guest.net': { type: 'ArrayOfGuestNicInfo', inner: nic },
      ...(power === undefined ? {} : { 'runtime.powerState': textProperty(power, 'VirtualMachinePowerState') }),
      ...(isProtected === true && {
        'runtime.dasVmProtection': { type: 'VirtualMachineRuntimeInfoDasProtectionState', inner: '<dasProtected>true</dasProtected>' },
      }),
      ...(question === undefined ? {} : { 'runtime.question': { type: 'VirtualMachineQuestionInfo', inner: asked } }),
    };
  }

  get tasks(): readonly EmulatedTask[] {
    const [, description] = (this.#faults().shows ?? '').split(' ');
    const { task } = this.#oddities();
    return [
      ...this.#begun.map((each, at) => this.#taskOf(each, at === this.#begun.length - 1)),
      ...(description === undefined ? [] : [taskOf('task-9001', description, 'running')]),
      ...(task === undefined ? [] : [taskOf('task-9002', task.description, task.state)]),
    ];
  }

  /** Every method that switches is accepted, and answered with a task; what comes of it is told by the task. */
  switched(wanted: 'on' | 'off'): string {
    const id = `task-${this.#index * 1_000 + this.#begun.length + 1}`;
    const { instance } = this;
    if (this.#faults().failsOperation === true) {
      instance.commands.push({ wanted });
      this.#begun.push({ id, wanted, error: { fault: 'GenericVmConfigFault', message: 'Failed to power off the virtual machine.' } });
      return id;
    }
    const isAlready = instance.phase === (wanted === 'off' ? 'stopped' : 'running');
    const message = 'The attempted operation cannot be performed in the current state.';
    this.#begun.push({ id, wanted, ...(isAlready ? { error: { fault: 'InvalidPowerState', message } } : {}) });
    if (wanted === 'off') instance.stop();
    else instance.start();
    return id;
  }

  #powerState(): string | undefined {
    const { shows } = this.#faults();
    if (shows === 'absent') return undefined;
    if (shows === null) return '';
    if (shows !== undefined) return shows.split(' ')[0];
    return this.instance.phase === 'running' || this.instance.phase === 'stopping' ? 'poweredOn' : 'poweredOff';
  }

  #taskOf({ id, wanted, error }: Begun, isLast: boolean): EmulatedTask {
    const isUnderWay = isLast && this.instance.phase === (wanted === 'off' ? 'stopping' : 'starting');
    return taskOf(
      id,
      `VirtualMachine.power${wanted === 'off' ? 'Off' : 'On'}`,
      error !== undefined ? 'error' : isUnderWay ? 'running' : 'success',
      error,
    );
  }
}

function taskOf(id: string, description: string, state: string, error?: Begun['error']): EmulatedTask {
  const inner = `<fault xsi:type="${error?.fault ?? ''}"></fault><localizedMessage>${escaped(error?.message ?? '')}</localizedMessage>`;
  return {
    id,
    properties: {
      'info.state': textProperty(state, 'TaskInfoState'),
      'info.descriptionId': textProperty(description),
      ...(error === undefined ? {} : { 'info.error': { type: 'LocalizedMethodFault', inner } }),
    },
  };
}
