import type { Outcome, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { Call } from '../shared/call.ts';
import { Device } from './device.ts';
import { connectionKey, parseSettings } from './parameters.ts';
import { setPower } from './power.ts';

/** BMCs end idle sessions after 30 s to some minutes; ours is ended before it is forgotten. */
const IDLE_CLOSE_MS = 45_000;

/** DMTF Redfish (DSP0266) as a power agent: one kept connection and session per device and credentials. */
export class RedfishAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #clock: Clock;
  readonly #devices = new Map<string, { device: Device; cancelIdle: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The state that the machine's own System shows, with its Chassis as second witness and its identity checked in the same answer. */
  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#call(target, 'PowerState', async (device, call) => {
      const view = await device.machine.view(call);
      const witness = await device.machine.witness(call, view);
      const deviceTime = Date.parse(view.response.headers['date'] ?? '');
      return {
        state: view.state,
        detail: view.identity.kind === 'unverified' ? `${view.detail}, identity: ${view.identity.why}` : view.detail,
        identity: view.identity.kind === 'verified' ? 'verified' : 'unverified',
        ...(witness === undefined ? {} : { witness }),
        ...(Number.isNaN(deviceTime) ? {} : { deviceTime: new Date(deviceTime).toISOString() }),
      };
    });
  }

  /** ForceOff or On by the advertised Reset action, after the machine's identity was read over the same session. Sent at most once. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#call(target, `power ${state}`, (device, call) => setPower(device, call, state));
  }

  async close(): Promise<void> {
    const kept = [...this.#devices.values()];
    this.#devices.clear();
    for (const { cancelIdle } of kept) cancelIdle();
    await Promise.all(kept.map(({ device }) => device.close()));
  }

  async #call<T>(target: Target, asked: string, work: (device: Device, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      const key = connectionKey(settings);
      const kept = this.#devices.get(key) ?? { device: new Device(settings, this.#clock), cancelIdle: () => undefined };
      this.#devices.set(key, kept);
      kept.cancelIdle();
      try {
        return await kept.device.exclusive(call, () => work(kept.device, call));
      } finally {
        kept.cancelIdle();
        if (this.#devices.get(key) === kept) kept.cancelIdle = this.#clock.after(IDLE_CLOSE_MS, () => void this.#retire(key, kept.device));
      }
    } finally {
      call.release();
    }
  }

  async #retire(key: string, device: Device): Promise<void> {
    this.#devices.delete(key);
    await device.close();
  }
}
