import { misnamedFor } from '../../controllers/fence/misnamed.ts';
import { readyOf } from '../../controllers/fence/observation.ts';
import { presentMarks } from '../../controllers/fence/storm/marks.ts';
import { epochOf } from '../../domain/epoch.ts';
import { alarmRows } from '../../domain/remedy/alarm-words.ts';
import type { AlarmRow } from '../../domain/remedy/alarm-words.ts';
import { noticesIn } from '../../controllers/self-check/notices.ts';
import { fenceName, isNamedAsItsNode } from '../../domain/node-fence.ts';
import type { FenceState, NodeFenceStatus, Outcome } from '../../domain/node-fence.ts';
import { fenceableOf } from '../../domain/plan-problems.ts';
import type { Fenceable } from '../../domain/plan-problems.ts';
import type { Plan, Step } from '../../domain/plan.ts';
import type { Node } from '../../ports/objects.ts';
import { authorOf, NOBODY_VOUCHES } from '../../ports/authorship.ts';
import type { Voucher } from '../../ports/authorship.ts';
import type { NodeFence, NodeFenceReport, NodeFenceStop } from '../../ports/resources.ts';
import type { NodeOwnership } from '../node-ownership/node-ownership.ts';
import { marksIn } from '../preservation/listed-machines.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { PreservationListers } from '../preservation/listed-machines.ts';
import { pictureOf, preservedRows } from '../preservation/picture.ts';
import type { PreservedRow } from '../preservation/picture.ts';
import { dumpNow, heardDumps } from './heard-dumps.ts';
import type { HeardDumpRow } from './heard-dumps.ts';
import { leaderOf } from './leader.ts';
import type { Leader } from './leader.ts';
import { daemonOf } from './node-daemon.ts';
import type { DaemonRow } from './node-daemon.ts';
import { remediesOf } from './remedy-rows.ts';
import type { RemedyRow } from './remedy-rows.ts';
import type { FleetListers } from './watched-cluster.ts';

/** What the cluster shows of all nodes and their fences, at one moment. */
export interface Cluster {
  nodes: Iterable<Node>;
  fences: Iterable<NodeFence>;
  stops: Iterable<NodeFenceStop>;
  reports: Iterable<NodeFenceReport>;
}

export type Ready = 'True' | 'False' | 'Unknown' | 'missing' | 'gone';

/** One node as `status` shows it; also the shape of `-o json`. */
export interface NodeRow {
  node: string;
  /** `gone`: there is a fence, and no Node. */
  ready: Ready;
  cordoned: boolean;
  state?: FenceState;
  step?: Step;
  /** Policy that holds the fence; `stop` also for a node without fence on which a stop stands. */
  hold?: string;
  outcome?: Outcome;
  /** When the present state began: of the fence, or of Ready. */
  since?: string;
  /** Where the last run went, or the first one will. */
  device?: string;
  /** What happens next, or what an operator must do. */
  message?: string;
  /** What stands against fencing it, as the controller last saw its configuration; absent: nothing, or not known. */
  fenceable?: Exclude<Fenceable, 'yes'>;
  /** Absent: no daemon of it was reported. */
  daemon?: DaemonRow;
  /** Conditions that remedies answer now; absent: none. */
  remedies?: RemedyRow[];
  /** Absent: nothing was heard of a crash kernel since it lived. */
  dump?: HeardDumpRow;
  /** Marks of maintenance on its Node, in words, each with its source; absent: none. */
  maintenance?: string[];
  /** Errors of the configuration and devices that could not be used, as the controller last saw them. */
  problems: string[];
}

export interface StopRow {
  name: string;
  /** Absent: all nodes. */
  node?: string;
  reason: string;
  since?: string;
  by?: string;
}

/** Whose part preservation is, and what is kept; also the shape of `-o json`. */
export interface PreservedFleet {
  mode: 'observe' | 'own';
  reasons: readonly string[];
  machines: PreservedRow[];
  problems: readonly string[];
  /** What the caller may not read, in words. */
  unreadable: readonly string[];
}

export interface FleetStatus {
  leader: Leader;
  /** As the leader says, or told from what fences are held by; absent: not known. */
  mode?: 'observe' | 'enforce';
  /** What keeps the controllers from their work, as they say or as it is seen from here; absent: nothing. */
  problems?: string[];
  /** Problems that were counted too often, of nodes and of workloads; absent: none. */
  alarms?: AlarmRow[];
  stops: StopRow[];
  nodes: NodeRow[];
  /** Absent: preservation is off. */
  preservation?: PreservedFleet;
  /** Absent: not looked at. */
  nodeOwnership?: NodeOwnership;
}

/** The picture that listers show at this moment. */
export function fleetStatus(listers: FleetListers, nowMs: number): FleetStatus {
  const {
    nodes,
    fences,
    stops,
    reports,
    leaders,
    replicas,
    dumps,
    installation = [],
    preservation: kept,
    nodeOwnership,
    vouches,
    unreadLeases,
  } = listers;
  const [lease] = leaders.all();
  const fleet = fleetOf(
    { nodes: nodes.all(), fences: fences.all(), stops: stops.all(), reports: reports.all() },
    leaderOf(lease, nowMs, unreadLeases),
    vouches,
  );
  const notices = [...(replicas?.all() ?? [])].flatMap((each) => noticesIn(each, nowMs));
  const problems = [...installation, ...notices, ...(fleet.problems ?? [])];
  const alarms = alarmRows(
    [...reports.all()].map(({ metadata, status }) => ({ node: metadata.name, record: status?.problemCounts })),
    nowMs,
  );
  const preservation = kept === undefined ? undefined : preservedFleet(kept, { nodes: nodes.all(), fences: fences.all() }, nowMs);
  const heard = heardDumps([...(dumps?.all() ?? [])][0]);
  return {
    ...fleet,
    ...(heard.size > 0 && { nodes: fleet.nodes.map((row) => withHeardDump(row, heard, fences, nowMs)) }),
    ...(problems.length > 0 && { problems }),
    ...(alarms.length > 0 && { alarms }),
    ...(preservation !== undefined && { preservation }),
    ...(nodeOwnership !== undefined && { nodeOwnership }),
  };
}

function preservedFleet(kept: PreservationListers, cluster: Pick<Cluster, 'nodes' | 'fences'>, nowMs: number): PreservedFleet | undefined {
  const { mode, pools, notes } = kept;
  const machines = { machines: kept.machines.all(), machineSets: kept.machineSets.all(), machineDeployments: kept.machineDeployments.all() };
  const nodes = [...cluster.nodes];
  const picture = pictureOf({ ...cluster, nodes, ...machines, mode, pools, nowMs });
  if (picture === undefined || mode.mode === 'off') return undefined;
  const marksOf = marksIn(nodes, kept.machines.all());
  const rows = preservedRows(picture).map((row): PreservedRow => {
    const marks = row.node === undefined ? [] : marksOf(row.node);
    return { ...row, ...(marks.length > 0 && { marks }) };
  });
  return { mode: mode.mode, reasons: mode.reasons, machines: rows, problems: picture.decision.problems, unreadable: notes };
}

/** Every node, the fenced and failed ones first. */
export function fleetOf(cluster: Cluster, leader: Leader, vouches?: Voucher): FleetStatus {
  const all = [...cluster.fences];
  const fences = new Map(all.filter(isNamedAsItsNode).map((fence) => [fence.spec.node, fence]));
  const strays = all.filter((fence) => !isNamedAsItsNode(fence));
  const reports = new Map([...cluster.reports].map((report) => [report.metadata.name, report]));
  const stops = [...cluster.stops].map((stop) => stopRow(stop, vouches)).sort((left, right) => order(left.name, right.name));
  const nodes = [...cluster.nodes];
  const known = new Set(nodes.map((node) => node.metadata.name));
  const rows = nodes.map((node): NodeRow => {
    const { name } = node.metadata;
    const row = nodeRow(node, fences.get(name), reports.get(name), stops, leader);
    const misnamed = misnamedFor(name, strays);
    return misnamed === undefined ? row : { ...row, problems: [misnamed, ...row.problems] };
  });
  const orphans = [...fences.values()].filter((fence) => !known.has(fence.spec.node)).map((fence) => fenceRow(fence, 'gone'));
  const ordered = [...rows, ...orphans].sort((left, right) => urgency(left) - urgency(right) || order(left.node, right.node));
  const isObserving = [...fences.values()].some((fence) => fence.status?.hold?.policy === 'observe');
  const mode = leader.mode ?? (isObserving ? ('observe' as const) : undefined);
  return {
    leader,
    ...(mode === undefined ? {} : { mode }),
    ...(strays.length > 0 && { problems: strays.map(describeIgnored) }),
    stops,
    nodes: ordered,
  };
}

/** It fences nobody; whoever looks at the node that it says is told so. */
export function describeIgnored({ metadata: { name }, spec: { node } }: NodeFence): string {
  return `NodeFence ${name} of node ${node} is ignored: only one that is called ${fenceName(node)} is a fence of it. Delete it: kubectl delete nodefence ${name}`;
}

/** Failed for good, then under way, then not Ready, then the rest; the lower the sooner a person should look. */
export function urgency({ state, outcome, ready, problems, remedies = [] }: NodeRow): number {
  if (outcome === 'failed' || state === 'error') return 0;
  if (state !== undefined && state !== 'final') return 1;
  if (ready !== 'True' || remedies.some(({ phase }) => phase !== 'recovered')) return 2;
  if (problems.length > 0) return 3;
  return state === 'final' ? 4 : 5;
}

/** Without somebody who vouches for it, its author is who it claims. */
export function stopRow(stop: NodeFenceStop, vouches: Voucher = NOBODY_VOUCHES): StopRow {
  const { metadata, spec } = stop;
  const by = authorOf(stop, vouches);
  return {
    name: metadata.name,
    ...(spec.node === undefined ? {} : { node: spec.node }),
    reason: spec.reason,
    ...(metadata.creationTimestamp === undefined ? {} : { since: metadata.creationTimestamp }),
    ...(by === undefined ? {} : { by }),
  };
}

function nodeRow(node: Node, fence: NodeFence | undefined, report: NodeFenceReport | undefined, stops: readonly StopRow[], leader: Leader): NodeRow {
  const ready = readyOf(node);
  const configured = (report?.status?.problems ?? [])
    .filter(({ severity }) => severity === 'error')
    .map(({ where, message }) => `${where}: ${message}`);
  const problems = [...outranked(fence, leader), ...configured, ...brokenPaths(report)];
  const { fence: trigger, problems: told = [] } = report?.status ?? {};
  const fenceable = fenceableOf({ ...(trigger !== undefined && { trigger }), problems: told });
  const daemon = daemonOf(report);
  const remedies = remediesOf(report);
  const maintenance = presentMarks(node).map(({ source, where }) => `${source}: ${where}`);
  const shown = {
    ready: ready?.status ?? ('missing' as const),
    cordoned: node.spec.unschedulable === true,
    problems,
    ...(fenceable !== 'yes' && { fenceable }),
    ...(daemon !== undefined && { daemon }),
    ...(remedies.length > 0 && { remedies }),
    ...(maintenance.length > 0 && { maintenance }),
  };
  if (fence !== undefined) return { ...fenceRow(fence, shown.ready), ...shown };
  const isStopped = stops.some((stop) => stop.node === undefined || stop.node === node.metadata.name);
  const since = ready?.lastTransitionTime;
  return { node: node.metadata.name, ...shown, ...(since === undefined ? {} : { since }), ...(isStopped ? { hold: 'stop' } : {}) };
}

function withHeardDump(row: NodeRow, heard: ReadonlyMap<string, HeardDumpRow>, fences: FleetListers['fences'], nowMs: number): NodeRow {
  const dump = dumpNow(heard.get(row.node), row.ready === 'True', fenceOf(fences, row.node)?.status, nowMs);
  return dump === undefined ? row : { ...row, dump };
}

/** Devices that a fence could not use when they were last read: silent, changed, refused. */
function brokenPaths(report: NodeFenceReport | undefined): string[] {
  const broken = (report?.status?.devices ?? []).filter(({ path }) => path === 'broken');
  return broken.map(({ agent, device, plug, methods, message = 'it could not be read' }) => {
    const name = [agent, device, ...(plug === '' ? [] : ['plug', plug])].join(' ');
    return `${name} (${methods.join(', ')}): ${message}`;
  });
}

/** The leader decides nothing about such a fence. */
function outranked(fence: NodeFence | undefined, leader: Leader): string[] {
  const epoch = epochOf(fence?.status);
  if (!leader.isAlive || epoch <= leader.epoch) return [];
  return [
    `its NodeFence was last written under epoch ${epoch}, and the leader leads under ${leader.epoch}: it is to begin another term; if it does not, restart it`,
  ];
}

function fenceRow({ spec, status, metadata }: NodeFence, ready: Ready): NodeRow {
  const row: NodeRow = { node: spec.node, ready, cordoned: false, problems: [] };
  if (status?.frozen === undefined)
    return { ...row, state: 'new', ...(metadata.creationTimestamp === undefined ? {} : { since: metadata.creationTimestamp }) };
  const since = enteredAt(status);
  const device = deviceOf(status, status.frozen.plan);
  return {
    ...row,
    state: status.state,
    step: status.step,
    ...(status.hold === undefined ? {} : { hold: status.hold.policy }),
    ...(status.outcome === undefined ? {} : { outcome: status.outcome }),
    ...(since === undefined ? {} : { since }),
    ...(device === undefined ? {} : { device }),
    ...(status.message === undefined ? {} : { message: status.message }),
  };
}

/** When the fence came into its present state, by its own record. */
export function enteredAt({ state, timeline, journal, trigger }: NodeFenceStatus): string | undefined {
  const last = journal.at(-1);
  const entered = {
    new: timeline.noticedAt ?? trigger?.since,
    running: timeline.isolatedAt,
    done: last?.finishedAt,
    error: last?.finishedAt,
    final: timeline.finalAt,
  };
  return entered[state] ?? timeline.noticedAt;
}

function deviceOf({ journal }: NodeFenceStatus, plan: Plan): string | undefined {
  const last = journal.findLast((entry) => entry.device !== '');
  const first = plan.powerManagement.flatMap((level) => level.methods).find((method) => method.device !== '');
  const { device, plug } = last ?? first ?? { device: '', plug: '' };
  return device === '' ? undefined : `${device}${plug === '' ? '' : ` ${plug}`}`;
}

export function fenceOf(fences: Pick<Lister<NodeFence>, 'get'>, node: string): NodeFence | undefined {
  const fence = fences.get(fenceName(node));
  return fence !== undefined && isNamedAsItsNode(fence) ? fence : undefined;
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
