import { LEADER_LEASE } from '../../manager/composition.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { judge } from '../../laws/judge.ts';
import type { LawResult } from '../../laws/law.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import { replacedAt } from '../../laws/writers.ts';
import { CONTROLLER_USER } from './cluster-session.ts';
import type { ClusterSession } from './cluster-session.ts';
import type { Expected } from '../faults/names.ts';
import type { Blow, FaultFindings } from '../faults/script.ts';
import { termsOf } from './leaders.ts';
import type { DrillOptions } from './options.ts';
import { refusalsIn } from './refusals.ts';
import type { Replicas } from './replicas.ts';
import { devicesOf, listsAfter, requestsOf, timelineOf } from './result.ts';
import type { DrillResult, VictimResult } from './result.ts';
import type { Watcher } from './watcher.ts';

/** Stops are read consistently before every call that acts (P6), the API servers' addresses before every judgement of a storm. */
const ALWAYS_ASKED = ['nodefencestops.ha.k8s.io', 'endpointslices.discovery.k8s.io'];
/** Every leader reads once, as it begins, which epochs are on record. */
const FENCES = 'nodefences.ha.k8s.io';
/** By name or by node only: the signs of an MCM, again and again, and what is left on a node that is drained. */
const ASKED_BY_PRESERVATION = ['leases.coordination.k8s.io', 'deployments.apps', 'machines.machine.sapcloud.io', 'pods'];
/** By name only, again and again: who else may be at work upon Machines. */
const ASKED_BESIDE_HOSTS = ['leases.coordination.k8s.io', 'deployments.apps'];
/** Beside hosts: read when it is known who owns it, or when somebody names the kind. */
const FOUND_LATER = /^(machine|cluster|baremetalhost|metal3|nodefenceremediation|powercycle)[a-z0-9]*\./;
/** Of those, what two controllers follow: whoever makes them, and whoever serves them. */
const FOLLOWED_TWICE = /^(metal3|nodefence)remediation[a-z]*\./;
/** Consistently, before a remedy is begun and until it has ended: pods of its Job, and what is left on the node. */
const ASKED_BY_REMEDIES = ['pods'];
/** First read when it is known that remedies are configured. */
const FOLLOWED_BY_REMEDIES = 'jobs.batch';
/** First read when it is known that no MCM is there, which a replica may find out after it is ready. */
const READ_LATER = ['machinesets.machine.sapcloud.io', 'machinedeployments.machine.sapcloud.io'];

/** A drill that has been played. */
export interface Played {
  session: ClusterSession;
  watcher: Watcher;
  replicas: Replicas;
  options: DrillOptions;
  expected: Expected;
  victims: readonly string[];
  blow: Blow;
  syncedAtMs: number;
  usage: DrillResult['controller'];
  exposure: Record<string, string>;
  /** Processes of the controllers that were looked at, and those whose dump would hold their memory. */
  processes: number;
  dumps: readonly string[];
  problems: readonly string[];
  findings: FaultFindings;
}

/** Judged from outside: devices, audit, disk, power; the fence's own status only says which outcome it claims. */
export function verdict(played: Played): DrillResult {
  const { session, watcher, replicas, options, expected, victims, findings, blow } = played;
  const faultAtMs = blow.atMs;
  const trace = session.traces();
  const statuses = victims.map((node) => watcher.fences.get(fenceName(node))?.status);
  const [node = '', ...further] = victims;
  const [status] = statuses;
  const switched = [...victims, ...(blow.others ?? [])].map((node) => watcher.fences.get(fenceName(node))?.status);
  const timing = switched.find((each) => each?.frozen !== undefined)?.frozen?.plan.timing;
  const texts = { ...Object.fromEntries(replicas.all.map(({ name, child }) => [`log of ${name}`, child.log()])), ...played.exposure };
  const judgement = judge(trace, {
    controllerUser: CONTROLLER_USER,
    leaseName: LEADER_LEASE,
    secrets: session.secrets,
    texts,
    ...(timing === undefined ? {} : { offStableMs: timing.offStableMs, settleMs: timing.settleMs, releaseTimeoutMs: timing.releaseTimeoutMs }),
  });
  const terms = termsOf(trace);
  const replaced = replacedAt(trace, node, faultAtMs);
  const listed = listsAfter(trace, CONTROLLER_USER, played.syncedAtMs);
  const problems = [...played.problems, ...findings.problems];
  for (const [index, name] of victims.entries()) problems.push(...wrongEnd(name, statuses[index], expected, victims.length > 1));
  problems.push(...bystanders(trace, [...victims, ...(blow.others ?? [])]), ...(blow.judges?.({ trace, status }) ?? []));
  if (judgement.writers.overlaps > 0) problems.push(`${judgement.writers.overlaps} times two writers had one volume`);
  // A controller that starts in the middle of the drill lists once, as the first ones did.
  const isFirst = replicas.all.length === options.replicas && blow.listsAnew !== true;
  if (isFirst)
    problems.push(
      ...listedAgain(
        listed,
        { hasMachines: session.fleet.length > 0, hasHosts: session.hosts !== undefined, hasRemedies: session.hasRemedies, terms: terms.length },
        options.replicas,
      ),
    );
  const rights = refusalsIn(trace, findings.startedAnewAt);
  problems.push(...rights.refused);
  for (const name of played.dumps) problems.push(`a core dump of ${name} would hold its memory`);
  for (const [law, { violations }] of Object.entries(judgement.laws)) problems.push(...violations.map((violation) => `${law} ${violation}`));
  return {
    fault: options.fault,
    seed: options.seed,
    nodes: session.nodes.length,
    agent: options.cloud ?? options.agent,
    apiServer: options.api,
    replicas: options.replicas,
    leaders: terms.map(({ identity, epoch, fromMs }) => ({
      replica: replicas.named(identity)?.name ?? identity,
      epoch,
      at: Math.round(fromMs - faultAtMs),
    })),
    node,
    outcome: findings.outcome ?? outcomeOf(status),
    expected: problems.length === 0,
    problems,
    ...(findings.did === undefined ? {} : { did: findings.did }),
    ...(findings.children === undefined ? {} : { children: findings.children }),
    timeline: timelineOf(status, faultAtMs),
    ...(replaced === undefined ? {} : { replacedAt: Math.round(replaced - faultAtMs) }),
    ...(further.length === 0 ? {} : { others: further.map((name, index) => victimOf(name, statuses[index + 1], faultAtMs)) }),
    laws: judgement.laws,
    devices: devicesOf(trace, faultAtMs),
    writers: judgement.writers,
    planted: plantedIn(played, judgement.laws.P9, Object.keys(texts).length),
    rights,
    api: requestsOf(trace, CONTROLLER_USER),
    listsAfterSync: listed,
    controller: played.usage,
    message: status?.message ?? '',
  };
}

/** What was listed although a watch stood; `listed` counts by resource. */
export function listedAgain(
  listed: Readonly<Record<string, number>>,
  { hasMachines, hasHosts, hasRemedies = false, terms }: { hasMachines: boolean; hasHosts: boolean; hasRemedies?: boolean; terms: number },
  replicas: number,
): string[] {
  const asked = new Set([
    ...ALWAYS_ASKED,
    ...(hasMachines ? ASKED_BY_PRESERVATION : []),
    ...(hasHosts ? ASKED_BESIDE_HOSTS : []),
    ...(hasRemedies ? ASKED_BY_REMEDIES : []),
  ]);
  const isFirst = (resource: string, count: number): boolean =>
    count <= replicas * (FOLLOWED_TWICE.test(resource) ? 2 : 1) &&
    ((hasMachines && READ_LATER.includes(resource)) ||
      (hasRemedies && resource === FOLLOWED_BY_REMEDIES) ||
      (hasHosts && FOUND_LATER.test(resource)));
  const isBeginning = (resource: string, count: number): boolean => resource === FENCES && count <= terms;
  const again = Object.entries(listed).filter(
    ([resource, count]) => !asked.has(resource) && !isFirst(resource, count) && !isBeginning(resource, count),
  );
  return again.map(([resource]) => `${resource} was listed again after the first sync`);
}

/** Every check of P9 is a text, or something that a controller wrote or read. */
function plantedIn({ session, processes }: Played, { checks, violations }: LawResult, texts: number): DrillResult['planted'] {
  return { secrets: session.secrets.length, writes: checks - texts, texts, processes, found: violations.length };
}

function victimOf(node: string, status: NodeFenceStatus | undefined, faultAtMs: number): VictimResult {
  return { node, outcome: outcomeOf(status), timeline: timelineOf(status, faultAtMs) };
}

function outcomeOf(status: NodeFenceStatus | undefined): string {
  return status?.outcome ?? (status === undefined ? 'no fence' : `${status.state} in ${status.step}`);
}

/** What of a victim's end is not as this fault must lead to. */
export function wrongEnd(node: string, status: NodeFenceStatus | undefined, expected: Expected, isOneOfSeveral: boolean): string[] {
  if (expected.outcome === 'judged') return [];
  const problems: string[] = [];
  const outcome = outcomeOf(status);
  if (outcome !== expected.outcome) problems.push(`outcome ${outcome} instead of ${expected.outcome}`);
  if (expected.released !== 'either' && (status?.timeline.releasedAt !== undefined) !== expected.released)
    problems.push(expected.released ? 'nothing was released' : 'something was released');
  return problems.map((problem) => (isOneOfSeveral ? `${node}: ${problem}` : problem));
}

/** Machines that were not broken, and were switched all the same: never right. */
export function bystanders(trace: readonly TraceEvent[], victims: readonly string[]): string[] {
  const sets = trace.flatMap((event) => (event.kind === 'device' && event.action === 'set' && !victims.includes(event.node) ? [event] : []));
  return [...new Set(sets.map(({ node, want }) => `${node}, which nobody broke, was told to switch ${want ?? '?'}`))];
}
