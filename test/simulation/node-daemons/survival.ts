import type { NodeEvent, PowerEvent } from '../../../src/laws/trace.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import type { DaemonDeed, DaemonTimes, NodeDaemons } from './node-daemons.ts';

export interface SurvivalOptions {
  kernel: Kernel;
  daemons: NodeDaemons;
  /** Does the watchdog of the node count now? */
  isArmed: (node: string) => boolean;
}

/** Turns that come late, and a reset that takes a while. */
const BREATH_MS = 1_500;
const DRIFT = 1.01;
/** A daemon that is wedged or gone for longer than its watchdog waits takes its machine with it. */
const STANDING_STILL: ReadonlySet<DaemonDeed['what']> = new Set(['kill', 'pause', 'wedge', 'freeze']);
const OF_PROCESS: ReadonlySet<DaemonDeed['what']> = new Set([...STANDING_STILL, 'upgrade', 'vm-pause', 'power-loss']);

/** Whether nodes go down when they must, and stay up when they must; seen from outside. */
export class Survival {
  readonly #options: SurvivalOptions;
  /** When each machine last ended what ran on it. */
  readonly #endedAtMs = new Map<string, number>();
  /** What goes on that must end in a reset. */
  readonly #fatal = new Set<DaemonDeed>();
  #resets = 0;

  constructor(options: SurvivalOptions) {
    this.#options = options;
  }

  get resets(): number {
    return this.#resets;
  }

  saw(event: NodeEvent | PowerEvent): void {
    const { kernel, daemons } = this.#options;
    const isReset = event.kind === 'power' && event.cause === 'reset';
    const isEnd = isReset || (event.kind === 'power' ? event.state === 'off' : event.what === 'panic');
    if (isEnd) this.#endedAtMs.set(event.node, kernel.nowMs);
    if (!isReset) return;
    this.#resets += 1;
    if (!daemons.mayGoDown.includes(event.node))
      kernel.fail(`at ${kernel.nowMs.toFixed(0)} ms: ${event.node} took itself down, to which nothing happened and which its peers vouch for`);
  }

  /** A node that hears nobody, or that nobody hears, and one whose daemon stands still, must be down in time where its watchdog was armed. */
  began(deed: DaemonDeed): void {
    const withinMs = this.#fatalAfterMs(deed);
    if (withinMs === undefined || !('node' in deed) || !this.#options.isArmed(deed.node)) return;
    const { kernel } = this.#options;
    const beganAtMs = kernel.nowMs;
    this.#fatal.add(deed);
    kernel.schedule(withinMs, () => {
      const isDown = (this.#endedAtMs.get(deed.node) ?? Number.NEGATIVE_INFINITY) >= beganAtMs;
      if (!this.#fatal.has(deed) || isDown) return;
      kernel.fail(`at ${kernel.nowMs.toFixed(0)} ms: ${deed.node} is still up ${(withinMs / 1000).toFixed(0)} s after its ${deed.what} began`);
    });
  }

  ended(deed: DaemonDeed): void {
    this.#fatal.delete(deed);
  }

  #fatalAfterMs(deed: DaemonDeed): number | undefined {
    if (!('node' in deed)) return undefined;
    const { deeds, machines, times } = this.#options.daemons;
    const watchdogMs = (machines[deed.node]?.watchdogMs ?? 0) * DRIFT + BREATH_MS;
    if (deed.what === 'cut' && deed.places.length === 3) {
      const all = [times, ...deeds.flatMap((one) => (one.what === 'change-times' ? [one.times] : []))];
      const most = (field: keyof DaemonTimes): number => Math.max(...all.map((one) => one[field]));
      // From the page of timings, by hand.
      return DRIFT * (most('grantMs') + most('isolationMs') + most('podStopMs')) + watchdogMs + pausedMs(this.#options.daemons, deed.node);
    }
    const others = deeds.filter((one) => one !== deed && 'node' in one && one.node === deed.node && OF_PROCESS.has(one.what));
    return STANDING_STILL.has(deed.what) && others.length === 0 ? watchdogMs : undefined;
  }
}

/** While a machine is paused nothing of it can go down. */
function pausedMs({ deeds }: NodeDaemons, node: string): number {
  return deeds.reduce((sum, deed) => sum + (deed.what === 'vm-pause' && deed.node === node ? deed.durationMs : 0), 0);
}
