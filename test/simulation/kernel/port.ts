import type { SimulatedProcess } from './simulated-process.ts';

/**
 * Strikes the process at its nth call (1 is the first) that carries the tag: killed before the call has left, killed when it took effect, or
 * stopped (SIGSTOP) for a while as soon as it has left.
 */
export interface CrashPoint {
  tag: string;
  nth: number;
  moment: 'before-effect' | 'after-effect' | 'stopped';
  /** For `stopped`. */
  stopMs: number;
}

export interface PortCall<T> {
  /** For the trace: `set off bmc-a`. */
  label: string;
  /** What kind of call it is, for crash points: `any` is implied. */
  tags: readonly string[];
  /** From the call to its effect. */
  requestMs: number;
  /** From the effect to the answer. */
  answerMs: number;
  /** Happens in the outer world, whatever has become of the caller meanwhile. */
  effect: () => T | Promise<T>;
}

/** Which call kills the process. Asked at every call; a point counts the calls since it was first given. */
export interface CrashPlan {
  pointFor: () => CrashPoint | undefined;
  onCrash: (point: CrashPoint, label: string) => void;
}

/** The outgoing side of a simulated process: every call passes here, is counted, delayed, and may be the one at which the process dies. */
export class Port {
  readonly process: SimulatedProcess;
  readonly #plan: CrashPlan | undefined;
  #seen = 0;

  constructor(process: SimulatedProcess, plan?: CrashPlan) {
    this.process = process;
    this.#plan = plan;
  }

  /** Settles after both delays as `effect` did; never when the process is dead by then, or was when it called. */
  call<T>(call: PortCall<T>): Promise<T> {
    const { process } = this;
    if (process.isDead) {
      return new Promise<never>(() => undefined);
    }
    process.kernel.countPortCall();
    const crash = this.#crashFor(call.tags);
    if (crash?.moment === 'before-effect') {
      this.#die(crash, call.label);
      return new Promise<never>(() => undefined);
    }
    if (crash?.moment === 'stopped') {
      process.stop();
      process.kernel.schedule(crash.stopMs, () => {
        process.resume();
      });
      this.#plan?.onCrash(crash, call.label);
    }
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void): void => {
        process.deliverAfter(call.answerMs, settle);
      };
      process.kernel.schedule(call.requestMs, () => {
        const result = attempt(call.effect);
        if (crash?.moment === 'after-effect') {
          this.#die(crash, call.label);
        }
        result.then(
          (value) => {
            answer(() => {
              resolve(value);
            });
          },
          (thrown: unknown) => {
            answer(() => {
              reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
            });
          },
        );
      });
    });
  }

  #crashFor(tags: readonly string[]): CrashPoint | undefined {
    const point = this.#plan?.pointFor();
    if (point === undefined || (point.tag !== 'any' && !tags.includes(point.tag))) {
      return undefined;
    }
    this.#seen += 1;
    return this.#seen === point.nth ? point : undefined;
  }

  #die(point: CrashPoint, label: string): void {
    if (!this.process.isDead) {
      this.process.crash();
      this.#plan?.onCrash(point, label);
    }
  }
}

function attempt<T>(effect: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(effect());
  } catch (thrown) {
    return Promise.reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
}
