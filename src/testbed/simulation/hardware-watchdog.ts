import type { KernelView } from './kernel-view.ts';

/** The watchdog of a machine: it counts by itself, whatever becomes of the processes, until it is disarmed or the machine begins anew. */
export class HardwareWatchdog {
  readonly #kernel: Pick<KernelView, 'nowMs' | 'schedule'>;
  readonly #timeoutMs: number;
  readonly #bite: () => void;
  #endsAtMs: number | undefined;
  #leftMs: number | undefined;
  #cancel: () => void = () => undefined;

  /** `timeoutMs`: of the world's time. */
  constructor(kernel: Pick<KernelView, 'nowMs' | 'schedule'>, timeoutMs: number, bite: () => void) {
    this.#kernel = kernel;
    this.#timeoutMs = timeoutMs;
    this.#bite = bite;
  }

  get isActive(): boolean {
    return this.#endsAtMs !== undefined || this.#leftMs !== undefined;
  }

  /** Opening and feeding are one: it counts anew from now. */
  feed(): void {
    this.#countFrom(this.#timeoutMs);
  }

  disarm(): void {
    this.#cancel();
    this.#endsAtMs = undefined;
    this.#leftMs = undefined;
  }

  /** With the virtual machine that it belongs to. */
  pause(): void {
    if (this.#endsAtMs === undefined) return;
    this.#leftMs = this.#endsAtMs - this.#kernel.nowMs;
    this.#cancel();
    this.#endsAtMs = undefined;
  }

  goOn(): void {
    if (this.#leftMs !== undefined) this.#countFrom(this.#leftMs);
  }

  #countFrom(leftMs: number): void {
    this.#cancel();
    this.#leftMs = undefined;
    this.#endsAtMs = this.#kernel.nowMs + leftMs;
    this.#cancel = this.#kernel.schedule(leftMs, () => {
      this.#endsAtMs = undefined;
      this.#bite();
    });
  }
}
