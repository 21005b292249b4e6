import type { Clock } from '../../../ports/clock.ts';
import type { Trace } from '../../cluster/dependencies.ts';
import type { HostPower } from '../baremetal-operator.ts';
import type { BmcAddress, BmcClient } from './bmc-client.ts';
import { IpmiPower } from './ipmi-power.ts';
import { RedfishPower } from './redfish-power.ts';

const DEADLINE_MS = 5_000;

/** How the BMC of a node is reached, with the password. */
export interface HostDevice extends BmcAddress {
  protocol: 'redfish' | 'ipmi';
}

/** The hosts' own BMCs, spoken to over the wire; each set is told in the trace, for the device does not know who asks. */
export class BmcPower implements HostPower {
  readonly #clients: ReadonlyMap<string, { client: BmcClient; device: string }>;
  readonly #clock: Clock;
  readonly #trace: Trace;

  constructor(devices: Readonly<Record<string, HostDevice>>, { clock, trace }: { clock: Clock; trace: Trace }) {
    const clients = Object.entries(devices).map(([node, { protocol, ...address }]): [string, { client: BmcClient; device: string }] => {
      const client = protocol === 'redfish' ? new RedfishPower(address, DEADLINE_MS) : new IpmiPower(address, DEADLINE_MS);
      return [node, { client, device: `${address.host}:${String(address.port)}` }];
    });
    this.#clients = new Map(clients);
    this.#clock = clock;
    this.#trace = trace;
  }

  async read(node: string): Promise<'on' | 'off' | 'unknown'> {
    return this.#bmcOf(node).client.read();
  }

  async set(node: string, want: 'on' | 'off'): Promise<void> {
    const { client, device } = this.#bmcOf(node);
    const begunMs = this.#clock.monotonicMs();
    const tell = (answer: string): void =>
      this.#trace({ kind: 'operator', at: this.#clock.wallMs(), tookMs: this.#clock.monotonicMs() - begunMs, node, device, want, answer });
    try {
      tell(await client.set(want));
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #bmcOf(node: string): { client: BmcClient; device: string } {
    const found = this.#clients.get(node);
    if (found === undefined) throw new Error(`no BMC of ${node} is known`);
    return found;
  }
}
