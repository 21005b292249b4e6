import { SIGNS } from '../../domain/node-daemon/datagram.ts';
import { ClockRates } from './clock-rates.ts';

/** The last that was heard of one node. */
export interface Heard {
  bootID: string;
  counter: number;
  /** On our own monotonic clock. */
  atMs: number;
  /** For people. */
  wallMs: number;
  /** Bits of `SIGNS`. */
  signs: number;
  /** Since when they came without a break. */
  fromMs: number;
}

/** A lost heartbeat or two are no silence. */
const SILENT_AFTER_MS = 3_000;

/** What was heard of each node: a suspicion at most, never evidence. */
export class Heartbeats {
  /** By the counters of the heartbeats. */
  readonly clocks = new ClockRates();
  readonly #heard = new Map<string, Heard>();
  #heardFromMs = Number.NEGATIVE_INFINITY;

  /** A counter that does not grow was sent before: somebody repeats it, or it was overtaken. */
  accept(node: string, heard: Omit<Heard, 'fromMs'>): 'received' | 'replayed' {
    const known = this.#heard.get(node);
    if (known?.bootID === heard.bootID && heard.counter <= known.counter) return 'replayed';
    const goesOn = known?.bootID === heard.bootID && heard.atMs - known.atMs < SILENT_AFTER_MS && (known.signs & SIGNS.leaving) === 0;
    this.#heard.set(node, { ...heard, fromMs: goesOn ? known.fromMs : heard.atMs });
    this.clocks.hear(node, heard);
    return 'received';
  }

  /** This process stood still: nobody was heard without a break from before. */
  interrupted(nowMs: number): void {
    this.#heardFromMs = nowMs;
    this.clocks.restart();
  }

  /** From when a node was heard without a break of its own or of ours. */
  fromMs({ fromMs }: Heard): number {
    return Math.max(fromMs, this.#heardFromMs);
  }

  all(): Iterable<[string, Heard]> {
    return this.#heard;
  }

  last(node: string): Heard | undefined {
    return this.#heard.get(node);
  }

  isHeard(node: string, nowMs: number): boolean {
    const heard = this.#heard.get(node);
    return heard !== undefined && nowMs - heard.atMs < SILENT_AFTER_MS;
  }

  /** Nothing is kept of the others. */
  retain(isKnown: (node: string) => boolean): void {
    for (const node of [...this.#heard.keys()]) if (!isKnown(node)) this.#heard.delete(node);
    this.clocks.retain(isKnown);
  }
}
