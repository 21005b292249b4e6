import type { HostPower } from '../../../src/testbed/operators/baremetal-operator.ts';
import type { OperatorEvent } from '../../../src/laws/trace.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { OPERATOR_USER } from '../api.ts';
import type { SimulatedDevice } from '../../../src/testbed/simulation/devices.ts';

const DEADLINE_MS = 5_000;

type Reached = Pick<SimulatedDevice, 'address' | 'oneWayMs' | 'hears' | 'answers' | 'look' | 'set'>;

/** The BMCs of the hosts as their operator reaches them, whatever is wrong with these. Each set is told in the trace, for the judge: it is nobody's of ours. */
export class SimulatedHostPower implements HostPower {
  readonly #clock: Clock;
  readonly #deviceOf: (node: string) => Reached | undefined;
  readonly #trace: (event: OperatorEvent) => void;

  constructor(clock: Clock, deviceOf: (node: string) => Reached | undefined, trace: (event: OperatorEvent) => void) {
    this.#clock = clock;
    this.#deviceOf = deviceOf;
    this.#trace = trace;
  }

  async read(node: string): Promise<'on' | 'off' | 'unknown'> {
    const shown = await this.#ask(node, (device) => device.look());
    return shown === 'pending' ? 'unknown' : shown;
  }

  async set(node: string, want: 'on' | 'off'): Promise<void> {
    const isAccepted = await this.#ask(node, (device) => {
      const took = device.set(want, OPERATOR_USER);
      this.#trace({ kind: 'operator', at: 0, tookMs: 0, node, device: device.address, want, answer: took ? 'accepted' : 'refused' });
      return took;
    });
    if (!isAccepted) throw new Error('it answered 403');
  }

  async #ask<T>(node: string, effect: (device: Reached) => T): Promise<T> {
    const device = this.#deviceOf(node);
    if (device === undefined) throw new Error(`no BMC of ${node} is known`);
    await this.#clock.sleep(device.oneWayMs());
    const result = device.hears() ? { value: effect(device) } : undefined;
    if (result === undefined || !device.answers()) {
      await this.#clock.sleep(DEADLINE_MS);
      throw new Error('no answer in time');
    }
    await this.#clock.sleep(device.oneWayMs());
    return result.value;
  }
}
