import type { Clock } from '../../../ports/clock.ts';
import type { PowerBackend } from '../bmc/power-backend.ts';
import type { CloudFaults } from './faults.ts';

export type InstancePhase = 'running' | 'stopping' | 'stopped' | 'starting';

const SHOWN: Readonly<Record<InstancePhase, 'on' | 'off' | 'pending'>> = {
  running: 'on',
  stopped: 'off',
  stopping: 'pending',
  starting: 'pending',
};

/** One machine of the emulated cloud. */
export interface CloudMachine {
  node: string;
  /** Of its firmware, as the kubelet reports it. */
  uuid: string;
  /** The node's address inside the cluster. */
  address: string;
  power: PowerBackend;
  /** Hears whenever its state is shown, and each set. */
  onEvent?: (event: InstanceEvent) => void;
}

export type InstanceEvent = { action: 'read'; shown: 'on' | 'off' | 'pending' } | { action: 'set'; want: 'on' | 'off' };

/** One set that reached the cloud for this instance, also when it was ignored. */
export interface InstanceCommand {
  wanted: 'on' | 'off' | 'other';
}

/** How an instance comes to stop and to start, with what may go wrong; each emulator words it in its cloud's way. */
export class EmulatedInstance {
  readonly id: string;
  readonly machine: CloudMachine;
  readonly commands: InstanceCommand[] = [];
  readonly #clock: Clock;
  readonly #faults: () => CloudFaults;
  #way: 'stopping' | 'starting' | undefined;
  #end: 'deleting' | 'deleted' | undefined;
  #cancel: (() => void) | undefined;

  constructor(id: string, machine: CloudMachine, clock: Clock, faults: () => CloudFaults) {
    this.id = id;
    this.machine = machine;
    this.#clock = clock;
    this.#faults = faults;
  }

  /** As it is shown to whoever asks. */
  get phase(): InstancePhase {
    const phase = this.#now();
    this.machine.onEvent?.({ action: 'read', shown: SHOWN[phase] });
    return phase;
  }

  /** It was told something that neither stops nor starts it for good, such as a reset. */
  told(): void {
    this.commands.push({ wanted: 'other' });
  }

  stop(): void {
    this.#command('off');
    if (this.#isIgnored() || this.isDeleted || this.#now() === 'stopped') return;
    this.#turn('stopping', this.#faults().stopMs ?? 0);
  }

  start(): void {
    this.#command('on');
    if (this.#isIgnored() || this.isDeleted || this.#now() === 'running') return;
    this.#turn('starting', this.#faults().startMs ?? 0);
  }

  /** Its end, whatever it does: what runs is cut off, as a cloud does it. */
  delete(): void {
    this.told();
    if (this.#isIgnored() || this.isDeleted) return;
    this.#cancel?.();
    this.#end = 'deleting';
    this.#way = 'stopping';
    this.machine.power.off('set');
    this.#cancel = this.#clock.after(this.#faults().stopMs ?? 0, () => {
      this.#end = 'deleted';
      this.#way = undefined;
    });
  }

  get isDeleted(): boolean {
    return this.#end !== undefined;
  }

  /** How far its end has come; absent: nobody has deleted it. */
  get end(): 'deleting' | 'deleted' | undefined {
    return this.#end;
  }

  /** Gives up what is on its way. */
  close(): void {
    this.#cancel?.();
  }

  #now(): InstancePhase {
    return this.#way ?? (this.machine.power.state() === 'on' ? 'running' : 'stopped');
  }

  #command(wanted: 'on' | 'off'): void {
    this.commands.push({ wanted });
    this.machine.onEvent?.({ action: 'set', want: wanted });
  }

  #isIgnored(): boolean {
    const { ignoresSet, failsOperation } = this.#faults();
    return failsOperation === true || ignoresSet === true || (ignoresSet !== undefined && ignoresSet.includes(this.id));
  }

  #turn(way: 'stopping' | 'starting', ms: number): void {
    this.#cancel?.();
    this.#way = way;
    if (way === 'stopping' && this.#faults().sticksInStopping === true) return;
    this.#cancel = this.#clock.after(ms, () => this.#turned(way));
  }

  #turned(way: 'stopping' | 'starting'): void {
    const { power } = this.machine;
    if (way === 'starting') {
      this.#way = undefined;
      power.on('set');
      return;
    }
    power.off('set');
    // A machine of processes is off only once they are gone: until then it is stopping.
    if (power.state() === 'on') {
      this.#cancel = this.#clock.after(5, () => this.#turned(way));
      return;
    }
    this.#way = undefined;
    const { restartsAfterMs } = this.#faults();
    if (restartsAfterMs !== undefined) this.#cancel = this.#clock.after(restartsAfterMs, () => power.on('restore'));
  }
}
