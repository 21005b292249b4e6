import { provenOff } from './evidence.ts';
import { leftToRelease } from './program.ts';
import type { FenceCondition, Hold, NodeFenceStatus } from './node-fence.ts';
import { LIMITS } from './node-fence.ts';

type ConditionState = Omit<FenceCondition, 'lastTransitionTime'>;

/** Something of the spec is heeded by nobody. */
const SPEC_IGNORED = 'SpecIgnored';

/** It stands in the status that something of the spec is ignored. */
export function isToldIgnored({ conditions }: NodeFenceStatus): boolean {
  return conditions.some(({ type, reason }) => type === 'ConfigurationValid' && reason === SPEC_IGNORED);
}

/** Something has held the fence: the condition says what, `policy: message`, until something else does. */
const HOLD_OVER = 'HoldOver';

/** What last held a fence that nothing holds now, as `policy: message`. */
export function pastHold({ conditions }: NodeFenceStatus): string | undefined {
  return conditions.find(({ type, reason }) => type === 'Held' && reason === HOLD_OVER)?.message;
}

/**
 * Conditions say in Kubernetes' own form what state, evidence and holds say; derived anew at every write. `ignored`: what of the spec nobody heeds.
 * `before`: the hold of the status that this one follows.
 */
export function withConditions(status: NodeFenceStatus, wall: string, ignored?: string, before?: Hold): NodeFenceStatus {
  const past = before === undefined ? pastHold(status) : describeHold(before);
  const conditions = conditionStates(status, ignored, past).map((current) => {
    const before = status.conditions.find((condition) => condition.type === current.type);
    const since = before?.status === current.status ? before.lastTransitionTime : wall;
    return { ...current, message: current.message.slice(0, LIMITS.message), lastTransitionTime: since };
  });
  return { ...status, conditions };
}

/** As the record of an incident has it. */
export function describeHold({ policy, message }: Hold): string {
  return `${policy}: ${message}`;
}

function conditionStates(status: NodeFenceStatus, ignored: string | undefined, past: string | undefined): ConditionState[] {
  const plan = status.frozen?.plan;
  const proof = plan === undefined ? undefined : provenOff(status.evidence, plan);
  const problem = plan?.problems.find((candidate) => candidate.severity === 'error');
  const edges = status.restore?.edges ?? [];
  const stuck = edges.length > 0 && (status.state === 'done' || status.state === 'error');
  return [
    truth('Isolated', status.timeline.isolatedAt !== undefined && status.state !== 'final', 'StepFinished', 'NotIsolated', ''),
    truth('PoweredOff', proof !== undefined && edges.some((edge) => edge.state === 'off'), 'ReadBack', 'NoProof', proof?.detail ?? ''),
    truth('WorkloadReleased', status.released !== undefined && leftToRelease(status) === 0, 'Released', 'NotReleased', describeReleased(status)),
    truth('Recovered', status.outcome === 'recovered', 'NodeHealthy', 'NotRecovered', ''),
    truth(
      'Held',
      status.hold !== undefined,
      status.hold?.reason === undefined ? 'Held' : camel(status.hold.reason),
      past === undefined ? 'NotHeld' : HOLD_OVER,
      status.hold?.message ?? past ?? '',
    ),
    truth('Stopped', status.hold?.policy === 'stop', 'StoppedByPerson', 'NotStopped', status.hold?.policy === 'stop' ? status.hold.message : ''),
    truth(
      'ConfigurationValid',
      problem === undefined && ignored === undefined,
      'PlanResolved',
      problem === undefined ? SPEC_IGNORED : 'PlanHasErrors',
      problem === undefined ? (ignored ?? '') : `${problem.where}: ${problem.message}`,
    ),
    truth('LeftOff', stuck, 'DeviceStillOff', 'NothingLeftOff', edges.map((edge) => `${edge.device} ${edge.plug} is ${edge.state}`).join(', ')),
  ];
}

function describeReleased({ released, storageRelease }: NodeFenceStatus): string {
  const revoked = storageRelease === undefined ? '' : `${podsOf(storageRelease.pods)} by storage-revoked (${storageRelease.storages.join(', ')})`;
  if (released === undefined) return revoked;
  const more = (released.left ?? 0) > 0 ? `, ${released.left} more to go` : '';
  const kept = (released.kept ?? []).map(({ pod, by }) => `; ${pod} is kept: ${by}`).join('');
  const volumes = (released.keptVolumes ?? []).map(({ attachment, by }) => `; VolumeAttachment ${attachment} is kept: ${by}`).join('');
  return `by ${released.by}, ${podsOf(released.pods)}${more}${kept}${volumes}${revoked === '' ? '' : `; before that ${revoked}`}`;
}

function podsOf(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}

function truth(type: ConditionState['type'], holds: boolean, yes: string, no: string, message: string): ConditionState {
  return { type, status: holds ? 'True' : 'False', reason: holds ? yes : no, message };
}

function camel(reason: string): string {
  return reason.replaceAll(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase());
}
