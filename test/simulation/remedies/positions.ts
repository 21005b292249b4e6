import type { ApiEvent } from '../../../src/laws/trace.ts';
import { CONTROLLER_USER } from '../api.ts';
import { isWrite, positionsAfter, REPORTS } from './remedy-events.ts';
import type { SeenPosition } from './remedy-events.ts';

/** No period of these worlds is as long, nor a back-off. */
const WAITS_MS = 150_000;
/** What a remedy that is over leaves is taken back behind its last write, also by a controller that comes to lead only then. */
const SETTLES_MS = 45_000;
/** Writes of one report by the controllers within a window: every phase of every threshold is one, and every message that changes. */
const WRITES_MAX = 120;
const WRITES_WINDOW_MS = 60_000;

export interface PositionTruth {
  nowMs: () => number;
  isReady: (node: string) => boolean;
  areAllReady: () => boolean;
  /** Every other node takes new pods. */
  areOthersOpen: (node: string) => boolean;
  /** A fence of the node is there that has not ended. */
  isFenced: (node: string) => boolean;
}

interface Standing {
  positions: readonly SeenPosition[];
  changedAtMs: number;
}

/** Where remedies stand, as the API server has it last. */
export class Positions {
  readonly #truth: PositionTruth;
  readonly #standing = new Map<string, Standing>();
  readonly #windows = new Map<string, { fromMs: number; count: number }>();
  /** Of every episode that was ever written: its threshold. */
  readonly episodes = new Map<string, string>();

  constructor(truth: PositionTruth) {
    this.#truth = truth;
  }

  /** Returns what is broken, in words. */
  hear(event: ApiEvent): string | undefined {
    const written = positionsAfter(event);
    if (written === undefined) return undefined;
    const { node, positions } = written;
    for (const { episode, threshold } of positions) this.episodes.set(episode, threshold);
    const before = this.#standing.get(node);
    if (before === undefined || stepsOf(before.positions) !== stepsOf(positions))
      this.#standing.set(node, { positions, changedAtMs: this.#truth.nowMs() });
    else this.#standing.set(node, { ...before, positions });
    return this.#tooOften(event, node);
  }

  of(node: string): readonly SeenPosition[] {
    return this.#standing.get(node)?.positions ?? [];
  }

  /** Of which more is to be expected, or that say nothing, each in words. */
  open(): string[] {
    return [...this.#standing].flatMap(([node, { positions, changedAtMs }]) => {
      const waitedMs = this.#truth.nowMs() - changedAtMs;
      const isSettled = waitedMs > SETTLES_MS || positions.some(({ phase }) => phase !== 'recovered');
      if (!isSettled) return [`what remedies of ${node} have left is taken back`];
      return positions
        .filter((position) => !this.#rests(node, position, waitedMs))
        .map(({ threshold, phase, run, message = '' }) => {
          const what = [phase, run?.remedy].filter((part) => part !== undefined).join(' ');
          return `remedies of ${threshold} of ${node} are ${what} for ${(waitedMs / 1_000).toFixed(0)} s: ${message === '' ? 'they say nothing' : message}`;
        });
    });
  }

  #rests(node: string, { phase, run, message = '' }: SeenPosition, waitedMs: number): boolean {
    const hasWaited = waitedMs > WAITS_MS && message !== '';
    switch (phase) {
      case 'recovered':
      case 'handed-over':
        return true;
      case 'fenced':
        // Its pod may be on another node that is away, and act there again.
        return hasWaited && (this.#truth.isFenced(node) || (run?.kind === 'podTemplate' && !this.#truth.areAllReady()));
      case 'running':
        // A fence has deadlines of its own, and pods of a node that is away stay until it is fenced, be they those of the remedy, or of a budget that counts them.
        if (run?.kind === 'podTemplate') return hasWaited && !this.#truth.areAllReady();
        // Where another node is cordoned, pods that a budget counts may have no place.
        if (run?.kind === 'evict') return hasWaited && !(this.#truth.areAllReady() && this.#truth.areOthersOpen(node));
        return hasWaited && (this.#truth.isFenced(node) || !this.#truth.isReady(node));
      default:
        return hasWaited;
    }
  }

  #tooOften(event: ApiEvent, node: string): string | undefined {
    if (event.user !== CONTROLLER_USER || event.resource !== REPORTS || !isWrite(event)) return undefined;
    const nowMs = this.#truth.nowMs();
    const window = this.#windows.get(node);
    if (window === undefined || nowMs - window.fromMs > WRITES_WINDOW_MS) {
      this.#windows.set(node, { fromMs: nowMs, count: 1 });
      return undefined;
    }
    window.count += 1;
    return window.count === WRITES_MAX ? `the report of ${node} was written ${WRITES_MAX} times within ${WRITES_WINDOW_MS / 1_000} s` : undefined;
  }
}

function stepsOf(positions: readonly SeenPosition[]): string {
  return JSON.stringify(positions.map(({ threshold, episode, phase, attempt, run }) => [threshold, episode, phase, attempt, run?.id]));
}
