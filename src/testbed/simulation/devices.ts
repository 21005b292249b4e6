import type { PowerState } from '../../ports/agents.ts';
import type { DeviceEvent } from '../../laws/trace.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RangeMs } from './network.ts';

/**
 * honest: does what it says. slow: the off takes effect late. lies: accepts every off and stays on. dead: never answers. half-dead: loses half
 * of what it is asked or answers. unknown: its PowerState is null. refuses: answers every set with 403. restores: once, some time after an off,
 * the power comes back by itself (a restore policy, or somebody at the rack).
 */
export type DeviceBehaviour = 'honest' | 'slow' | 'lies' | 'dead' | 'half-dead' | 'unknown' | 'refuses' | 'restores';

/** The mains switch of a simulated machine. */
export interface PowerBackend {
  state(): 'on' | 'off';
  on(cause: 'set' | 'restore'): void;
  off(): void;
}

export interface DeviceOptions {
  /** Its own name, and its address until addresses are swapped. */
  name: string;
  /** The machine it really switches. */
  node: string;
  /** Absent: it shows none. */
  systemUUID?: string;
  behaviour: DeviceBehaviour;
  backend: PowerBackend;
  random: SeededRandom;
  /** From an accepted set to its effect. */
  effectMs: RangeMs;
  now: () => number;
  schedule: (delayMs: number, task: () => void) => void;
  record: (event: DeviceEvent) => void;
  /** It opens (`on`) and closes (`off`) a path to this storage, and switches no power. */
  storage?: string;
  /** A BMC has no voice while its machine has no mains. Absent: it is fed by itself. */
  hasMains?: () => boolean;
}

const ONE_WAY_MS: RangeMs = [1, 20];
const HALF = 0.5;
/** A release may rest on an off read that is no older than this. */
export const PROOF_MS = 5_000;
const RESTORE_MS: RangeMs = [500, 25_000];

/** A BMC of the simulated world, as it stands in the rack: it outlives every controller. */
export class SimulatedDevice {
  readonly options: DeviceOptions;
  behaviour: DeviceBehaviour;
  /** Between all controllers and the device. cut: nothing passes. mute: it hears and obeys, its answers are lost. */
  network: 'up' | 'cut' | 'mute' = 'up';
  /** What it lets in; `undefined`: anything. */
  password: string | undefined;
  /** Under which it is reached now; also its name in the trace. */
  address: string;
  /** The next off that is accepted takes effect so much later. */
  delayNextOffMs = 0;
  #pending = 0;
  #changing: 'on' | 'off' | undefined;
  /** When it last answered what its state is. */
  readAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: DeviceOptions) {
    this.options = options;
    this.behaviour = options.behaviour;
    this.address = options.name;
  }

  /** A set was accepted whose effect, or the power that comes back after it, is still to come. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  oneWayMs(): number {
    return this.options.random.between(...ONE_WAY_MS);
  }

  /** `false`: the request is lost. */
  hears(): boolean {
    return this.network !== 'cut' && this.#isThere();
  }

  /** `false`: the answer is lost. */
  answers(): boolean {
    return this.network === 'up' && this.#isThere();
  }

  #isThere(): boolean {
    if (this.options.hasMains?.() === false) {
      return false;
    }
    return this.behaviour !== 'dead' && (this.behaviour !== 'half-dead' || this.options.random.chance(HALF));
  }

  /** Is this its password? */
  admits(password: string | undefined, session: string): boolean {
    if (this.password === undefined || this.password === password) {
      return true;
    }
    this.#record({ action: 'login', answer: '401', session });
    return false;
  }

  /** Shows the machine's identity over `session`, where it shows one. */
  identify(session: string): string | undefined {
    const { systemUUID } = this.options;
    if (systemUUID !== undefined) this.#record({ action: 'identity', answer: `200 ${systemUUID}`, session });
    return systemUUID;
  }

  read(session: string): PowerState {
    this.readAtMs = this.options.now();
    const shown = this.behaviour === 'unknown' ? 'unknown' : this.#shown();
    this.#record({ action: 'read', answer: `200 ${shown}`, shown, session });
    return shown;
  }

  /** As `read`, by somebody else than a controller: the trace has nothing of it. */
  look(): PowerState {
    return this.behaviour === 'unknown' ? 'unknown' : this.#shown();
  }

  /** A set was sent that did not arrive. */
  missed(want: 'on' | 'off', session: string): void {
    this.#record({ action: 'set', want, answer: 'lost', session });
  }

  /** `false`: refused. */
  set(want: 'on' | 'off', session: string): boolean {
    if (this.behaviour === 'refuses') {
      this.#record({ action: 'set', want, answer: '403', session });
      return false;
    }
    this.#record({ action: 'set', want, answer: '204', session });
    if (this.behaviour === 'lies' && want === 'off') {
      return true;
    }
    this.#changing = want;
    this.#later(this.options.random.between(...this.options.effectMs) + this.#delayOf(want), () => {
      this.#changing = undefined;
      if (this.options.hasMains?.() === false) {
        return;
      }
      if (want === 'on') {
        this.options.backend.on('set');
        return;
      }
      this.options.backend.off();
      this.#restoreLater();
    });
    return true;
  }

  /** No proof is fresher than its last read: power that returns sooner than anyone can act on that read would blame a controller that did right. */
  #switchOnUnseen(): void {
    const waitMs = this.readAtMs + PROOF_MS - this.options.now();
    if (waitMs > 0) {
      this.#later(waitMs, () => {
        this.#switchOnUnseen();
      });
      return;
    }
    this.options.backend.on('restore');
  }

  #restoreLater(): void {
    if (this.behaviour !== 'restores') {
      return;
    }
    this.behaviour = 'honest';
    this.#later(this.options.random.between(...RESTORE_MS), () => {
      this.#switchOnUnseen();
    });
  }

  #delayOf(want: 'on' | 'off'): number {
    if (want === 'on') {
      return 0;
    }
    const delayMs = this.delayNextOffMs;
    this.delayNextOffMs = 0;
    return delayMs;
  }

  #later(delayMs: number, task: () => void): void {
    this.#pending += 1;
    this.options.schedule(delayMs, () => {
      this.#pending -= 1;
      task();
    });
  }

  #shown(): PowerState {
    const state = this.options.backend.state();
    // Some say PoweringOff until it is done, some say On.
    return this.#changing !== undefined && this.#changing !== state && this.behaviour === 'slow' ? 'pending' : state;
  }

  #record(event: Pick<DeviceEvent, 'action' | 'want' | 'answer' | 'shown' | 'session'>): void {
    const { now, node, storage, record } = this.options;
    record({ kind: 'device', at: now(), device: this.address, plug: '', node, ...(storage !== undefined && { storage }), ...event });
  }
}
