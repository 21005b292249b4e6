import { AgentError } from '../../ports/agents.ts';
import type {
  AgentDefinition,
  AgentErrorKind,
  FabricAgent,
  Outcome,
  Parameters,
  PortState,
  PowerAgent,
  PowerState,
  Reading,
  Target,
} from '../../ports/agents.ts';
import type { SimulatedDevice } from './devices.ts';
import type { Port } from './port.ts';

/** The agent of one controller process for all simulated BMCs: one connection per device, each step of a call through the process' port. */
export class SimulatedPowerAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #devices: ReadonlyMap<string, SimulatedDevice>;
  readonly #port: Port;

  constructor(devices: ReadonlyMap<string, SimulatedDevice>, port: Port) {
    this.#devices = devices;
    this.#port = port;
  }

  async read(target: Target): Promise<Reading<PowerState>> {
    const conversation = this.#conversation(target, 'state');
    const state = await conversation.exchange('read', ['device', 'device-read'], (device, session) => {
      const uuid = device.identify(session);
      return { uuid, state: device.read(session) };
    });
    conversation.check(state.uuid);
    return {
      state: state.state,
      detail: `PowerState=${state.state}`,
      identity: target.identity.systemUUID === undefined || state.uuid === undefined ? 'unverified' : 'verified',
    };
  }

  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    const conversation = this.#conversation(target, state);
    const uuid = await conversation.exchange('identify', ['device', 'device-read'], (device, session) => device.identify(session));
    conversation.check(uuid);
    target.beforeSend();
    const isAccepted = await conversation.exchange(
      `set ${state}`,
      ['device', 'device-set'],
      (device, session) => device.set(state, session),
      (device, session) => {
        device.missed(state, session);
      },
    );
    if (!isAccepted) {
      throw conversation.failure('Refused', 'it answered 403');
    }
    return { result: 'accepted', detail: '204' };
  }

  #conversation(target: Target, asked: string): Conversation {
    const device = this.#devices.get(target.parameters['address'] ?? target.device);
    if (device === undefined) {
      throw new AgentError('Misconfigured', { device: target.device, plug: target.plug, asked, answered: 'no such device in this world' });
    }
    return new Conversation(device, target, this.#port, asked);
  }
}

const PORT_STATES = { on: 'open', off: 'closed', pending: 'pending', unknown: 'unknown' } as const;

/** The same for the paths by which nodes reach a storage: devices that are on while they are open. */
export class SimulatedFabricAgent implements FabricAgent {
  readonly kind = 'fabric';
  readonly #power: SimulatedPowerAgent;

  constructor(devices: ReadonlyMap<string, SimulatedDevice>, port: Port) {
    this.#power = new SimulatedPowerAgent(devices, port);
  }

  async read(target: Target): Promise<Reading<PortState>> {
    const { state, detail, identity } = await this.#power.read(target);
    return { state: PORT_STATES[state], detail, identity };
  }

  set(target: Target, state: 'open' | 'closed'): Promise<Outcome> {
    return this.#power.set(target, state === 'open' ? 'on' : 'off');
  }
}

/** One call of the agent: its requests share the deadline and the session. */
class Conversation {
  readonly #device: SimulatedDevice;
  readonly #target: Target;
  readonly #port: Port;
  readonly #asked: string;
  readonly #endsAtMs: number;
  readonly #address: string;

  constructor(device: SimulatedDevice, target: Target, port: Port, asked: string) {
    this.#device = device;
    this.#target = target;
    this.#port = port;
    this.#asked = asked;
    this.#address = device.address;
    this.#endsAtMs = port.process.clock.monotonicMs() + target.deadlineMs;
  }

  /** One request and its answer. Rejects with `AgentError` kind `Timeout` when either is lost or late; `missed`: the request did not arrive. */
  exchange<T>(
    what: string,
    tags: readonly string[],
    effect: (device: SimulatedDevice, session: string) => T,
    missed: (device: SimulatedDevice, session: string) => void = () => undefined,
  ): Promise<T> {
    const { process } = this.#port;
    const { signal } = this.#target;
    const device = this.#device;
    if (signal.aborted) {
      return Promise.reject(this.failure('NotSent', 'the call was given up before this request'));
    }
    const answer = this.#port.call({
      label: `${what} ${device.address}`,
      tags,
      requestMs: device.oneWayMs(),
      answerMs: device.oneWayMs(),
      effect: () => {
        const lost = new Promise<never>(() => undefined);
        // Its connection led to the device that had the address when it was opened.
        if (device.address !== this.#address) {
          return lost;
        }
        if (!device.hears()) {
          missed(device, process.name);
          return lost;
        }
        const isAdmitted = device.admits(this.#target.parameters['password'], process.name);
        const result = isAdmitted ? effect(device, process.name) : undefined;
        if (!device.answers()) {
          return lost;
        }
        return isAdmitted ? (result as T) : Promise.reject(this.failure('Refused', 'it answered 401'));
      },
    });
    return new Promise<T>((resolve, reject) => {
      const giveUp = (): void => {
        settle();
        reject(this.failure('Timeout', 'no answer in time'));
      };
      const settle = (): void => {
        cancelDeadline();
        signal.removeEventListener('abort', giveUp);
      };
      const cancelDeadline = process.clock.after(this.#endsAtMs - process.clock.monotonicMs(), giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      answer.then(
        (value) => {
          settle();
          resolve(value);
        },
        (thrown: unknown) => {
          settle();
          reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
        },
      );
    });
  }

  /** Throws `Misconfigured` when the machine behind the device is another one. */
  check(systemUUID: string | undefined): void {
    const expected = this.#target.identity.systemUUID;
    if (expected !== undefined && systemUUID !== undefined && expected.toLowerCase() !== systemUUID.toLowerCase()) {
      throw this.failure('Misconfigured', `its machine is ${systemUUID}, the node's is ${expected}`);
    }
  }

  failure(kind: AgentErrorKind, answered: string): AgentError {
    return new AgentError(kind, { device: this.#target.device, plug: this.#target.plug, asked: this.#asked, answered });
  }
}

/** The registry's entry `sim-path`, of the same devices. */
export function simulatedPathDefinition(devices: ReadonlyMap<string, SimulatedDevice>, port: Port): AgentDefinition {
  return {
    ...simulatedDefinition(devices, port),
    name: 'sim-path',
    kind: 'fabric',
    actions: ['on', 'off'],
    create: () => Promise.resolve(new SimulatedFabricAgent(devices, port)),
  };
}

/** The registry's entry `sim-bmc`. `address` is the device's name. */
export function simulatedDefinition(devices: ReadonlyMap<string, SimulatedDevice>, port: Port): AgentDefinition {
  return {
    name: 'sim-bmc',
    aliases: [],
    kind: 'power',
    actions: ['on', 'off', 'reboot'],
    deviceMaxLatencyMs: 30_000,
    // It is read while its node is isolated, where its off follows that at once.
    keepsSession: true,
    deviceKey: (parameters: Parameters) => parameters['address'] ?? '',
    describe: () => [
      { name: 'address', required: true, secret: false, description: 'Name of the simulated device.' },
      { name: 'password', required: true, secret: true, description: 'Any text.' },
    ],
    check: (parameters: Parameters, withSecrets: boolean) => [
      ...(devices.has(parameters['address'] ?? '')
        ? []
        : [{ parameter: 'address', message: `no device ${parameters['address'] ?? ''} in this world` }]),
      ...(withSecrets && parameters['password'] === undefined ? [{ parameter: 'password', message: 'it is missing' }] : []),
    ],
    create: () => Promise.resolve(new SimulatedPowerAgent(devices, port)),
  };
}
