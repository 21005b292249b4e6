import {
  type FailureDiagnostic,
  type Outcome,
  type PlugEntry,
  type PowerAgent,
  type PowerState,
  type Reading,
  type Target,
} from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { parsedOnce } from '../shared/parsed-once.ts';
import { Device } from './device.ts';
import { diagnosticsOf } from './failure-diagnostics.ts';
import { connectionKey, parseSettings, type RedfishSettings } from './parameters.ts';
import { Permits } from './permits.ts';
import { carryOut } from './power.ts';
import { Recollections } from './recollection.ts';
import type { ResourceView, Wish } from './resource-view.ts';
import { Authorities } from './socket.ts';

/** BMCs end idle sessions after 30 s to some minutes; ours is ended before it is forgotten. */
const IDLE_CLOSE_MS = 45_000;
/** Behind a probe nothing is asked for minutes; thousands of devices that are probed in turn would each hold a connection of 80 kB meanwhile. */
const PROBED_CLOSE_MS = 100;
/** Calls that are under way when the agent is closed may end by themselves within this. */
const CLOSE_GRACE_MS = 1_000;

interface Kept {
  device: Device;
  /** Under way or waiting. */
  calls: number;
  /** Monotonic: who called may call again until then. */
  neededUntilMs: number;
  cancelIdle: () => void;
}

/** DMTF Redfish (DSP0266) as a power agent: one kept connection and session per device and credentials. */
export class RedfishAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #clock: Clock;
  readonly #permits: Permits;
  readonly #authorities: Authorities;
  readonly #recollections: Recollections;
  #bootsSeen = 0;
  readonly #devices = new Map<string, Kept>();
  /** Devices that nobody needs any more and whose session is being ended. */
  readonly #farewells = new Set<Promise<void>>();
  /** Under way or waiting. */
  readonly #calls = new Set<Call>();
  readonly #parse = parsedOnce(parseSettings, connectionKey);

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#authorities = new Authorities(check);
    this.#permits = new Permits(clock);
    this.#recollections = new Recollections(clock);
  }

  /** The state that the machine's own System (or the outlet) shows, with its second witness; the identity is checked in the same answer. */
  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#call(target, 'PowerState', async (device, call) => {
      const view = await device.subject.view(call);
      const witness = await device.subject.witness(call, view);
      const { boot, isStarting } = await device.boots.current(call, view);
      const failure = await device.tasks.look(call, view.state);
      const credentialExpiresAt = target.isProbe === true ? await device.account.expiresAt(call) : undefined;
      const { certificateExpiresAt } = view.response.peer;
      const deviceTime = Date.parse(view.response.headers['date'] ?? '');
      return {
        state: isStarting ? 'unknown' : view.state,
        detail: `${detailOf(view, failure)}${isStarting ? ', its Manager is starting' : ''}`,
        boot,
        identity: view.identity.kind === 'verified' ? 'verified' : 'unverified',
        ...(witness === undefined ? {} : { witness }),
        ...(Number.isNaN(deviceTime) ? {} : { deviceTime: new Date(deviceTime).toISOString() }),
        ...(certificateExpiresAt === undefined ? {} : { certificateExpiresAt }),
        ...(credentialExpiresAt === undefined ? {} : { credentialExpiresAt }),
      };
    });
  }

  async connect(target: Target): Promise<void> {
    return this.#call(target, 'connect', (device, call) => device.session.begin(call));
  }

  /** ForceOff or On by the advertised action, after the machine's identity was read over the same session. Sent at most once. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#command(target, `power ${state}`, state);
  }

  /** The machine's NMI, which makes its kernel dump. */
  async diagnose(target: Target): Promise<Outcome> {
    return this.#command(target, 'NMI', 'nmi');
  }

  /** The ComputerSystems, or the outlets. */
  async list(target: Target): Promise<readonly PlugEntry[]> {
    return this.#call(target, 'list', (device, call) => device.subject.list(call));
  }

  /** The newest entries of its logs and, where the vendor has a way, a picture of its console. Changes nothing. */
  async failureDiagnostics(target: Target): Promise<readonly FailureDiagnostic[]> {
    return this.#call(target, 'failure diagnostics', (device, call) => diagnosticsOf(device, call));
  }

  async close(): Promise<void> {
    const kept = [...this.#devices.values()];
    this.#devices.clear();
    for (const { cancelIdle } of kept) cancelIdle();
    const calls = [...this.#calls];
    const giveUp = (): void => {
      for (const call of calls) call.giveUp();
    };
    const cancelGrace = this.#clock.after(CLOSE_GRACE_MS, giveUp);
    await Promise.all([...kept.map(({ device }) => device.close()), ...this.#farewells]);
    cancelGrace();
    giveUp();
  }

  #command(target: Target, asked: string, wish: Wish): Promise<Outcome> {
    return this.#call(target, asked, (device, call) => carryOut(device, call, wish));
  }

  async #call<T>(target: Target, asked: string, work: (device: Device, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    this.#calls.add(call);
    let giveBack: (() => void) | undefined;
    try {
      giveBack = await this.#permits.take(call);
      return await this.#admitted(call, work);
    } finally {
      giveBack?.();
      this.#calls.delete(call);
      call.release();
    }
  }

  async #admitted<T>(call: Call, work: (device: Device, call: Call) => Promise<T>): Promise<T> {
    const parsed = this.#parse(call.target.parameters);
    if ('problems' in parsed) throw call.error('Misconfigured', parsed.problems.join('; '));
    const { key, settings } = parsed;
    const kept = this.#devices.get(key) ?? this.#fresh(settings, key);
    this.#devices.set(key, kept);
    kept.cancelIdle();
    kept.calls += 1;
    try {
      return await kept.device.exclusive(call, () => work(kept.device, call));
    } finally {
      kept.calls -= 1;
      const nowMs = this.#clock.monotonicMs();
      kept.neededUntilMs = Math.max(kept.neededUntilMs, nowMs + (call.target.isProbe === true ? PROBED_CLOSE_MS : IDLE_CLOSE_MS));
      if (kept.calls === 0 && this.#devices.get(key) === kept)
        kept.cancelIdle = this.#clock.after(kept.neededUntilMs - nowMs, () => this.#retire(key, kept.device));
    }
  }

  #fresh(settings: RedfishSettings, key: string): Kept {
    const device = new Device(
      settings,
      this.#clock,
      { authorities: this.#authorities, recollection: this.#recollections.of(key) },
      (call) => this.#permits.heard(call),
      () => String((this.#bootsSeen += 1)),
    );
    return { device, calls: 0, neededUntilMs: 0, cancelIdle: () => undefined };
  }

  #retire(key: string, device: Device): void {
    this.#devices.delete(key);
    const farewell = device.close().finally(() => this.#farewells.delete(farewell));
    this.#farewells.add(farewell);
  }
}

function detailOf(view: ResourceView, failure: string | undefined): string {
  const identity = view.identity.kind === 'unverified' ? `, identity: ${view.identity.why}` : '';
  return `${view.detail}${identity}${failure === undefined ? '' : `, ${failure}`}`;
}
