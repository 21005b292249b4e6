import type { Clock } from '../../ports/clock.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import { WorldApi } from '../cluster/api.ts';
import type { WorldDependencies } from '../cluster/dependencies.ts';
import { keyOf } from '../cluster/kinds.ts';
import { Loop } from '../cluster/loop.ts';
import { Mirror } from '../cluster/mirror.ts';
import { HOST_NODE_LABEL, HOSTS_NAMESPACE } from './host-fleet.ts';
import { backOffMs, CYCLE, isLeftAlone, wishOf } from './host-wish.ts';

/** How patient an operator is. Milliseconds. */
export interface OperatorPace {
  /** Between two looks at a host of which nothing is wanted. baremetal-operator: a minute. */
  steadyMs: number;
  /** From a command to the look for its effect. baremetal-operator: 3 s. */
  shortWaitMs: number;
  /** How long the operating system may take to switch off softly. baremetal-operator: 3 min. */
  softMs: number;
  /** Unit of the back-off after errors. baremetal-operator: a minute. */
  backOffUnitMs: number;
}

export const SHORT_PACE: OperatorPace = { steadyMs: 3_000, shortWaitMs: 500, softMs: 6_000, backOffUnitMs: 1_000 };

/** The BMCs of the hosts, by the names of their nodes. Rejects when a device says no, or nothing. */
export interface HostPower {
  read(node: string): Promise<'on' | 'off' | 'unknown'>;
  set(node: string, state: 'on' | 'off'): Promise<void>;
}

interface Minded {
  loop: Loop;
  /** Monotonic: not before this, whatever anybody writes. */
  notBeforeMs: number;
  /** Monotonic: the soft off that is under way is followed by a hard one then. */
  softUntilMs?: number;
}

/**
 * baremetal-operator as far as its reboot annotations go: it re-reads hosts slowly, switches them by their real BMCs, tells `status.poweredOn` as it last read
 * it, and after a power error it does not look again for longer and longer. A BMC that only cannot be read leaves the status as it was.
 */
export class BareMetalOperator {
  readonly #api: WorldApi;
  readonly #dependencies: WorldDependencies;
  readonly #clock: Clock;
  readonly #power: HostPower;
  readonly #pace: OperatorPace;
  readonly #hosts: Mirror<BareMetalHost>;
  readonly #minded = new Map<string, Minded>();

  constructor(dependencies: WorldDependencies, power: HostPower, pace: OperatorPace) {
    this.#api = new WorldApi(dependencies.transport);
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock;
    this.#power = power;
    this.#pace = pace;
    const onChange = (before: BareMetalHost | undefined, after: BareMetalHost | undefined): void => this.#stir(before, after);
    this.#hosts = new Mirror<BareMetalHost>({ ...dependencies, resource: BARE_METAL_HOSTS, namespace: HOSTS_NAMESPACE, onChange });
  }

  start(): void {
    this.#hosts.start();
  }

  stop(): void {
    this.#hosts.stop();
    for (const { loop } of this.#minded.values()) loop.stop();
  }

  /** What anybody writes wakes it; its own words in the status do not. */
  #stir(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const key = keyOf(after ?? before ?? { metadata: { name: '' } });
    if (after === undefined) {
      this.#minded.get(key)?.loop.stop();
      this.#minded.delete(key);
      return;
    }
    const known = this.#minded.get(key);
    if (known !== undefined && wishText(before) === wishText(after)) return;
    const minded = known ?? this.#mind(key);
    if (minded.notBeforeMs <= this.#clock.monotonicMs()) minded.loop.poke();
  }

  #mind(key: string): Minded {
    const { clock, random } = this.#dependencies;
    const minded: Minded = { loop: new Loop(clock, random, () => this.#reconcile(key, minded)), notBeforeMs: 0 };
    this.#minded.set(key, minded);
    return minded;
  }

  /** Returns when to look again. */
  async #reconcile(key: string, minded: Minded): Promise<number | undefined> {
    const host = this.#hosts.get(key);
    if (host === undefined) return undefined;
    const restMs = minded.notBeforeMs - this.#clock.monotonicMs();
    if (restMs > 0) return restMs;
    const { annotations = {}, labels } = host.metadata;
    if (isLeftAlone(annotations)) return this.#pace.steadyMs;
    const node = labels?.[HOST_NODE_LABEL] ?? '';
    const shown = await this.#power.read(node).catch((): 'unknown' => 'unknown');
    const isOn = shown === 'unknown' ? host.status?.poweredOn !== false : shown === 'on';
    const wish = wishOf(annotations, host.spec?.online === true, isOn);
    if (isOn === (wish.power === 'on')) delete minded.softUntilMs;
    if (shown === 'unknown') return isOn === (wish.power === 'on') ? this.#pace.steadyMs : this.#fails(host, minded);
    await this.#tell(host, isOn);
    if (wish.endsCycle) await this.#api.patch(BARE_METAL_HOSTS, placeOf(host), 'merge', { metadata: { annotations: { [CYCLE]: null } } });
    if (isOn === (wish.power === 'on') || (wish.power === 'off' && host.spec?.disablePowerOff === true)) return this.#pace.steadyMs;
    return this.#switch(host, node, wish.power, wish.mode, minded);
  }

  async #switch(host: BareMetalHost, node: string, power: 'on' | 'off', mode: 'hard' | 'soft', minded: Minded): Promise<number> {
    const nowMs = this.#clock.monotonicMs();
    if (power === 'off' && mode === 'soft') {
      minded.softUntilMs ??= nowMs + this.#pace.softMs;
      if (nowMs < minded.softUntilMs) return minded.softUntilMs - nowMs;
    }
    try {
      await this.#power.set(node, power);
    } catch (error) {
      return this.#fails(host, minded, error);
    }
    return this.#pace.shortWaitMs;
  }

  async #tell(host: BareMetalHost, isOn: boolean): Promise<void> {
    const told: Told = host.status ?? {};
    const isWell = (told.errorType ?? '') === '' && told.operationalStatus === 'OK';
    if (told.poweredOn === isOn && isWell) return;
    await this.#write(host, { poweredOn: isOn, operationalStatus: 'OK', errorType: '', errorMessage: '', errorCount: 0 });
  }

  async #fails(host: BareMetalHost, minded: Minded, error?: unknown): Promise<number> {
    const told: Told = host.status ?? {};
    const errorCount = (told.errorCount ?? 0) + 1;
    const errorMessage = error instanceof Error ? error.message : 'the power state cannot be read';
    await this.#write(host, { operationalStatus: 'error', errorType: 'power management error', errorMessage, errorCount });
    const waitMs = backOffMs(errorCount, this.#pace.backOffUnitMs);
    minded.notBeforeMs = this.#clock.monotonicMs() + waitMs;
    return waitMs;
  }

  async #write(host: BareMetalHost, status: Told): Promise<void> {
    await this.#api.patch(BARE_METAL_HOSTS, { ...placeOf(host), subresource: 'status' }, 'merge', { status });
  }
}

type Told = NonNullable<BareMetalHost['status']> & { errorCount?: number };

function placeOf({ metadata: { name, namespace } }: BareMetalHost): { name: string; namespace: string | undefined } {
  return { name, namespace };
}

function wishText(host: BareMetalHost | undefined): string {
  return JSON.stringify([host?.metadata.annotations, host?.spec]);
}
