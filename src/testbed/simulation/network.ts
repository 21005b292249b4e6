import type { SeededRandom } from './seeded-random.ts';

/**
 * What the API server, or what stands before it, answers for a while to most of what it is asked. plain-404: a load balancer without a backend. retry-after:
 * 429, to be asked again in a day. webhook: one that hangs, for what changes pods. status-refused: the statuses of fences are not taken.
 */
export type Burst = 'conflict' | 'too-many-requests' | 'server-error' | 'plain-404' | 'retry-after' | 'webhook' | 'status-refused';

/** [low, high), milliseconds. */
export type RangeMs = readonly [number, number];

/** How a network between processes and the API server misbehaves. Shares are probabilities per call, or per event of a watch. */
export interface ApiFaults {
  /** One way. */
  latencyMs: RangeMs;
  /** Share of calls with `slowLatencyMs` instead. */
  slowShare: number;
  slowLatencyMs: RangeMs;
  /** Never reaches the server. */
  lostRequestShare: number;
  /** Takes effect; the answer never comes. */
  lostAnswerShare: number;
  /** Writes only: answered 409 without effect. */
  conflictShare: number;
  /** Answered 429 with Retry-After, without effect. */
  tooManyRequestsShare: number;
  /** Answered 500 without effect. */
  serverErrorShare: number;
  /** The connection of a watch breaks before this event arrives. */
  watchDropShare: number;
  /** The event arrives twice. */
  watchDuplicateShare: number;
  /** The watch ends with an ERROR event of status 410 instead of this event. */
  watchGoneShare?: number;
  /** The event overtakes the one before it, which is of another object. */
  watchOvertakeShare?: number;
  /** Lists come in pages of two, so that a page may expire. */
  hasSmallPages?: boolean;
  /** Share of list pages after the first that are answered 410. */
  pageGoneShare?: number;
  /** The event, and so all behind it, comes late by `watchLateMs`. */
  watchLateShare: number;
  watchLateMs: RangeMs;
}

export const CALM_API: ApiFaults = {
  latencyMs: [0.5, 3],
  slowShare: 0,
  slowLatencyMs: [50, 1500],
  lostRequestShare: 0,
  lostAnswerShare: 0,
  conflictShare: 0,
  tooManyRequestsShare: 0,
  serverErrorShare: 0,
  watchDropShare: 0,
  watchDuplicateShare: 0,
  watchLateShare: 0,
  watchLateMs: [10, 3000],
};

/**
 * How a way to the API server is broken as a whole. cut: nothing passes, and it shows only when it heals or a deadline is over. mute: requests arrive,
 * answers and events do not. refused: every connection is refused at once, as by a server that is down. deaf: requests pass, but the watches that are
 * open when an event comes hang for ever, without any error.
 */
export type Breakage = 'cut' | 'mute' | 'refused' | 'deaf';

export type RequestFate = 'refused' | 'expired' | 'delivered' | 'lost-request' | 'lost-answer' | Burst;

/** What a call does, as far as its fate depends on it. */
export type CallKind = 'read' | 'write' | 'pod-write' | 'fence-status';

const STRIKES: Readonly<Record<Burst, ReadonlySet<CallKind>>> = {
  conflict: new Set(['write', 'pod-write', 'fence-status']),
  'too-many-requests': new Set(['read', 'write', 'pod-write', 'fence-status']),
  'server-error': new Set(['read', 'write', 'pod-write', 'fence-status']),
  'plain-404': new Set(['read', 'write', 'pod-write', 'fence-status']),
  'retry-after': new Set(['read', 'write', 'pod-write', 'fence-status']),
  webhook: new Set(['pod-write']),
  'status-refused': new Set(['fence-status']),
};

/** During a burst so many calls are refused. */
const BURST_SHARE = 0.7;

/** All hosts of a network. */
export const EVERYONE = '*';

/** Who can reach the API server now, and how badly. One for the world; faults may change while it runs. */
export class Network {
  faults: ApiFaults;
  readonly #random: SeededRandom;
  readonly #broken = new Map<string, Breakage[]>();
  readonly #bursts: Burst[] = [];
  readonly #onHeal = new Map<string, (() => void)[]>();

  constructor(random: SeededRandom, faults: ApiFaults = CALM_API) {
    this.#random = random;
    this.faults = faults;
  }

  /** How the way of that host is broken now. */
  breakageOf(host: string): Breakage | undefined {
    return this.#broken.get(host)?.at(-1) ?? this.#broken.get(EVERYONE)?.at(-1);
  }

  /** Breaks the way of one host, or of `EVERYONE`; a host's own breakage goes before everyone's, a later one before an earlier. Each is healed by itself. */
  break(host: string, breakage: Breakage): void {
    this.#broken.set(host, [...(this.#broken.get(host) ?? []), breakage]);
  }

  heal(host: string, breakage: Breakage): void {
    const standing = this.#broken.get(host) ?? [];
    const at = standing.indexOf(breakage);
    const left = standing.filter((_one, index) => index !== at);
    if (left.length === 0) this.#broken.delete(host);
    else this.#broken.set(host, left);
    for (const [name, listeners] of this.#onHeal) {
      if (this.breakageOf(name) === undefined) {
        this.#onHeal.delete(name);
        for (const listener of listeners) {
          listener();
        }
      }
    }
  }

  /** From now on the server refuses most calls of everyone; returns what ends that. */
  refuseMost(how: Burst): () => void {
    this.#bursts.push(how);
    return () => {
      this.#bursts.splice(this.#bursts.indexOf(how), 1);
    };
  }

  /** Is this page of a list gone by now? */
  isPageGone(): boolean {
    return this.#random.chance(this.faults.pageGoneShare ?? 0);
  }

  /** Called once, when that host's way is whole again. */
  onceHealed(host: string, listener: () => void): void {
    this.#onHeal.set(host, [...(this.#onHeal.get(host) ?? []), listener]);
  }

  oneWayMs(): number {
    const { faults } = this;
    const [low, high] = this.#random.chance(faults.slowShare) ? faults.slowLatencyMs : faults.latencyMs;
    return this.#random.between(low, high);
  }

  fateOf(host: string, call: CallKind): RequestFate {
    const { faults } = this;
    switch (this.breakageOf(host)) {
      case 'cut':
        return 'lost-request';
      case 'mute':
        return 'lost-answer';
      case 'refused':
        return 'refused';
      default:
    }
    const burst = this.#bursts.at(-1);
    if (burst !== undefined && STRIKES[burst].has(call) && this.#random.chance(BURST_SHARE)) {
      return burst;
    }
    let draw = this.#random.next();
    const table: readonly (readonly [RequestFate, number])[] = [
      ['lost-request', faults.lostRequestShare],
      ['lost-answer', faults.lostAnswerShare],
      ['too-many-requests', faults.tooManyRequestsShare],
      ['server-error', faults.serverErrorShare],
      ['conflict', call === 'read' ? 0 : faults.conflictShare],
    ];
    for (const [fate, share] of table) {
      draw -= share;
      if (draw < 0) {
        return fate;
      }
    }
    return 'delivered';
  }

  /** How a watch that is being opened is refused; drawn only during a burst that refuses watches, so that the streams of other worlds stay as they are. */
  watchRefusal(): 'plain-404' | 'retry-after' | undefined {
    const burst = this.#bursts.at(-1);
    const isPossible = burst === 'plain-404' || burst === 'retry-after';
    return isPossible && this.#random.chance(BURST_SHARE) ? burst : undefined;
  }

  /** What happens to one event of a watch. */
  watchFate(): WatchFate {
    const { faults } = this;
    if (this.#random.chance(faults.watchDropShare)) {
      return { what: 'dropped' };
    }
    const lateMs = this.#random.chance(faults.watchLateShare) ? this.#random.between(...faults.watchLateMs) : 0;
    const times = this.#random.chance(faults.watchDuplicateShare) ? 2 : 1;
    // Drawn only where they are possible, so that the streams of worlds without them stay as they are.
    if (faults.watchGoneShare !== undefined && this.#random.chance(faults.watchGoneShare)) {
      return { what: 'gone' };
    }
    const overtakes = faults.watchOvertakeShare !== undefined && this.#random.chance(faults.watchOvertakeShare);
    return { what: 'arrives', times, lateMs, overtakes };
  }
}

/** How often an event arrives and how late; or the connection breaks instead, or says 410. */
export type WatchFate = { what: 'dropped' } | { what: 'gone' } | { what: 'arrives'; times: 1 | 2; lateMs: number; overtakes: boolean };
