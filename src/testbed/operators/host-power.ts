import type { Parameters, PowerAgent, Target } from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Trace } from '../cluster/dependencies.ts';
import type { HostPower } from './baremetal-operator.ts';

const DEADLINE_MS = 5_000;

/** How the BMC of a node is reached: its agent's parameters, with the password. */
export interface HostDevice {
  /** `host:port`, as the trace names it. */
  device: string;
  parameters: Parameters;
}

/** The hosts' own BMCs, spoken to over the wire; each set is told in the trace, for the device does not know who asks. */
export class BmcPower implements HostPower {
  readonly #agent: PowerAgent;
  readonly #devices: Readonly<Record<string, HostDevice>>;
  readonly #clock: Clock;
  readonly #trace: Trace;

  constructor(agent: PowerAgent, devices: Readonly<Record<string, HostDevice>>, { clock, trace }: { clock: Clock; trace: Trace }) {
    this.#agent = agent;
    this.#devices = devices;
    this.#clock = clock;
    this.#trace = trace;
  }

  async read(node: string): Promise<'on' | 'off' | 'unknown'> {
    const { state } = await this.#agent.read(this.#target(node));
    return state === 'pending' ? 'unknown' : state;
  }

  async set(node: string, want: 'on' | 'off'): Promise<void> {
    const { device } = this.#deviceOf(node);
    const begunMs = this.#clock.monotonicMs();
    const tell = (answer: string): void =>
      this.#trace({ kind: 'operator', at: this.#clock.wallMs(), tookMs: this.#clock.monotonicMs() - begunMs, node, device, want, answer });
    try {
      tell((await this.#agent.set(this.#target(node), want)).result);
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #target(node: string): Target {
    const { device, parameters } = this.#deviceOf(node);
    const { signal } = new AbortController();
    return { plug: '', device, parameters, identity: { node }, signal, deadlineMs: DEADLINE_MS, beforeSend: () => undefined };
  }

  #deviceOf(node: string): HostDevice {
    const found = this.#devices[node];
    if (found === undefined) throw new Error(`no BMC of ${node} is known`);
    return found;
  }
}
