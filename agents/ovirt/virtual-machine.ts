import type { PowerState } from '../../src/ports/agents.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { member, textAt } from '../shared/web/web-client.ts';

/** A virtual machine as the engine shows it. */
export interface VirtualMachine {
  id: string;
  name: string | undefined;
  state: PowerState;
  /** The engine's words, and what they mean where that is not plain. */
  detail: string;
  /** The cluster that it belongs to, by its id. */
  cluster: string | undefined;
  /** It holds a lease on a storage domain while it runs: the engine may start it elsewhere while its host is lost. */
  hasLease: boolean;
}

/** `VmStatus` of oVirt's API model, and what is to be known of one that is neither on nor off. */
const STATES: Readonly<Record<string, readonly [state: PowerState, why?: string]>> = {
  up: ['on'],
  powering_up: ['on'],
  reboot_in_progress: ['on'],
  migrating: ['on', 'it runs on one of two hosts'],
  paused: ['on', 'its process is there and would write on'],
  down: ['off'],
  powering_down: ['pending'],
  wait_for_launch: ['pending', 'a host was asked to run it'],
  saving_state: ['pending', 'its memory is being saved'],
  restoring_state: ['pending', 'it is started with its saved memory'],
  image_locked: ['pending', 'something is done to its disks, after which it may be started'],
  suspended: ['unknown', 'its memory is kept: resumed, it would write on'],
  not_responding: ['unknown', 'its host hears nothing of it'],
  unknown: ['unknown', 'its host is lost, and may run it still'],
  unassigned: ['unknown'],
};

/** Undefined where it is no virtual machine. */
export function machineIn(body: unknown): VirtualMachine | undefined {
  const id = textAt(body, 'id');
  if (id === undefined || id === '') return undefined;
  const shown = member(body, 'status');
  const status = typeof shown === 'string' ? shown : '';
  const [state, why] = (Object.hasOwn(STATES, status) ? STATES[status] : undefined) ?? ['unknown'];
  const isAvailable = isTrue(member(body, 'high_availability', 'enabled'));
  const hasLease = textAt(body, 'lease', 'storage_domain', 'id') !== undefined;
  const remarks = [
    `status=${status === '' ? '(none)' : status}`,
    ...(why === undefined ? [] : [why]),
    ...named('status_detail', textAt(body, 'status_detail')),
    ...named('stop_reason', textAt(body, 'stop_reason')),
    ...(isAvailable ? ['highly available'] : []),
  ];
  return {
    id: id.toLowerCase(),
    name: textAt(body, 'name'),
    state,
    detail: deviceMessage(remarks.join('; '), []),
    cluster: textAt(body, 'cluster', 'id'),
    hasLease,
  };
}

function named(name: string, value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [`${name}=${value}`];
}

/** The engine writes booleans as texts. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}
