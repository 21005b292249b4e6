import type { Clock } from '../../ports/clock.ts';
import type { KernelView } from './kernel-view.ts';
import { ProcessClock } from './process-clock.ts';
import type { SeededRandom } from './seeded-random.ts';

/**
 * An operating-system process of the simulated world. Whatever reaches it (timers, answers, watch events) comes through `deliver`: a dead
 * process gets nothing any more, so its promises never settle and its `finally` blocks never run; a stopped one gets it when it goes on.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly kernel: KernelView;
  readonly random: SeededRandom;
  readonly #clock: ProcessClock;
  readonly #waiting: (() => void)[] = [];
  readonly #onDeath: (() => void)[] = [];
  #state: 'running' | 'stopped' | 'dead' = 'running';
  #isDraining = false;
  /** A stop and a sleep may overlap: it goes on after the last of them. */
  #pauses = 0;

  constructor(kernel: KernelView, name: string, clockRate = 1) {
    this.kernel = kernel;
    this.name = name;
    this.random = kernel.random(`process ${name}`);
    this.#clock = new ProcessClock(this, clockRate);
  }

  get clock(): Clock {
    return this.#clock;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  get isStopped(): boolean {
    return this.#state === 'stopped';
  }

  /** Hands something to the process: at once when it runs, later when it is stopped, never when it is dead. Call it from an event. */
  deliver(task: () => void): void {
    if (this.#state === 'dead') {
      return;
    }
    if (this.#state === 'stopped' || this.#waiting.length > 0) {
      this.#waiting.push(task);
      return;
    }
    task();
  }

  /** Delivers `task` after `delayMs` of world time. Returns the cancel function. */
  deliverAfter(delayMs: number, task: () => void): () => void {
    let isCancelled = false;
    const cancel = this.kernel.schedule(delayMs, () => {
      this.deliver(() => {
        if (!isCancelled) {
          task();
        }
      });
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** SIGKILL, power cut, out of memory. */
  crash(): void {
    if (this.#state === 'dead') {
      return;
    }
    this.#state = 'dead';
    this.#waiting.length = 0;
    for (const listener of this.#onDeath.splice(0)) {
      this.kernel.schedule(0, listener);
    }
  }

  /** For the outer world: what the peers of a dead process notice, e.g. its broken connections. */
  onDeath(listener: () => void): void {
    this.#onDeath.push(listener);
  }

  /** SIGSTOP: nothing is delivered, all clocks run on. */
  stop(): void {
    this.#pauses += 1;
    if (this.#state === 'running') {
      this.#state = 'stopped';
    }
  }

  /** SIGCONT: what came meanwhile is delivered in the order it came, one event each. */
  resume(): void {
    this.#pauses = Math.max(0, this.#pauses - 1);
    if (this.#state === 'stopped' && this.#pauses === 0) {
      this.#state = 'running';
      this.#drain();
    }
  }

  /** The machine sleeps: as a stop, and CLOCK_MONOTONIC stands still until the process wakes. */
  suspend(durationMs: number): void {
    this.stop();
    this.#clock.standStill();
    this.kernel.schedule(durationMs, () => {
      this.#clock.goOn();
      this.resume();
    });
  }

  /** An administrator or NTP sets the clock. */
  jumpWallClock(byMs: number): void {
    this.#clock.jumpWall(byMs);
  }

  #drain(): void {
    if (this.#isDraining || this.#waiting.length === 0) {
      return;
    }
    this.#isDraining = true;
    this.kernel.schedule(0, () => {
      this.#isDraining = false;
      if (this.#state !== 'running') {
        return;
      }
      const task = this.#waiting.shift();
      task?.();
      this.#drain();
    });
  }
}
