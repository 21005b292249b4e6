import { EventHeap } from './event-heap.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { SeededRandom } from './seeded-random.ts';
import { TraceHash } from './trace-hash.ts';

export interface KernelOptions {
  seed: number;
  /** Every trace line, for people. The hash is kept in any case. */
  onLine?: (line: string) => void;
  /** A world that makes more port calls than this without time passing turns in a circle. */
  portCallsPerInstantMax?: number;
  /** The same for events that call no port. */
  eventsPerInstantMax?: number;
}

export interface RunOptions {
  /** Virtual time at which the run ends in any case. */
  untilMs: number;
  /** Asked after every event has settled; `true` ends the run. */
  isOver?: () => boolean;
}

/** Promises settle between two immediates of one loop as between two loops; the loop itself, which asks the operating system for news, is dear. */
const TURNS_PER_LOOP = 64;

/**
 * The whole world on one virtual clock: one heap of (time, seeded tie). Delivers one event, then lets every promise settle (one
 * setImmediate turn), then the next. Nothing in a simulated process runs by itself.
 */
export class Kernel {
  readonly seed: number;
  readonly failures: string[] = [];
  readonly #heap = new EventHeap();
  readonly #ties: SeededRandom;
  readonly #hash = new TraceHash();
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #portCallsPerInstantMax: number;
  readonly #eventsPerInstantMax: number;
  #nowMs = 0;
  #sequence = 0;
  #portCallsAtInstant = 0;
  #eventsAtInstant = 0;
  #portCalls = 0;
  #events = 0;

  constructor(options: KernelOptions) {
    this.seed = options.seed;
    this.#ties = new SeededRandom(options.seed, 'ties');
    this.#onLine = options.onLine;
    this.#portCallsPerInstantMax = options.portCallsPerInstantMax ?? 10_000;
    this.#eventsPerInstantMax = options.eventsPerInstantMax ?? 100_000;
  }

  /** Milliseconds since the world began; runs for all processes alike. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get eventCount(): number {
    return this.#events;
  }

  get portCallCount(): number {
    return this.#portCalls;
  }

  /** An independent stream of the seed: draws of one part of the world do not shift another's. */
  random(stream: string): SeededRandom {
    return new SeededRandom(this.seed, stream);
  }

  spawn(name: string, clockRate = 1): SimulatedProcess {
    return new SimulatedProcess(this, name, clockRate);
  }

  /** Runs `task` after `delayMs`, whatever becomes of any process. Returns the cancel function. */
  schedule(delayMs: number, task: () => void): () => void {
    const event = {
      atMs: this.#nowMs + Math.max(0, delayMs),
      tie: this.#ties.uint32(),
      sequence: this.#sequence++,
      run: task,
      isCancelled: false,
    };
    this.#heap.push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** To be called by every port for every call. */
  countPortCall(): void {
    this.#portCalls += 1;
    this.#portCallsAtInstant += 1;
    if (this.#portCallsAtInstant === this.#portCallsPerInstantMax + 1) {
      this.fail(`more than ${this.#portCallsPerInstantMax} port calls at one instant (${this.#nowMs} ms)`);
    }
  }

  /** Adds a line to the fingerprint, and to the printed trace where one is wanted. */
  trace(text: string): void {
    const line = `${this.#nowMs.toFixed(3)} ${text}`;
    this.#hash.add(line);
    this.#onLine?.(line);
  }

  /** Ends the run after the event that is being delivered. */
  fail(message: string): void {
    this.failures.push(message);
  }

  hash(): string {
    return this.#hash.digest();
  }

  /** Delivers events in order until the time is over, nothing is left, `isOver` says so, or something failed. */
  async run(options: RunOptions): Promise<void> {
    const onRejection = (reason: unknown): void => {
      this.fail(`unhandled rejection: ${describeThrown(reason)}`);
    };
    process.on('unhandledRejection', onRejection);
    try {
      await this.#deliverAll(options);
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  }

  #deliverAll(options: RunOptions): Promise<void> {
    return new Promise((resolve) => {
      let isOver = false;
      let turnsWaiting = 0;
      const turn = (): void => {
        turnsWaiting -= 1;
        if (isOver) return;
        const next = this.failures.length > 0 || options.isOver?.() === true ? undefined : this.#heap.peek();
        if (next === undefined || next.atMs > options.untilMs) {
          isOver = true;
          resolve();
          return;
        }
        this.#deliver();
        if (turnsWaiting === 0) takeTurns();
      };
      const takeTurns = (): void => {
        for (; turnsWaiting < TURNS_PER_LOOP; turnsWaiting++) setImmediate(turn);
      };
      takeTurns();
    });
  }

  #deliver(): void {
    const event = this.#heap.pop();
    if (event === undefined) {
      return;
    }
    if (event.atMs !== this.#nowMs) {
      this.#nowMs = event.atMs;
      this.#portCallsAtInstant = 0;
      this.#eventsAtInstant = 0;
    }
    this.#events += 1;
    this.#eventsAtInstant += 1;
    if (this.#eventsAtInstant > this.#eventsPerInstantMax) {
      this.fail(`more than ${this.#eventsPerInstantMax} events at one instant (${this.#nowMs} ms)`);
    }
    try {
      event.run();
    } catch (thrown) {
      this.fail(`uncaught exception: ${describeThrown(thrown)}`);
    }
  }
}

export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
