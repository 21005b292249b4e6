import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { Plan } from '../domain/plan.ts';
import type { FenceHistory } from './fence-history.ts';
import type { History, PlacedEvent } from './history.ts';
import type { Verdict } from './law.ts';
import type { ControllerEvent, DeviceEvent, DumpEvent } from './trace.ts';

/** What the fence must say and hear, in words of our own: who judges takes nothing from whom he judges. */
const KDUMP_POLICY = 'kdump';
const MESSAGES_MIN = 2;
/** What stands in a status was decided so long before at most: a watch that is late, a request that is slow. */
const LATE_MS = 15_000;
/** A kubelet renews its Lease every 10 s: as long as that is awaited, messages of a node that may live hold nothing, for anybody can send them. */
const RENEWED_WITHIN_MS = 15_000;
/** So late at most a leader hears that a kubelet lives: a watch that hangs is given up after 75 s, and opened anew within 15 s more, by the second try where the first is refused. */
const LIFE_LATE_MS = 105_000;
/** By so much at most a replica mistakes how old the messages are of which another one tells. */
const RECORDED_WITHIN_MS = 22_000;

/** Of clocks that are fast. */
const DRIFT = 0.02;

type Times = NonNullable<Plan['kdump']>;

interface Messages {
  firstMs: number;
  lastMs: number;
  count: number;
}

/** P6, of dumps: nothing is switched off while a kernel dumps, as far as whoever switches has heard; and no hold for a dump outlasts its messages or its limit. */
export function judgeDumps(history: History, toleranceMs: number, verdict: Verdict): void {
  const heard = new Heard(history);
  if (heard.isEmpty && history.fences.every(({ statuses }) => statuses.entries.every(({ value }) => value.frozen?.plan.kdump === undefined))) return;
  for (const set of history.sets) if (set.event.want === 'off') judgeOff(history, heard, set, toleranceMs, verdict);
  for (const fence of history.fences) judgeHolds(history, heard, fence, verdict);
}

function judgeOff(history: History, heard: Heard, { position, event }: PlacedEvent<DeviceEvent>, toleranceMs: number, verdict: Verdict): void {
  const { node, at, session, device } = event;
  const fence = history.fenceOf(node, position);
  const status = fence?.statuses.before(position);
  const times = status?.frozen?.plan.kdump;
  if (fence === undefined || status === undefined || times === undefined || hasEnded(history, fence, status, position, node)) return;
  const life = livesOf(history, node, position).at(-1);
  if (life !== undefined && at < life.at + RENEWED_WITHIN_MS) return;
  const own = heard.since(life?.position ?? -1, position, node, session);
  if (own === undefined || own.count < MESSAGES_MIN) return;
  // Another replica may have heard an earlier one, and told it: the limit is counted from that, as far as their clocks agree.
  const all = heard.since(life?.position ?? -1, position, node) ?? own;
  const [silenceMs = 0, limitMs = 0] = [times.finishedTimeoutMs, times.maxDurationMs].map((ms) => ms * (1 - DRIFT));
  const toldMs = all.firstMs < own.firstMs ? RECORDED_WITHIN_MS : 0;
  const untilMs = Math.min(own.lastMs + silenceMs, all.firstMs + limitMs - toldMs) - toleranceMs;
  const complaint = `${device} was set off while ${node} dumped: ${session} had heard ${String(own.count)} messages, the last at ${String(own.lastMs)}`;
  verdict.check(at >= untilMs, at, complaint);
}

interface Life {
  position: number;
  at: number;
  /** Messages go on through it, so that they count from when it is heard: so late at most. */
  lateMs?: number;
}

/** What whoever reads takes for a sign of life: a restore of etcd shows every Lease anew, as a kubelet does whose clock was set back. */
function livesOf(history: History, node: string, to: number): Life[] {
  const restores = history.events.flatMap((event, position) =>
    position < to && event.kind === 'fault' && event.fault === 'etcd-restored' ? [{ position, at: event.at, lateMs: LIFE_LATE_MS }] : [],
  );
  return [...history.lifeSigns(node, -1, to), ...restores].sort((one, other) => one.position - other.position);
}

/** An off of this incident was sent before, or a person has spoken: then no dump is waited for. */
function hasEnded(history: History, fence: FenceHistory, status: NodeFenceStatus, position: number, node: string): boolean {
  const from = history.incidentStart(fence, position);
  const isSent = history.sets.some((set) => set.event.node === node && set.event.want === 'off' && set.position > from && set.position < position);
  const isTried = status.journal.some(({ action, finishedAt, result }) => action === 'off' && finishedAt !== undefined && result !== 'not-sent');
  return isSent || isTried || status.evidence.some(({ kind }) => kind === 'ack');
}

/** Every status that says that a dump holds the fence has a cause in the messages that came. */
function judgeHolds(history: History, heard: Heard, { node, statuses }: FenceHistory, verdict: Verdict): void {
  const standstills = new Standstills(history);
  const clockSetAt = history.events.findIndex((event) => event.kind === 'controller' && event.what === 'clock-set');
  let [awaitedSince, epoch] = [Number.NaN, -1];
  for (const { position, at, value } of statuses.entries) {
    const hold = [...(value.hold === undefined ? [] : [value.hold]), ...(value.hold?.besides ?? [])].find(({ policy }) => policy === KDUMP_POLICY);
    const times = value.frozen?.plan.kdump;
    if (hold === undefined || times === undefined) {
      awaitedSince = Number.NaN;
      continue;
    }
    if (hold.reason === 'kdump-awaited') {
      // A new leader waits for as long as the one before.
      if (Number.isNaN(awaitedSince) || value.epoch !== epoch) [awaitedSince, epoch] = [at, value.epoch];
      const stoodMs = standstills.of(leaderAt(history, position), awaitedSince, at);
      verdict.check(
        at <= awaitedSince + times.startTimeoutMs + LATE_MS + stoodMs,
        at,
        `${node} is still awaited to dump, since ${String(awaitedSince)}`,
      );
      continue;
    }
    awaitedSince = Number.NaN;
    const lives = livesOf(history, node, position);
    const heardLife = lives.findLast((life) => life.at <= at - LIFE_LATE_MS) ?? { position: -1, at: 0 };
    const leader = leaderAt(history, position);
    const termBeganMs = termBegan(history, position);
    const isDumpingSince = ({ position: from, lateMs = 0 }: Life): boolean => {
      const messages = messagesSince(heard, { from, to: position, node, leader });
      if (messages === undefined || messages.count < MESSAGES_MIN) return false;
      const isClockSet = clockSetAt !== -1 && clockSetAt < position;
      return at <= endsAt(messages, times, { termBeganMs, isClockSet }) + lateMs + standstills.of(leader, messages.firstMs, at);
    };
    // Which of the later ones it has heard by then nobody can tell: what it says is right where it is since one of them. Messages that anybody sent before do not bring its limit nearer.
    const isDumping = [heardLife, ...lives.filter((life) => life.position > heardLife.position)].some(isDumpingSince);
    const since = messagesSince(heard, { from: heardLife.position, to: position, node, leader });
    verdict.check(isDumping, at, `its fence waits for a dump of ${node}, of which ${said(since)}`);
  }
}

/** What came to a process that is gone, and that could tell nobody, is not known to its successor. */
function messagesSince(heard: Heard, { from, to, node, leader }: { from: number; to: number; node: string; leader: string }): Messages | undefined {
  const all = heard.since(from, to, node);
  return all && { ...all, firstMs: heard.since(from, to, node, leader)?.firstMs ?? all.firstMs };
}

/**
 * A leader that began in the midst of it counts the silence from what it reads then. How old the first message is it can read by the clock on the wall alone:
 * where one was set it counts the limit from then as well.
 */
function endsAt(
  { firstMs, lastMs }: Messages,
  { finishedTimeoutMs, maxDurationMs }: Times,
  { termBeganMs, isClockSet }: { termBeganMs: number; isClockSet: boolean },
): number {
  const countsFromMs = isClockSet ? Math.max(firstMs, termBeganMs) : firstMs;
  return Math.min(Math.max(lastMs, termBeganMs) + finishedTimeoutMs + RECORDED_WITHIN_MS, countsFromMs + maxDurationMs) + LATE_MS;
}

function said(messages: Messages | undefined): string {
  return messages === undefined ? 'nothing was heard' : `${String(messages.count)} messages came, the last at ${String(messages.lastMs)}`;
}

/** The process that holds the Lease, as devices know it. */
function leaderAt(history: History, position: number): string {
  return (history.leadership.before(position)?.spec.holderIdentity ?? '').replace(/_[^_]*$/u, '');
}

/** When the holder of the Lease took it: the one before may have been gone for long. */
function termBegan(history: History, position: number): number {
  const { entries } = history.leadership;
  const now = history.leadership.entryBefore(position);
  const holder = now?.value.spec.holderIdentity;
  const before = entries.findLast((entry) => entry.position < position && entry.value.spec.holderIdentity !== holder)?.position;
  return before === undefined ? 0 : (entries.find((entry) => entry.position > before)?.at ?? 0);
}

/** How long processes stood still: what a process waits for is counted on a clock that may stand still with it. */
class Standstills {
  readonly #events: readonly ControllerEvent[];

  constructor({ events }: Pick<History, 'events'>) {
    this.#events = events.filter((event) => event.kind === 'controller');
  }

  /** Between two moments, in milliseconds. A process that is stopped twice goes on when both have ended. */
  of(session: string, fromMs: number, toMs: number): number {
    let [stops, sinceMs, sumMs] = [0, 0, 0];
    for (const { id, what, at } of this.#events) {
      if (id !== session || at > toMs) continue;
      if (what === 'pause') {
        if (stops === 0) sinceMs = at;
        stops += 1;
      } else if (what === 'resume' && stops > 0) {
        stops -= 1;
        if (stops === 0) sumMs += Math.max(0, at - Math.max(sinceMs, fromMs));
      }
    }
    return stops === 0 ? sumMs : sumMs + Math.max(0, toMs - Math.max(sinceMs, fromMs));
  }
}

/** All messages of a run. */
class Heard {
  readonly #messages: PlacedEvent<DumpEvent>[];

  constructor({ events }: Pick<History, 'events'>) {
    this.#messages = events.flatMap((event, position) => (event.kind === 'dump' ? [{ position, event }] : []));
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** What came between two places, to one controller or to any of them. */
  since(from: number, to: number, node: string, session?: string): Messages | undefined {
    const all = this.#messages.filter(
      ({ position, event }) => position > from && position < to && event.node === node && (session === undefined || event.session === session),
    );
    const [first, last] = [all[0], all.at(-1)];
    return first === undefined || last === undefined ? undefined : { firstMs: first.event.at, lastMs: last.event.at, count: all.length };
  }
}
