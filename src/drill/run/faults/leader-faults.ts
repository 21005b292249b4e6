import type { TraceEvent } from '../../laws/trace.ts';
import { termsOf } from '../leaders.ts';
import { pause } from '../pause.ts';
import type { Replica } from '../replicas.ts';
import { Family } from './family.ts';
import { randomMoment } from './moment.ts';
import { WORLD } from './names.ts';
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
  const { replicas, session } = stage;
  const when = await randomMoment(stage);
  const leader = await leaderOf(stage);
  // Stopped first, so that no child is born between the count and the kill.
  leader.child.signal('SIGSTOP');
  const family = new Family(leader.child.pid);
  replicas.signal(leader, 'SIGKILL');
  const killedMs = session.now();
  stage.tell(`${leader.name} is killed ${when}, with ${family.size} children`);
  const goneMs = await family.untilGone(CHILDREN_MS);
  const left = family.alive();
  await untilSuccessor(stage, killedMs);
  const outlivedLease = family.alive();
  return {
    did: `${leader.name} was killed ${when}`,
    problems: [
      ...(left > 0 ? [`${left} children of ${leader.name} were left ${CHILDREN_MS / 1000} s after it was killed`] : []),
      ...(outlivedLease > 0 ? [`${outlivedLease} children of ${leader.name} lived when its successor began`] : []),
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
  replicas.signal(leader, 'SIGSTOP');
  const pausedMs = session.now();
  stage.tell(`${leader.name} stands still ${when}`);
  await pause(WORLD.leaderPauseMs);
  const problems: string[] = [];
  if (!isLedAnew(stage, pausedMs)) problems.push(`nobody took over from ${leader.name} in ${WORLD.leaderPauseMs / 1000} s`);
  replicas.signal(leader, 'SIGCONT');
  const awakeMs = session.now();
  stage.tell(`${leader.name} goes on`);
  const hasEnded = await Promise.race([leader.child.end().then(() => true), pause(EXIT_MS).then(() => false)]);
  if (!hasEnded) problems.push(`${leader.name} did not end although it had lost its lease`);
  problems.push(...actsOfTheOld(session.traces(), pausedMs, awakeMs).map((act) => `${leader.name} woke up and ${act}`));
  return { did: `${leader.name} stood still ${when}`, problems };
}

/** What a leader did after it had been paused: told by its device sessions, and by the epoch in the statuses that it wrote or tried to. */
export function actsOfTheOld(trace: readonly TraceEvent[], pausedMs: number, awakeMs: number): string[] {
  const known = new Set(trace.flatMap((event) => (event.kind === 'device' && event.at <= pausedMs ? [sessionOf(event)] : [])));
  const successor = termsOf(trace).find(({ fromMs }) => fromMs > pausedMs);
  return trace.flatMap((event) => {
    if (event.at <= awakeMs) return [];
    if (event.kind === 'device' && event.action === 'set' && known.has(sessionOf(event)) && isOwnSession(event.session))
      return [`set ${event.device} ${event.want ?? ''} over its old session`];
    if (event.kind !== 'api' || event.resource !== 'nodefences.ha.k8s.io' || successor === undefined) return [];
    const epoch = (event.request as { status?: { epoch?: number } } | undefined)?.status?.epoch;
    return epoch !== undefined && epoch < successor.epoch ? [`wrote ${event.name ?? ''} with epoch ${epoch}`] : [];
  });
}

function sessionOf({ device, session }: { device: string; session: string }): string {
  return `${device} ${session}`;
}

/** Debian's ipmi_sim does not tell whose request it answers. */
function isOwnSession(session: string): boolean {
  return session !== 'ipmi_sim';
}

async function leaderOf({ watcher, replicas, session }: FaultStage): Promise<Replica> {
  for (const untilMs = session.now() + SUCCESSOR_MS; session.now() < untilMs; await pause(POLL_MS)) {
    const leader = replicas.named(watcher.leaderLease?.spec.holderIdentity ?? '');
    if (leader?.child.running === true) return leader;
  }
  throw new Error('no controller leads that could be hit');
}

async function untilSuccessor(stage: FaultStage, sinceMs: number): Promise<void> {
  for (const untilMs = stage.session.now() + SUCCESSOR_MS; stage.session.now() < untilMs; await pause(POLL_MS)) {
    if (isLedAnew(stage, sinceMs)) return;
  }
}

/** Somebody took the Lease after this moment. */
function isLedAnew({ watcher }: FaultStage, sinceMs: number): boolean {
  const { holderIdentity = '', acquireTime } = watcher.leaderLease?.spec ?? {};
  return holderIdentity !== '' && acquireTime !== undefined && Date.parse(acquireTime) > sinceMs;
}
