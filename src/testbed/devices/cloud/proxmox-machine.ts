import type { Clock } from '../../../ports/clock.ts';
import { EmulatedInstance, type CloudMachine, type InstancePhase } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';

/** What HA has of a machine, and how slow its managers are. */
export interface HaOddity {
  /** As the manager last wrote it; null: it has not seen the machine yet. */
  state: string | null;
  /** What it was asked for; absent: the default, `started`. */
  requested?: string;
  /** One round of the manager. */
  roundMs?: number;
}

interface Situation {
  faults: CloudFaults;
  ha: HaOddity | undefined;
}

/** A process of QEMU is there or not: on its way to stop it still runs, on its way to start it is being prepared. */
const SHOWN: Readonly<Record<InstancePhase, { status: string; qmpstatus: string }>> = {
  running: { status: 'running', qmpstatus: 'running' },
  stopping: { status: 'running', qmpstatus: 'shutdown' },
  starting: { status: 'running', qmpstatus: 'prelaunch' },
  stopped: { status: 'stopped', qmpstatus: 'stopped' },
};
const ROUND_MS = 10;

/** A machine, and the HA manager's view of it (manual, "High Availability", "Service States"). */
export class ProxmoxMachine {
  readonly instance: EmulatedInstance;
  readonly #clock: Clock;
  readonly #situation: () => Situation;
  #cancel: (() => void) | undefined;

  constructor(id: string, machine: CloudMachine, clock: Clock, situation: () => Situation) {
    this.instance = new EmulatedInstance(id, machine, clock, () => situation().faults);
    this.#clock = clock;
    this.#situation = situation;
  }

  get haState(): string | null | undefined {
    return this.#situation().ha?.state;
  }

  get requested(): string | undefined {
    return this.#situation().ha?.requested;
  }

  shown(): { status: string; qmpstatus: string } {
    return SHOWN[this.instance.phase];
  }

  /** A locked machine does not stop: the task says so, later. */
  stop(isManaged: boolean, isLocked: boolean): void {
    if (isManaged) this.#round((ha) => this.#stopped(ha));
    else if (isLocked) this.instance.told();
    else this.instance.stop();
  }

  start(isManaged: boolean, isLocked: boolean): void {
    const { ha } = this.#situation();
    if (isManaged && ha !== undefined) {
      ha.requested = 'started';
      this.#round((seen) => this.#settle(seen));
    } else if (isLocked) this.instance.told();
    else this.instance.start();
  }

  close(): void {
    this.#cancel?.();
    this.instance.close();
  }

  /** A stop counts for a service that is started; one that is stopped already is left to what it was asked for. */
  #stopped(ha: HaOddity): void {
    if (ha.state !== 'started') {
      this.#settle(ha);
      return;
    }
    ha.requested = 'stopped';
    ha.state = 'request_stop';
    this.instance.stop();
    this.#round((seen) => this.#settle(seen));
  }

  #settle(ha: HaOddity): void {
    if (ha.state === 'error') return;
    const isRunning = this.instance.phase !== 'stopped';
    if (ha.requested === 'stopped' || ha.requested === 'disabled') {
      if (!isRunning) ha.state = 'stopped';
      else this.#round((seen) => this.#settle(seen));
      return;
    }
    ha.state = 'started';
    if (!isRunning) this.instance.start();
  }

  #round(work: (ha: HaOddity) => void): void {
    this.#cancel?.();
    const { ha } = this.#situation();
    if (ha === undefined) return;
    this.#cancel = this.#clock.after(ha.roundMs ?? ROUND_MS, () => work(ha));
  }
}
