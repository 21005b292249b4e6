import type { PowerEvent } from '../../laws/trace.ts';
import { Kubelet } from './kubelet.ts';
import type { KubeletDependencies } from './kubelet.ts';
import type { KubeletOptions } from './options.ts';

export interface MachineOptions extends Omit<KubeletOptions, 'bootID'> {
  /** From power on to the kubelet's first request. */
  bootDelayMs: number;
}

/** A machine with a power switch. Its power state is the truth that devices report, or lie about. */
export class Machine {
  readonly #dependencies: KubeletDependencies;
  readonly #options: MachineOptions;
  #isOn = false;
  #cancelBoot: (() => void) | undefined;
  #kubelet: Kubelet | undefined;
  #bootID: string | undefined;
  #lastOn: { by: PowerEvent['cause']; atMs: number } | undefined;

  constructor(dependencies: KubeletDependencies, options: MachineOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  get node(): string {
    return this.#options.node;
  }

  get state(): 'on' | 'off' {
    return this.#isOn ? 'on' : 'off';
  }

  /** Who switched on a machine whose boot has not begun anything yet, and how long ago. */
  get starting(): { by: PowerEvent['cause']; forMs: number } | undefined {
    const { clock } = this.#dependencies;
    if (this.#cancelBoot === undefined || this.#lastOn === undefined) return undefined;
    return { by: this.#lastOn.by, forMs: clock.monotonicMs() - this.#lastOn.atMs };
  }

  /** Of the boot that runs, or that ended last. */
  get bootID(): string | undefined {
    return this.#bootID;
  }

  get kubelet(): Kubelet | undefined {
    return this.#kubelet;
  }

  powerOn(cause: PowerEvent['cause']): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#tracePower('on', cause);
    const { clock } = this.#dependencies;
    this.#lastOn = { by: cause, atMs: clock.monotonicMs() };
    this.#boot();
  }

  /** By its watchdog, or by its kernel: everything ends at once, the power stays on. `isStuck`: it does not get beyond its firmware. */
  reset(isStuck = false): void {
    if (!this.#isOn) return;
    this.#halt();
    this.#tracePower('on', 'reset');
    this.#lastOn = { by: 'reset', atMs: this.#dependencies.clock.monotonicMs() };
    if (!isStuck) this.#boot();
  }

  powerOff(cause: PowerEvent['cause']): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#halt();
    this.#tracePower('off', cause);
  }

  /** The kernel stops; the power stays on. */
  panic(): void {
    if (!this.#isOn) return;
    this.#traceNode('panic');
    this.#halt();
  }

  /** The kubelet stops, the workload goes on. */
  hang(): void {
    this.#kubelet?.hang();
  }

  /** The kubelet stops, and every container with it; the kernel goes on. */
  stopWorkload(): void {
    this.#kubelet?.stop();
  }

  /** Its kubelet says that it is not Ready, or that it is again; a boot mends it too. */
  ail(isIll: boolean): void {
    this.#kubelet?.ail(isIll);
  }

  partition(): void {
    this.#kubelet?.partition();
  }

  heal(): void {
    this.#kubelet?.heal();
  }

  /** Orderly: containers stop, the node says so, the machine itself cuts its power (traced as `panic`: no device did it). */
  async shutdown(): Promise<void> {
    await this.#kubelet?.shutdown();
    this.powerOff('panic');
  }

  #boot(): void {
    const { clock, random } = this.#dependencies;
    this.#cancelBoot = clock.after(this.#options.bootDelayMs, () => {
      this.#cancelBoot = undefined;
      this.#bootID = random.uuid();
      this.#traceNode('boot');
      this.#kubelet = new Kubelet(this.#dependencies, { ...this.#options, bootID: this.#bootID });
      this.#kubelet.start();
    });
  }

  #halt(): void {
    this.#cancelBoot?.();
    this.#cancelBoot = undefined;
    this.#kubelet?.stop();
    this.#kubelet = undefined;
  }

  #tracePower(state: 'on' | 'off', cause: PowerEvent['cause']): void {
    this.#dependencies.trace({ kind: 'power', at: this.#dependencies.clock.wallMs(), node: this.node, state, cause });
  }

  #traceNode(what: 'boot' | 'panic'): void {
    const bootID = this.#bootID;
    const at = this.#dependencies.clock.wallMs();
    this.#dependencies.trace({ kind: 'node', at, node: this.node, what, ...(bootID === undefined ? {} : { bootID }) });
  }
}
