import type { Clock } from '../../../ports/clock.ts';

/** How an outlet's relay misbehaves, behind a device that answers as it should. */
export interface OutletFaults {
  /** Takes the command and stays as it is. */
  isStuck?: boolean;
  /** So long from a command to its effect; pending meanwhile. */
  actsAfterMs?: number;
  /** Off, and on again by itself so much later. */
  flipsBackAfterMs?: number;
  /** A command that never ends. */
  isPending?: boolean;
  /** An off makes the device restart before it acts; then it shows off for so long, whatever flows. */
  restartsOnOff?: number;
  /** Shown in place of the state; `null` is no value at all. */
  shows?: number | null;
  /** Shown in place of what a second object of the device says of the state. */
  showsElsewhere?: number;
  /** Shows what it was told last and does nothing of it. */
  showsCommand?: boolean;
  /** Shown in place of the current. */
  showsMilliamperes?: number;
  /** Its device is set to switch it on again so many seconds after an off. */
  repowersAfterS?: number;
  /** Says that its current was not measured. */
  isUnmeasured?: boolean;
  /** Another outlet, by its number, does what this one was told. */
  switchesInstead?: number;
}

export interface Outlet {
  unit: number;
  bank: number;
  number: number;
  name: string;
  /** Unit of the outlet that the metered row of the same index is of, in a chain whose tables differ; absent: this one's. */
  meteredUnit?: number;
  /** The number that its row tells, where rows tell one. */
  rowSays?: number;
  /** Row of its meter, where that table has numbers of its own. */
  meterRow?: number;
  /** Likewise the outlet's number. */
  meteredNumber?: number;
  faults: OutletFaults;
}

const UP_MS = 86_400_000;
const LOAD_MILLIAMPERES = 1_300;

/** The outlets of one PDU: what really flows, what was commanded, and what waits. */
export class Outlets {
  readonly all: readonly Outlet[];
  readonly #clock: Clock;
  readonly #isOn = new Map<Outlet, boolean>();
  readonly #told = new Map<Outlet, boolean>();
  readonly #waiting = new Map<Outlet, { wanted: boolean; cancel: () => void }>();
  readonly #timers = new Set<() => void>();
  readonly commands: { outlet: Outlet; wanted: 'on' | 'off' | 'other' }[] = [];

  #startedAtMs: number;
  #showsOffUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, all: readonly Outlet[], isOn = true) {
    this.#clock = clock;
    this.all = all;
    for (const outlet of all) this.#isOn.set(outlet, isOn);
    this.#startedAtMs = clock.monotonicMs() - UP_MS;
  }

  /** How long the device has been up. */
  get upMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMs;
  }

  /** What it shows. */
  shows(outlet: Outlet): boolean {
    if (outlet.faults.showsCommand === true) return this.told(outlet);
    return this.isOn(outlet) && this.#clock.monotonicMs() >= this.#showsOffUntilMs;
  }

  isOn(outlet: Outlet): boolean {
    return this.#isOn.get(outlet) ?? false;
  }

  /** What it was told last, which is not what its relay does. */
  told(outlet: Outlet): boolean {
    return this.#told.get(outlet) ?? this.isOn(outlet);
  }

  pending(outlet: Outlet): 'on' | 'off' | undefined {
    const waiting = this.#waiting.get(outlet);
    if (outlet.faults.isPending === true) return 'off';
    if (waiting === undefined) return undefined;
    return waiting.wanted ? 'on' : 'off';
  }

  milliamperes(outlet: Outlet): number {
    return outlet.faults.showsMilliamperes ?? (this.isOn(outlet) ? LOAD_MILLIAMPERES : 0);
  }

  command(outlet: Outlet, wanted: 'on' | 'off' | 'other'): void {
    this.commands.push({ outlet, wanted });
    const { isStuck, isPending, actsAfterMs = 0, restartsOnOff, showsCommand, switchesInstead } = outlet.faults;
    if (wanted !== 'other') this.#told.set(outlet, wanted === 'on');
    const instead = this.all.find(({ number }) => number === switchesInstead);
    if (instead !== undefined && wanted !== 'other') {
      this.#act(instead, wanted === 'on');
      return;
    }
    if (restartsOnOff !== undefined && wanted === 'off') {
      this.#startedAtMs = this.#clock.monotonicMs();
      this.#showsOffUntilMs = this.#startedAtMs + restartsOnOff;
      return;
    }
    if (isStuck === true || showsCommand === true || isPending === true || wanted === 'other') return;
    this.#waiting.get(outlet)?.cancel();
    if (actsAfterMs === 0) this.#act(outlet, wanted === 'on');
    else this.#waiting.set(outlet, { wanted: wanted === 'on', cancel: this.#after(actsAfterMs, () => this.#act(outlet, wanted === 'on')) });
  }

  /** Somebody at the device itself. */
  switchByHand(outlet: Outlet, isOn: boolean): void {
    this.#told.delete(outlet);
    this.#isOn.set(outlet, isOn);
  }

  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #act(outlet: Outlet, isOn: boolean): void {
    this.#waiting.delete(outlet);
    this.#isOn.set(outlet, isOn);
    const { repowersAfterS = 0, flipsBackAfterMs = repowersAfterS === 0 ? undefined : repowersAfterS * 1_000 } = outlet.faults;
    if (!isOn && flipsBackAfterMs !== undefined) this.#after(flipsBackAfterMs, () => this.#isOn.set(outlet, true));
  }

  #after(delayMs: number, work: () => void): () => void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      work();
    });
    this.#timers.add(cancel);
    return cancel;
  }
}
