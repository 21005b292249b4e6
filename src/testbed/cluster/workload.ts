import type { Clock } from '../../ports/clock.ts';
import type { Trace } from './dependencies.ts';
import type { Disk } from './disk.ts';

interface Container {
  pod: string;
  volumes: readonly string[];
  cancels: Map<string, () => void>;
}

export interface WorkloadOptions {
  node: string;
  bootID: string;
  writeMs: number;
}

/** The containers of one machine. They need no kubelet to go on: each writes a rising counter to its volumes until it is stopped. */
export class Workload {
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #trace: Trace;
  readonly #options: WorkloadOptions;
  readonly #containers = new Map<string, Container>();
  #isSealed = false;

  constructor(clock: Clock, disk: Disk, trace: Trace, options: WorkloadOptions) {
    this.#clock = clock;
    this.#disk = disk;
    this.#trace = trace;
    this.#options = options;
  }

  /** UIDs of the pods that run. */
  get running(): readonly string[] {
    return [...this.#containers.keys()];
  }

  /** Volumes of running pods. */
  get volumes(): readonly string[] {
    return [...this.#containers.values()].flatMap((container) => container.volumes);
  }

  isRunning(podUID: string): boolean {
    return this.#containers.has(podUID);
  }

  /** Nobody is left to start containers; those that run go on. */
  seal(): void {
    this.#isSealed = true;
  }

  start(podUID: string, pod: string, volumes: readonly string[]): void {
    if (this.#isSealed) return;
    const container: Container = { pod, volumes, cancels: new Map() };
    this.#containers.set(podUID, container);
    this.#record('pod-start', pod);
    for (const volume of volumes) this.#write(podUID, container, volume, this.#disk.last(volume) + 1);
  }

  stop(podUID: string): void {
    const container = this.#containers.get(podUID);
    if (container === undefined) return;
    this.#containers.delete(podUID);
    for (const cancel of container.cancels.values()) cancel();
    this.#record('pod-stop', container.pod);
  }

  /** The power is gone, or the kernel: nothing of it runs any more. */
  stopAll(): void {
    for (const podUID of this.running) this.stop(podUID);
  }

  #write(podUID: string, container: Container, volume: string, counter: number): void {
    const { node, writeMs } = this.#options;
    const record = { volume, node, podUID, counter };
    const isWritten = this.#disk.write(record);
    if (isWritten) this.#trace({ kind: 'disk', at: this.#clock.wallMs(), ...record });
    container.cancels.set(
      volume,
      this.#clock.after(writeMs, () => {
        this.#write(podUID, container, volume, isWritten ? counter + 1 : counter);
      }),
    );
  }

  #record(what: 'pod-start' | 'pod-stop', pod: string): void {
    const { node, bootID } = this.#options;
    this.#trace({ kind: 'node', at: this.#clock.wallMs(), node, what, bootID, pod });
  }
}
