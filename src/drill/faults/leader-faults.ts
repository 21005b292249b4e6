import type { TraceEvent } from '../../laws/trace.ts';
import { termsOf } from '../run/leaders.ts';
import { firstAnswer, pause } from '../run/pause.ts';
import { isOver } from '../run/readiness.ts';
import type { Replica } from '../run/replicas.ts';
import { Family } from './family.ts';
import { randomMoment } from './moment.ts';
import { EXPECTED, WORLD } from './names.ts';
import { panic, strike } from './script.ts';
import type { FaultFindings, FaultScript, FaultStage } from './script.ts';

const SUCCESSOR_MS = 40_000;
const CHILDREN_MS = 10_000;
const POLL_MS = 50;
/** A process that was paused finds out at its next turn. */
const EXIT_MS = 5_000;

/** The leader dies at a random moment of the fence. Somebody else leads then, and nothing of the dead one is left. */
export const controllerCrash: FaultScript = (stage) => ({ atMs: strike(stage, 'controller-crash', () => panic(stage)), over: crash(stage) });

async function crash(stage: FaultStage): Promise<FaultFindings> {
  const { replicas, session, watcher, node } = stage;
  const when = await randomMoment(stage);
  const leader = await leaderOf(stage);
  // Stopped first, so that no child is born between the count and the kill.
  leader.child.signal('SIGSTOP');
  const family = new Family(leader.child.pid);
  replicas.kill(leader);
  const killedMs = session.now();
  stage.tell(`${leader.name} is killed ${when}, with ${family.size} children`);
  const goneMs = await family.untilGone(CHILDREN_MS);
  const left = family.alive();
  const successorMs = await untilSuccessor(stage, killedMs);
  const outlivedLease = family.alive();
  await watcher.until(`the end of the fence of ${node}`, EXPECTED['controller-crash'].deadlineMs, () => isOver(watcher, node)).catch(() => undefined);
  const acts = successorMs === undefined ? ['had no successor'] : actsOfTheOld(session.traces(), killedMs, successorMs, 'read');
  return {
    did: `${leader.name} was killed ${when}`,
    problems: [
      ...(left > 0 ? [`${left} children of ${leader.name} were left ${CHILDREN_MS / 1000} s after it was killed`] : []),
      ...(outlivedLease > 0 ? [`${outlivedLease} children of ${leader.name} lived when its successor began`] : []),
      ...acts.map((act) => `${leader.name}, killed, ${act}`),
    ],
    children: { seen: family.size, left, outlivedLease, ...(family.size === 0 || goneMs === undefined ? {} : { goneMs: Math.round(goneMs) }) },
  };
}

/** The leader stands still for longer than its lease. Its successor goes on, and it begins nothing when it wakes up. */
export const leaderPause: FaultScript = (stage) => ({ atMs: strike(stage, 'leader-pause', () => panic(stage)), over: standStill(stage) });

async function standStill(stage: FaultStage): Promise<FaultFindings> {
  const { replicas, session } = stage;
  const when = await randomMoment(stage);
  const leader = await leaderOf(stage);
  const thaw = replicas.freeze(leader);
  const pausedMs = session.now();
  stage.tell(`${leader.name} is paused ${when}`);
  await pause(WORLD.leaderPauseMs);
  const problems: string[] = [];
  if (!isLedAnew(stage, pausedMs)) problems.push(`nobody took over from ${leader.name} in ${WORLD.leaderPauseMs / 1000} s`);
  thaw();
  const awakeMs = session.now();
  stage.tell(`${leader.name} goes on`);
  const hasEnded = await Promise.race([leader.child.end().then(() => true), pause(EXIT_MS).then(() => false)]);
  if (!hasEnded) problems.push(`${leader.name} did not end although it had lost its lease`);
  problems.push(...actsOfTheOld(session.traces(), pausedMs, awakeMs, 'set').map((act) => `${leader.name} woke up and ${act}`));
  return { did: `${leader.name} stood still ${when}`, problems };
}

/**
 * What a former leader did after `fromMs`: told by its device sessions, those that were open when it stood still or died at `struckMs`, and by the
 * epoch in the statuses that it wrote or tried to. `least`: whether reads count, or only sets.
 */
export function actsOfTheOld(trace: readonly TraceEvent[], struckMs: number, fromMs: number, least: 'read' | 'set'): string[] {
  const known = new Set(trace.flatMap((event) => (event.kind === 'device' && event.at <= struckMs ? [sessionOf(event)] : [])));
  const successor = termsOf(trace).find(({ fromMs: beganMs }) => beganMs > struckMs);
  return trace.flatMap((event) => {
    if (event.at <= fromMs) return [];
    if (event.kind === 'device' && (least === 'read' || event.action === 'set') && known.has(sessionOf(event)))
      return [`asked ${event.device} to ${event.action} ${event.want ?? ''} over an old session`];
    if (event.kind !== 'api' || event.resource !== 'nodefences.ha.k8s.io' || successor === undefined) return [];
    const epoch = (event.request as { status?: { epoch?: number } } | undefined)?.status?.epoch;
    return epoch !== undefined && epoch < successor.epoch ? [`wrote ${event.name ?? ''} with epoch ${epoch}`] : [];
  });
}

function sessionOf({ device, session }: { device: string; session: string }): string {
  return `${device} ${session}`;
}

/** The replica that leads now, as soon as one does. */
export async function leaderOf({ watcher, replicas }: FaultStage): Promise<Replica> {
  const runningLeader = (): Replica | undefined => {
    const leader = replicas.named(watcher.leaderLease?.spec.holderIdentity ?? '');
    return leader?.child.running === true ? leader : undefined;
  };
  const found = await firstAnswer(runningLeader, SUCCESSOR_MS, POLL_MS);
  if (found === undefined) throw new Error('no controller leads that could be hit');
  return found;
}

/** Resolves with the time when somebody else was seen to lead; undefined when nobody came. */
function untilSuccessor(stage: FaultStage, sinceMs: number): Promise<number | undefined> {
  return firstAnswer(() => (isLedAnew(stage, sinceMs) ? stage.session.now() : undefined), SUCCESSOR_MS, POLL_MS);
}

/** Somebody took the Lease after this moment. */
function isLedAnew({ watcher }: FaultStage, sinceMs: number): boolean {
  const { holderIdentity = '', acquireTime } = watcher.leaderLease?.spec ?? {};
  return holderIdentity !== '' && acquireTime !== undefined && Date.parse(acquireTime) > sinceMs;
}
