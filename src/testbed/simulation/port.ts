import type { SimulatedProcess } from './simulated-process.ts';

/**
 * Strikes the process at the nth call (1 is the first) that carries the tag: killed before the call has left, killed when it took effect, or, as
 * soon as it has left, stopped (SIGSTOP) or put to sleep with its machine for a while, or told to stop (SIGTERM). Or it lives on, and somebody takes the NodeFence
 * away by force while that call is on its way.
 */
export interface CrashPoint {
  tag: string;
  nth: number;
  moment: 'before-effect' | 'after-effect' | 'stopped' | 'suspended' | 'terminated' | 'fence-removed';
  /** For `stopped` and `suspended`; for `fence-removed`: for so long no watch tells of it. */
  stopMs: number;
}

/** Counts calls towards one crash point, of one process or of several. */
export class CrashCounter {
  readonly point: CrashPoint;
  #seen = 0;

  constructor(point: CrashPoint) {
    this.point = point;
  }

  /** The point, when this call is the one. */
  strike(tags: readonly string[]): CrashPoint | undefined {
    if (this.point.tag !== 'any' && !tags.includes(this.point.tag)) {
      return undefined;
    }
    this.#seen += 1;
    return this.#seen === this.point.nth ? this.point : undefined;
  }
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

/** Which call strikes the process; asked once at every call. */
export interface CrashPlan {
  strike: (tags: readonly string[]) => CrashPoint | undefined;
  /** Told at once. The death is done by then, everything else is for the plan's owner to do. */
  onCrash: (point: CrashPoint, label: string) => void;
}

/** The outgoing side of a simulated process: every call passes here, is counted, delayed, and may be the one at which the process dies. */
export class Port {
  readonly process: SimulatedProcess;
  readonly #plan: CrashPlan | undefined;

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
    const crash = this.#plan?.strike(call.tags);
    if (crash?.moment === 'before-effect') {
      this.#die(crash, call.label);
      return new Promise<never>(() => undefined);
    }
    if (crash !== undefined && crash.moment !== 'after-effect') {
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
