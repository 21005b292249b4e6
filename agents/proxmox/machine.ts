import type { PowerState } from '../../src/ports/agents.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, textAt } from '../shared/web/web-client.ts';

/** `status` of a running QEMU (QEMU QMP reference, RunState). Any of them may go on to write. */
const RUNNING: Readonly<Record<string, PowerState>> = {
  running: 'on',
  paused: 'on',
  suspended: 'on',
  debug: 'on',
  watchdog: 'on',
  'io-error': 'on',
  'internal-error': 'on',
  'guest-panicked': 'on',
  shutdown: 'pending',
  prelaunch: 'pending',
  inmigrate: 'pending',
  'finish-migrate': 'pending',
  postmigrate: 'pending',
  'save-vm': 'pending',
  'restore-vm': 'pending',
  colo: 'pending',
};
/** So many tasks of one host are asked for; the API shows 50 by itself. */
export const TASKS_MAX = 500;
/** Of a host that boots: it starts what is to start with it, one after the other. The task names no machine. */
const STARTS_ALL = 'startall';
/** Tasks after which a machine may run. */
const STARTING = new Set([STARTS_ALL, 'qmstart', 'hastart', 'qmreboot', 'qmresume', 'qmrollback', 'qmrestore', 'qmigrate', 'hamigrate', 'vzdump']);
/** States of the HA manager in which it is about to start the machine, or may be. */
const HA_UNDER_WAY = new Set([
  'started',
  'starting',
  'request_start',
  'request_start_balance',
  'request_stop',
  'migrate',
  'relocate',
  'recovery',
  'fence',
]);

/** One entry of `/cluster/resources?type=vm`. */
export interface Listed {
  vmid: string;
  name: string | undefined;
  host: string;
  kind: string;
  isTemplate: boolean;
  isManaged: boolean;
}

export function listedIn(data: unknown): readonly Listed[] {
  return listAt({ data }, 'data').flatMap((entry) => {
    const [vmid, host, kind] = [member(entry, 'vmid'), textAt(entry, 'node'), textAt(entry, 'type')];
    if ((typeof vmid !== 'number' && typeof vmid !== 'string') || host === undefined || kind === undefined) return [];
    const isManaged = member(entry, 'hastate') !== undefined && member(entry, 'hastate') !== null;
    return { vmid: String(vmid), name: textAt(entry, 'name'), host, kind, isTemplate: isYes(member(entry, 'template')), isManaged };
  });
}

/**
 * Why what is said of a machine on this host may be the last that is known; undefined: it is not. A host on its own is no cluster: it has no quorum to lose
 * (pve-manager, PVE/API2/Cluster.pm, `get_status`).
 */
export function staleness(status: unknown, host: string): { isAway: boolean; words: string } | undefined {
  const entries = listAt({ status }, 'status');
  const cluster = entries.find((entry) => textAt(entry, 'type') === 'cluster');
  const node = entries.find((entry) => textAt(entry, 'type') === 'node' && textAt(entry, 'name') === host);
  if (cluster !== undefined && !isYes(member(cluster, 'quorate')))
    return { isAway: false, words: 'the host that answered has no quorum: what it knows of the cluster may be old' };
  if (node === undefined) return { isAway: true, words: `host ${host} is no member of the cluster that answered` };
  if (!isYes(member(node, 'online')))
    return { isAway: true, words: `host ${host} is offline: the machine may run there; fence the host, or wait until the cluster sees it` };
  return undefined;
}

/** What the configuration of a machine says that matters here. */
export interface Configured {
  name: string | undefined;
  uuid: string | undefined;
  lock: string | undefined;
  /** Its memory stands on a disk: started, it goes on where it stopped. */
  isHibernated: boolean;
  isTemplate: boolean;
  /** Its host starts it when it boots (`onboot`). */
  startsWithHost: boolean;
}

/** `smbios1: uuid=…,manufacturer=…`. */
export function configuredIn(data: unknown): Configured {
  const lock = textAt(data, 'lock');
  const isHibernated = lock === 'suspended' || (member(data, 'vmstate') !== undefined && member(data, 'vmstate') !== null);
  const uuid = /(?:^|,)uuid=([0-9A-Fa-f-]+)/.exec(textAt(data, 'smbios1') ?? '')?.[1];
  const [isTemplate, startsWithHost] = [isYes(member(data, 'template')), isYes(member(data, 'onboot'))];
  return { name: textAt(data, 'name'), uuid, lock: lock === '' ? undefined : lock, isHibernated, isTemplate, startsWithHost };
}

/** What was asked of HA for the machine: `started`, `stopped`, ... ; or why that is not known. */
export type Requested = { state: string } | { unknown: string };

/** All that is said of one machine. */
export interface Said {
  current: unknown;
  configured: Configured;
  staleness: string | undefined;
  /** Absent: not asked. */
  requested: Requested | undefined;
  /** Types of tasks of the machine that run. */
  tasks: readonly string[];
}

export interface MachineState {
  state: PowerState;
  detail: string;
}

/** Off only where nothing keeps its memory, has it in hand or will start it, and the host that says so is part of a cluster with quorum. */
export function stateOf(said: Said): MachineState {
  const { current } = said;
  const [status, qmp, lock] = [wordAt(current, 'status'), wordAt(current, 'qmpstatus'), lockOf(said)];
  const remarks = [`status=${status ?? '(none)'} qmpstatus=${qmp ?? '(none)'}`];
  if (lock !== undefined) remarks.push(`lock=${lock}`);
  const ha = managedIn(current);
  if (ha !== 'none') remarks.push(`HA: ${ha === 'unknown' ? 'not told' : ha.state}`);
  const told = (state: PowerState, why?: string): MachineState => ({ state, detail: deviceMessage([...remarks, why ?? []].flat().join('; '), []) });
  if (said.staleness !== undefined) return told('unknown', said.staleness);
  if (status === 'running') return told(qmp !== undefined && Object.hasOwn(RUNNING, qmp) ? (RUNNING[qmp] ?? 'unknown') : 'unknown');
  if (status !== 'stopped' || qmp !== 'stopped') return told('unknown');
  if (!isNothing(member(current, 'pid'))) return told('unknown', 'it has a process all the same');
  if (said.configured.isHibernated) return told('unknown', 'its memory is kept on a disk: started, it would write on');
  if (lock !== undefined)
    return told('pending', `something has it in hand, and may start it; where that ended long ago, \`qm unlock\` on its host takes the lock away`);
  const starting = said.tasks.filter((type) => STARTING.has(type));
  if (starting.length > 0) return told('pending', `${starting.join(', ')} runs, which may start it`);
  if (ha === 'unknown') return told('unknown', 'nothing was said of HA');
  return ha === 'none' ? told('off') : ofManaged(ha.state, said.requested, told);
}

/** The manager starts what it finds stopped and was asked to run, and its state lags behind what it was asked for by one of its rounds. */
function ofManaged(state: string, requested: Requested | undefined, told: (state: PowerState, why: string) => MachineState): MachineState {
  if (HA_UNDER_WAY.has(state)) return told('pending', 'HA may start it');
  if (state !== 'stopped') return told('unknown', 'HA does not say that it is stopped');
  if (requested === undefined) return told('unknown', 'HA was not asked for what it is to do');
  if ('unknown' in requested) return told('unknown', `what HA was asked to do is not known: ${requested.unknown}`);
  if (requested.state === 'stopped' || requested.state === 'disabled') return told('off', `asked of HA: ${requested.state}`);
  return told('pending', `HA is asked for ${requested.state}, and may start it`);
}

/** The machine that `status/current` is about. */
export function vmidIn(current: unknown): string | undefined {
  const vmid = member(current, 'vmid');
  return typeof vmid === 'number' || typeof vmid === 'string' ? String(vmid) : undefined;
}

/** How HA has the machine, in its own words. `ignored`, and HA that is disarmed, is not managed (pve-ha-manager, `get_service_status`). */
export function managedIn(current: unknown): 'none' | 'unknown' | { state: string } {
  const managed = member(current, 'ha', 'managed');
  if (managed === 0 || managed === '0' || managed === false) return 'none';
  if (!isYes(managed)) return 'unknown';
  return { state: wordAt(current, 'ha', 'state') ?? '(none)' };
}

/** Types of the tasks that run and may be about this machine, of `/nodes/…/tasks?source=active`; undefined where it is no list, or not all of it. */
export function runningTasksIn(data: unknown, vmid: string): readonly string[] | undefined {
  if (!Array.isArray(data) || data.length >= TASKS_MAX) return undefined;
  return listAt({ data }, 'data')
    .filter((task) => (String(member(task, 'id')) === vmid || textAt(task, 'type') === STARTS_ALL) && isNothing(member(task, 'endtime')))
    .flatMap((task) => textAt(task, 'type') ?? []);
}

function lockOf({ current, configured }: Said): string | undefined {
  const shown = wordAt(current, 'lock');
  return shown === undefined || shown === '' ? configured.lock : shown;
}

function wordAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = member(value, ...path);
  return found === undefined || found === null ? undefined : typeof found === 'string' ? found : '(no word)';
}

function isYes(value: unknown): boolean {
  return value === 1 || value === '1' || value === true;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
