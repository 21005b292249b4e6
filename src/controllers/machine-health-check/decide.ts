import type { Action, Decision, HealthCheckView, Notice, Waiting } from './actions.ts';
import { belonging, evaluatedStatus, pausedStatus, pauseReasons } from './check-status.ts';
import { timeText } from './conditions.ts';
import { evaluate } from './evaluate.ts';
import type { Observation } from './observe.ts';
import { remedy } from './remedy.ts';
import type { HealthCheck, NodeFacts } from './snapshot.ts';
import { keyOf } from './snapshot.ts';
import { isInFlight, refOf } from './target.ts';
import type { Target } from './target.ts';
import { takenBack } from './taken-back.ts';
import { scaled, thresholdOf } from './threshold.ts';
import type { Evaluation } from './evaluation.ts';

/** Everything about one check now. Pure: done once over, it has nothing more to do. */
export function decide(observation: Observation, nowMs: number): Decision {
  const { check, cluster } = observation;
  if (observation.problems.length > 0) return idle(check, observation.problems);
  if (cluster === 'missing') return idle(check, [`Cluster ${check.namespace}/${check.clusterName ?? ''} not found`]);
  if (check.isDeleting) return idle(check, []);
  const owning = belonging(check, cluster);
  const reasons = pauseReasons(check, cluster);
  if (reasons.length > 0) {
    const action = check.flavour === 'openshift' ? undefined : (owning ?? pausedStatus(check, reasons, timeText(nowMs)));
    const own = action === undefined ? [] : [action];
    return { ...idle(check, [], true), actions: [...(cluster?.isPaused === true ? [] : wordsTakenBack(observation, timeText(nowMs))), ...own] };
  }
  const targets = observation.machines.map((observed) => ({ ...observed, evaluation: evaluate(observed.subject, check, nowMs) }));
  if (targets.some(({ evaluation }) => evaluation.kind === 'unknown')) return withoutNodes(observation);
  // The order matters only where not all of them have their turn.
  return evaluated(observation, observation.maxInFlight === undefined ? targets : targets.sort(byUrgency), owning, timeText(nowMs));
}

function evaluated(observation: Observation, targets: readonly Target[], owning: Action | undefined, now: string): Decision {
  const { check, template } = observation;
  const names = observation.machines.map(({ subject }) => subject.machine.name);
  const failed = targets.filter(({ evaluation }) => evaluation.kind === 'unhealthy').length;
  const healthy = targets.filter(({ evaluation }) => evaluation.kind === 'healthy').length;
  const threshold = thresholdOf(check.trigger, { expected: names.length, healthy, failed });
  const { actions, waiting, waits, inFlight } = remedied(observation, targets, threshold.isAllowed, now);
  const templateFault =
    template === 'missing' ? `${check.template?.kind ?? ''} ${check.namespace}/${check.template?.name ?? ''} not found` : undefined;
  const refused = targets.find(
    ({ evaluation, request, refusal }) => evaluation.kind === 'unhealthy' && request === undefined && refusal !== undefined,
  );
  const faults = {
    ...(templateFault !== undefined && { templateFault }),
    ...(refused?.refusal !== undefined && { requestFault: refused.refusal }),
  };
  const own = owning ?? evaluatedStatus(check, { names, healthy, failed, threshold, ...faults }, now);
  const dueMs = targets.reduce((first, { evaluation }) => (evaluation.kind === 'pending' ? Math.min(first, evaluation.dueMs) : first), Infinity);
  const view: HealthCheckView = {
    ...viewOf(check, false),
    expectedMachines: names.length,
    currentHealthy: healthy,
    failed,
    remediationsAllowed: threshold.remediationsAllowed,
    inFlight,
    waiting,
    ...(!threshold.isAllowed && { blocked: threshold.message }),
    ...(templateFault !== undefined && { problem: templateFault }),
  };
  const problems = [
    ...(templateFault === undefined ? [] : [templateFault]),
    ...overlapsOf(targets),
    ...targets.flatMap(({ evaluation }) => problemOf(evaluation)),
  ];
  return {
    actions: own === undefined ? actions : [...actions, own],
    nodes: new Map(targets.flatMap(decidedOn)),
    views: [view],
    notices: [...targets.flatMap((target) => detected(check, target)), ...waits],
    problems: named(check, problems),
    ...(dueMs !== Infinity && { nextDueMs: dueMs }),
  };
}

/** Where nothing is known of its Node, or that says nothing of it, it was not decided on that. */
function decidedOn({ evaluation, subject: { machine, node } }: Target): [uid: string, node: NodeFacts | undefined][] {
  if (evaluation.kind !== 'unhealthy' || (typeof node !== 'object' && node !== 'missing')) return [];
  return [[machine.uid, node === 'missing' ? undefined : node]];
}

/** In a Cluster that is paused nobody remediates, and nothing is written. */
function wordsTakenBack({ machines }: Observation, now: string): Action[] {
  return machines.flatMap(({ subject, otherCheck }) => (otherCheck === undefined ? (takenBack(subject.machine, 'paused', now) ?? []) : []));
}

interface Remedied {
  actions: Action[];
  waiting: Waiting[];
  waits: Notice[];
  /** Machines in remediation afterwards. */
  inFlight: number;
}

function remedied({ check, template, maxInFlight: most }: Observation, targets: readonly Target[], isAllowed: boolean, now: string): Remedied {
  const means = { check, now, isAllowed, template };
  const places = most === undefined ? Infinity : scaled(most, targets.length, 'up');
  const result: Remedied = { actions: [], waiting: [], waits: [], inFlight: targets.filter((target) => isInFlight(target, check)).length };
  for (const target of targets) {
    const { actions, waiting, takesPlace } = remedy(target, means, result.inFlight < places);
    if (takesPlace) result.inFlight += 1;
    result.actions.push(...actions);
    if (waiting === undefined) continue;
    result.waiting.push(waiting);
    result.waits.push(...waitsFor(target, waiting));
  }
  return result;
}

function byUrgency(one: Target, other: Target): number {
  const since = (target: Target): number => (target.evaluation.kind === 'unhealthy' ? (target.evaluation.sinceMs ?? Infinity) : Infinity);
  const [left, right] = [since(one), since(other)];
  if (left !== right) return left < right ? -1 : 1;
  return one.subject.machine.name < other.subject.machine.name ? -1 : 1;
}

/** Nothing is concluded of machines whose Nodes can not be read; told on the check, with the cause where it is known. */
function withoutNodes({ check, whyUnknown: why }: Observation): Decision {
  const message = `the Nodes of its machines can not be read: ${why ?? 'they are not listed yet'}. Nothing is concluded of them`;
  const event = { type: 'Warning', reason: 'NodesUnreadable', message: `No machine is checked: ${message}` } as const;
  const notices = why === undefined ? [] : [{ target: refOf(check, 'MachineHealthCheck'), event }];
  return { ...idle(check, [message]), notices };
}

/** Nothing is evaluated; the view shows what was last written. */
function idle(check: HealthCheck, problems: readonly string[], isPaused = false): Decision {
  const [problem] = problems;
  const view = { ...viewOf(check, isPaused), ...(problem !== undefined && { problem }) };
  return { actions: [], nodes: new Map(), views: [view], notices: [], problems: named(check, problems) };
}

function viewOf({ namespace, name, status }: HealthCheck, isPaused: boolean): HealthCheckView {
  const { expectedMachines = 0, currentHealthy = 0, remediationsAllowed = 0 } = status;
  return { namespace, name, expectedMachines, currentHealthy, failed: 0, remediationsAllowed, inFlight: 0, isPaused, waiting: [] };
}

function named(check: HealthCheck, problems: readonly string[]): string[] {
  return problems.map((problem) => `MachineHealthCheck ${keyOf(check)}: ${problem}`);
}

function overlapsOf(targets: readonly Target[]): string[] {
  const counts = new Map<string, number>();
  for (const { otherCheck } of targets) if (otherCheck !== undefined) counts.set(otherCheck, (counts.get(otherCheck) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([other, count]) => `${count} of its machines are selected by MachineHealthCheck ${other} as well, which has them: here they are only counted`,
    );
}

function detected(check: HealthCheck, { evaluation, subject: { machine, node } }: Target): Notice[] {
  if (evaluation.kind !== 'pending') return [];
  const isOpenShift = check.flavour === 'openshift';
  const nodeName = typeof node === 'object' ? node.name : '';
  const subject = isOpenShift ? `${keyOf(check)}/${machine.name}/${nodeName}` : keyOf(machine);
  const message = `Machine ${subject} has unhealthy ${isOpenShift ? 'node' : 'Node'} ${nodeName}`;
  return [{ target: refOf(machine, 'Machine'), event: { type: 'Normal', reason: 'DetectedUnhealthy', message } }];
}

/** Who else has the node, and that nobody would replace it, is told on the Machine. */
function waitsFor({ subject: { machine } }: Target, { why, holder, isOrphan }: Waiting): Notice[] {
  const target = refOf(machine, 'Machine');
  if (isOrphan === true) return [{ target, event: { type: 'Normal', reason: 'SkippedNoController', message: why } }];
  const message = `Machine ${keyOf(machine)} is not remediated yet: ${why}`;
  return holder === undefined ? [] : [{ target, event: { type: 'Normal', reason: 'RemediationBlocked', message } }];
}

function problemOf(evaluation: Evaluation): string[] {
  return evaluation.kind === 'open' && evaluation.problem !== undefined ? [evaluation.problem] : [];
}
