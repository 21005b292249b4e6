import { advance } from '../advance.ts';
import { sameContent } from '../canonical.ts';
import { describeError } from '../errors.ts';
import { isOnBootThatWasOff, triggerDueMs } from '../health.ts';
import { endsInIsolation } from '../last-step.ts';
import { bounded, LIMITS } from '../node-fence.ts';
import type { Hold, NodeFenceStatus, OtherHold } from '../node-fence.ts';
import { isPreservedOnly, mustSwitchOff } from '../preservation.ts';
import type { ActiveHold } from '../snapshot.ts';
import { earliestAfter, event, moved } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { momentOf, describeWould } from '../would.ts';
import { closed, failed } from './closing.ts';

/** Something was done in this fence that has to be looked after. */
function touched({ status }: Context): boolean {
  return status.journal.length > 0 || status.restore !== undefined;
}

export const NEW_ROWS: readonly Row[] = [
  {
    id: 'new-untouched',
    from: 'new',
    when: 'healthy, nothing in journal or restore',
    does: 'outcome `untouched`',
    to: 'final',
    applies: (context) => context.healthy && !touched(context),
    act: (context) => closed(context, 'untouched', 'The node became healthy before anything was done.'),
  },
  {
    id: 'new-healthy',
    from: 'new',
    when: 'healthy, something done before (after a restart)',
    does: '–',
    to: 'done',
    applies: (context) => context.healthy,
    act: (context) => ({
      status: moved(context.status, { state: 'done' }, 'The node is healthy: recovery follows.'),
      requeueAtMs: context.snapshot.nowMs,
    }),
  },
  {
    id: 'new-not-triggered',
    from: 'new',
    when: 'neither healthy nor triggered now',
    does: 'wait',
    to: 'new',
    applies: (context) => !context.triggered,
    act: (context) => ({ ...waitForChange(context), ...aliveThoughOff(context) }),
  },
  {
    id: 'new-preserved',
    from: 'new',
    when: 'a request is open, and the machine is healthy and preserved by `now`; no other hold',
    does: 'record the hold `preserved`, change nothing; the request may be withdrawn',
    to: 'new',
    applies: ({ snapshot }) => isPreservedOnly(snapshot),
    act: hold,
  },
  {
    id: 'new-held',
    from: 'new',
    when: 'a hold applies',
    does: 'record it, wait (alarm after `alarm_after`)',
    to: 'new',
    applies: (context) => context.snapshot.holds.length > 0,
    act: hold,
  },
  {
    id: 'new-delay',
    from: 'new',
    when: '`isolation_delay` not over since our first observation',
    does: 'wait',
    to: 'new',
    applies: (context) => isolationDueMs(context) > context.snapshot.nowMs,
    act: (context) => ({ status: context.status, requeueAtMs: isolationDueMs(context) }),
  },
  {
    id: 'new-isolate',
    from: 'new',
    when: '`isolation_delay` over',
    does: 'step isolation; where it fails on a preserved machine whose pods must move (`preserved=power-off`), power-management follows all the same',
    to: 'running, or error after `step_retries`',
    applies: () => true,
    act: isolate,
  },
];

const ALIVE_THOUGH_OFF = describeError(
  'EvidenceVoided',
  'The node is Ready on the same boot on which its device read off, or which was acknowledged as down; it stays as it is until it boots again.',
);

/** Neither failed nor healthy, and no time will change that: a person must hear of it, once. */
export function aliveThoughOff({ node, status, snapshot }: Context): Pick<Transition, 'status' | 'events'> {
  // Until it has said something since, its Ready is only what the API has not yet noticed.
  if (
    node?.ready !== 'True' ||
    node.lifeAtMs <= (snapshot.since.action ?? Number.NEGATIVE_INFINITY) ||
    !isOnBootThatWasOff(node, status) ||
    status.message === ALIVE_THOUGH_OFF
  )
    return {};
  return { status: { ...status, message: ALIVE_THOUGH_OFF }, events: [event('Warning', 'AliveAfterPowerOff', ALIVE_THOUGH_OFF)] };
}

function isolationDueMs({ snapshot, plan }: Context): number {
  return (snapshot.since.triggered ?? snapshot.nowMs) + plan.timing.isolationDelayMs;
}

function isolate(context: Context): Transition {
  return advance(context, 'isolation', {
    finished: (status) => {
      const next = moved(status, { state: 'running', step: 'power-management' }, 'The node is isolated; power-management follows after its delay.');
      next.timeline = { ...status.timeline, isolatedAt: status.timeline.isolatedAt ?? context.snapshot.wall };
      return { status: next, requeueAtMs: context.snapshot.nowMs, events: [event('Normal', 'NodeIsolated', 'Isolation is complete.')] };
    },
    failed: (status, why, error = 'StepFailed') =>
      notIsolated(context, status, why) ?? failed(context, status, describeError(error, `isolation: ${why}`)),
  });
}

/** The pods of a preserved machine must move, and isolation was the only way that would have kept what there is to see. */
function notIsolated({ snapshot, plan }: Context, status: NodeFenceStatus, why: string): Transition | undefined {
  const next = moved(status, { state: 'running', step: 'power-management' }, '');
  if (endsInIsolation(status) || !mustSwitchOff(snapshot, next, plan)) return undefined;
  const message = bounded(`Isolation failed (${why}), and its pods must move (preserved=power-off): the preserved machine is switched off.`);
  return { status: { ...next, message }, requeueAtMs: snapshot.nowMs, events: [event('Warning', 'PreservedMachineSwitchedOff', message)] };
}

/** Looks again when the trigger or the health delay may have changed by time alone. */
export function waitForChange({ snapshot, status, plan, node }: Context): Transition {
  const healthDue = snapshot.since.healthy === undefined ? undefined : snapshot.since.healthy + plan.timing.healthyDelayMs;
  const triggerDue = node === undefined ? undefined : triggerDueMs(node, plan, snapshot.since);
  return { status, requeueAtMs: earliestAfter(snapshot.nowMs, healthDue, triggerDue) };
}

/** Words of a hold are brought up to date no more often than this: a storm has thousands. */
const CHECK_MIN_MS = 60_000;

/** One hold is recorded, the same one for as long as it stands; one event at its begin, one alarm after `alarm_after`. */
export function hold(context: Context): Transition {
  const { snapshot, status, plan } = context;
  const recorded = status.hold;
  const standing = activeHoldOf(context);
  if (standing === undefined) return { status };
  const { reason, policy } = standing;
  const alarmAfterMs = alarmAfter(standing, plan);
  if (recorded?.reason !== reason || recorded.policy !== policy) {
    const alarmedAt = alarmAfterMs === undefined ? undefined : alarmedBefore(context);
    const begun = described(context, standing, { reason, policy, message: '', since: snapshot.wall, ...(alarmedAt !== undefined && { alarmedAt }) });
    return {
      status: shown(context, begun),
      events: [policy === 'observe' ? event('Normal', 'WouldFence', begun.message) : event('Normal', 'FencingHeld', `Held by ${timed(begun)}`)],
      requeueAtMs: alarmDue(context, begun, alarmAfterMs),
    };
  }
  const isOld = Math.abs(Date.parse(snapshot.wall) - Date.parse(recorded.checkedAt ?? recorded.since)) >= CHECK_MIN_MS;
  const isOther = namesOf(recorded.besides) !== namesOf(besides(context, standing));
  const now = isOld || isOther ? described(context, standing, recorded) : recorded;
  const checked = sameContent(now, recorded) ? recorded : { ...now, checkedAt: snapshot.wall };
  const alarmDueMs = alarmDue(context, recorded, alarmAfterMs);
  const isAlarm = alarmDueMs !== undefined && alarmDueMs <= snapshot.nowMs;
  return {
    status: shown(context, isAlarm ? { ...checked, alarmedAt: snapshot.wall } : checked),
    events: isAlarm ? [event('Warning', 'FencingHeldTooLong', describeAlarm(context, standing))] : [],
    requeueAtMs: earliestAfter(snapshot.nowMs, alarmDueMs),
  };
}

/** That it waits for too long was told while another hold stood right before this one. */
function alarmedBefore({ snapshot: { since, fence } }: Context): string | undefined {
  return since.waiting === undefined ? undefined : fence?.status?.hold?.alarmedAt;
}

/**
 * From when on it waits, whatever held it first: holds that take turns keep nobody from hearing of it. Once that was told, the next one is told of a hold that has
 * stood for so long by itself.
 */
function alarmDue({ snapshot: { since, nowMs } }: Context, { alarmedAt }: Hold, alarmAfterMs: number | undefined): number | undefined {
  if (alarmAfterMs === undefined) return undefined;
  if (alarmedAt === undefined) return (since.waiting ?? nowMs) + alarmAfterMs;
  const isOfAnother = since.alarmed !== undefined && since.held !== undefined && since.alarmed < since.held;
  return isOfAnother ? (since.held ?? nowMs) + alarmAfterMs : undefined;
}

/** `undefined`: it is meant, and nobody is alarmed. */
function alarmAfter({ policy, alarmAfterMs, isMeant }: ActiveHold, plan: Context['plan']): number | undefined {
  return policy === 'observe' || isMeant === true ? undefined : (alarmAfterMs ?? plan.timing.alarmAfterMs);
}

function shown({ status }: Context, standing: Hold): NodeFenceStatus {
  const given = standing.reason === 'preserved' && { slotGivenAway: true };
  const { message, until } = standing;
  const words = until === undefined ? message : bounded(`${message} (until ${until})`);
  return { ...status, hold: standing, ...given, ...(status.state === 'error' ? {} : { message: words }) };
}

/** The record of a hold with what stands now. Moments are absolute: they stay true however late they are read. */
function described(context: Context, standing: ActiveHold, recorded: Hold): Hold {
  const { snapshot } = context;
  const { until: _until, besides: _besides, freeSince, ...rest } = recorded;
  const others = besides(context, standing);
  const until = momentOf(snapshot, standing.untilMs);
  const isFree = standing.policy === 'observe' && others.length === 0;
  const next: Hold = {
    ...rest,
    message: bounded(standing.message),
    ...(until !== undefined && { until }),
    ...(others.length > 0 && { besides: others }),
    ...(isFree && { freeSince: freeSince ?? snapshot.wall }),
  };
  return standing.policy === 'observe'
    ? { ...next, message: bounded(describeWould({ ...context, snapshot: { ...snapshot, holds: lasting(snapshot.holds) } }, next)) }
    : next;
}

/** A silent watch passes by itself, again and again: nothing is written of it while something else holds. */
function lasting(holds: readonly ActiveHold[]): ActiveHold[] {
  return holds.filter(({ reason }) => reason !== 'stale-view');
}

function besides({ snapshot }: Context, { policy, reason }: ActiveHold): OtherHold[] {
  const others = lasting(snapshot.holds).filter((other) => other.policy !== policy || other.reason !== reason);
  return others.slice(0, LIMITS.besides).map((other) => {
    const until = momentOf(snapshot, other.untilMs);
    return { reason: other.reason, policy: other.policy, message: bounded(other.message), ...(until !== undefined && { until }) };
  });
}

function namesOf(others: readonly OtherHold[] = []): string {
  return others.map(({ policy, reason }) => `${policy}/${reason}`).join(' ');
}

/** `rate: 5 fences began (until 2026-11-21T12:04:00Z)`. */
function timed({ policy, message, until }: OtherHold): string {
  return `${policy}: ${message}${until === undefined ? '' : ` (until ${until})`}`;
}

/** The recorded one while it stands, so that a storm of several policies is one trip; `observe` says most and comes first. */
function activeHoldOf({ snapshot: { holds }, status }: Context): ActiveHold | undefined {
  const observe = holds.find(({ policy }) => policy === 'observe');
  return observe ?? holds.find(({ policy, reason }) => policy === status.hold?.policy && reason === status.hold.reason) ?? holds[0];
}

function describeAlarm(
  { snapshot, status, plan }: Context,
  { policy, message, untilMs, alarmAfterMs = plan.timing.alarmAfterMs }: ActiveHold,
): string {
  const until = momentOf(snapshot, untilMs);
  const pods = snapshot.waitingPods ?? [];
  const waiting = pods.length === 0 ? 'No pod waits.' : `Pods that wait: ${pods.join(', ')}.`;
  const { since } = snapshot;
  const [for_, heldSince] = [`for more than ${Math.round(alarmAfterMs / 1_000)} s`, status.hold?.since ?? ''];
  const isOneOfSeveral =
    since.waiting !== undefined && since.held !== undefined && since.waiting < since.held && status.hold?.alarmedAt === undefined;
  const held = isOneOfSeveral ? `Held ${for_}, now by ${policy} since ${heldSince}` : `Held by ${policy} ${for_}, since ${heldSince}`;
  const words = `${held}: ${message.replace(/\.?$/, '.')}${until === undefined ? '' : ` It ends at ${until}.`} ${waiting}`;
  const kubernetes =
    ' After 6 minutes Kubernetes detaches volumes of a node that is not Ready by force, proven off or not, unless its controller manager runs with --disable-force-detach-on-timeout.';
  return bounded(words, LIMITS.message - kubernetes.length) + kubernetes;
}
