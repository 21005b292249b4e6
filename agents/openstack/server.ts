import type { PowerState } from '../../src/ports/agents.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, textAt } from '../shared/web/web-client.ts';

/** A server as nova shows it; undefined is what is not shown, or is no text. */
export interface Server {
  id: string;
  name: string | undefined;
  status: string | undefined;
  vmState: string | undefined;
  /** Null: nothing is under way. */
  taskState: string | null | undefined;
  powerState: number | undefined;
  /** Shown to admins, from microversion 2.16. */
  hostStatus: string | undefined;
  /** Of the hypervisor, hashed for this project. */
  hostId: string | undefined;
  /** Project that it belongs to. */
  project: string | undefined;
  isLocked: boolean;
  updated: string | undefined;
  /** Addresses of its ports, without floating ones. */
  addresses: readonly string[];
  /** How an operation failed, while it is in ERROR. */
  fault: string | undefined;
}

/** What a server is by what it shows of itself; `claims`: off, where more has to agree. */
export interface Shown {
  state: PowerState | 'claims';
  why?: string;
}

/** Undefined where it is no server. */
export function serverIn(shown: unknown): Server | undefined {
  const id = textAt(shown, 'id');
  if (id === undefined || id === '') return undefined;
  const task = member(shown, 'OS-EXT-STS:task_state');
  const power = member(shown, 'OS-EXT-STS:power_state');
  return {
    id: id.toLowerCase(),
    name: textAt(shown, 'name'),
    status: textAt(shown, 'status'),
    vmState: textAt(shown, 'OS-EXT-STS:vm_state'),
    taskState: task === null || typeof task === 'string' ? task : undefined,
    powerState: typeof power === 'number' ? power : undefined,
    hostStatus: textAt(shown, 'host_status'),
    hostId: textAt(shown, 'hostId'),
    project: textAt(shown, 'tenant_id'),
    isLocked: member(shown, 'locked') === true,
    updated: textAt(shown, 'updated'),
    addresses: addressesIn(member(shown, 'addresses')),
    fault: textAt(shown, 'fault', 'message'),
  };
}

function addressesIn(networks: unknown): readonly string[] {
  if (typeof networks !== 'object' || networks === null) return [];
  const ports = Object.keys(networks).flatMap((name) => listAt(networks, name));
  return ports.flatMap((port) => (textAt(port, 'OS-EXT-IPS:type') === 'floating' ? [] : (textAt(port, 'addr') ?? [])));
}

const MEMORY_KEPT = 'its memory is kept: resumed, it would write on';
const MOVES = 'it is being moved or rebuilt: it may run in two places';

/** Names of nova/api/openstack/common.py that are neither ACTIVE nor SHUTOFF, and why each is not off. */
const OTHERS: Readonly<Record<string, Shown>> = {
  BUILD: { state: 'pending' },
  REBOOT: { state: 'pending' },
  HARD_REBOOT: { state: 'pending' },
  PASSWORD: { state: 'pending' },
  REBUILD: { state: 'pending', why: MOVES },
  RESIZE: { state: 'pending', why: MOVES },
  REVERT_RESIZE: { state: 'pending', why: MOVES },
  MIGRATING: { state: 'pending', why: MOVES },
  // Nova takes a stop in this state, and a fence sends nothing after `unknown`.
  ERROR: { state: 'pending', why: 'an operation failed: nobody knows whether it runs; a stop is taken' },
  VERIFY_RESIZE: { state: 'unknown', why: 'a resize has to be confirmed or reverted; nova takes no stop before' },
  PAUSED: { state: 'unknown', why: MEMORY_KEPT },
  SUSPENDED: { state: 'unknown', why: MEMORY_KEPT },
  RESCUE: { state: 'unknown', why: 'a rescue system runs in its place, with its disks' },
  SHELVED: { state: 'unknown', why: 'nova takes no stop of a shelved server: unshelve it, or acknowledge the fence' },
  SHELVED_OFFLOADED: { state: 'unknown', why: 'nova takes no stop of a shelved server: unshelve it, or acknowledge the fence' },
  SOFT_DELETED: { state: 'unknown', why: 'it is deleted and may be restored' },
  DELETED: { state: 'unknown', why: 'it is deleted: no proof that its hypervisor has stopped it' },
};

/** The hypervisor says nothing: what nova shows is what it heard last (nova/compute/power_state.py: "a snapshot … in the (recent) past"). */
const SILENT = new Set(['UNKNOWN', 'DOWN']);
const SILENT_WHY = 'the hypervisor of the server does not answer: its state is a memory';

/** Power states of nova/compute/power_state.py. */
const RUNNING = 1;
const SHUTDOWN = 4;

/** What it is by itself alone. */
export function shownBy(server: Server): Shown {
  const { status = '', vmState, taskState, powerState, hostStatus } = server;
  if (hostStatus !== undefined && SILENT.has(hostStatus)) return { state: 'unknown', why: SILENT_WHY };
  if (hostStatus !== undefined && hostStatus !== 'UP' && hostStatus !== 'MAINTENANCE')
    return { state: 'unknown', why: hostStatus === '' ? 'no hypervisor has it' : 'that host_status is not known here' };
  if (taskState === undefined || powerState === undefined) return { state: 'unknown', why: 'nova does not show all of its state' };
  if (status !== 'ACTIVE' && status !== 'SHUTOFF')
    return Object.hasOwn(OTHERS, status) ? (OTHERS[status] ?? { state: 'unknown' }) : { state: 'unknown' };
  if (taskState !== null) return { state: 'pending' };
  if (status === 'ACTIVE')
    return vmState === 'active' && powerState === RUNNING ? { state: 'on' } : { state: 'pending', why: 'its guest is not said to run' };
  if (vmState !== 'stopped' || powerState !== SHUTDOWN) return { state: 'unknown', why: 'its states contradict each other' };
  return { state: 'claims' };
}

/** Nova's own words for it. */
export function wordsFor({ status, vmState, taskState, powerState, hostStatus, fault }: Server): string {
  const said = (value: string | number | null | undefined): string => (value === undefined ? '(none)' : String(value));
  const parts = [`status=${said(status)}`, `vm_state=${said(vmState)}`, `task_state=${said(taskState)}`, `power_state=${said(powerState)}`];
  if (hostStatus !== undefined) parts.push(`host_status=${hostStatus}`);
  if (fault !== undefined) parts.push(`fault: ${fault}`);
  return deviceMessage(parts.join(' '), []);
}
