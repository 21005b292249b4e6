import { AgentError } from '../../src/ports/agents.ts';
import type { AgentDefinition, AgentErrorKind, Outcome, Parameters, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { DeviceEvent } from '../../src/drill/laws/trace.ts';
import type { Port } from './kernel/port.ts';
import type { SeededRandom } from './kernel/seeded-random.ts';
import type { RangeMs } from './network.ts';

/**
 * honest: does what it says. slow: the off takes effect late. lies: accepts every off and stays on. dead: never answers. half-dead: loses half
 * of what it is asked or answers. unknown: its PowerState is null. refuses: answers every set with 403. restores: once, some time after an off,
 * the power comes back by itself (a restore policy, or somebody at the rack).
 */
export type DeviceBehaviour = 'honest' | 'slow' | 'lies' | 'dead' | 'half-dead' | 'unknown' | 'refuses' | 'restores';

/** The mains switch of a simulated machine. */
export interface PowerBackend {
  state(): 'on' | 'off';
  on(cause: 'set' | 'restore'): void;
  off(): void;
}

export interface DeviceOptions {
  /** Address and queue key. */
  name: string;
  /** The machine it really switches. */
  node: string;
  systemUUID: string;
  behaviour: DeviceBehaviour;
  backend: PowerBackend;
  random: SeededRandom;
  /** From an accepted set to its effect. */
  effectMs: RangeMs;
  now: () => number;
  schedule: (delayMs: number, task: () => void) => void;
  record: (event: DeviceEvent) => void;
}

const ONE_WAY_MS: RangeMs = [1, 20];
const HALF = 0.5;
/** A release may rest on an off read that is no older than this. */
const PROOF_MS = 5_000;
const RESTORE_MS: RangeMs = [500, 25_000];

/** A BMC of the simulated world, as it stands in the rack: it outlives every controller. */
export class SimulatedDevice {
  readonly options: DeviceOptions;
  behaviour: DeviceBehaviour;
  /** Between all controllers and the device. cut: nothing passes. mute: it hears and obeys, its answers are lost. */
  network: 'up' | 'cut' | 'mute' = 'up';
  /** What it lets in; `undefined`: anything. */
  password: string | undefined;
  #changing: 'on' | 'off' | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: DeviceOptions) {
    this.options = options;
    this.behaviour = options.behaviour;
  }

  oneWayMs(): number {
    return this.options.random.between(...ONE_WAY_MS);
  }

  /** `false`: the request is lost. */
  hears(): boolean {
    return this.network !== 'cut' && this.#isThere();
  }

  /** `false`: the answer is lost. */
  answers(): boolean {
    return this.network === 'up' && this.#isThere();
  }

  #isThere(): boolean {
    return this.behaviour !== 'dead' && (this.behaviour !== 'half-dead' || this.options.random.chance(HALF));
  }

  /** Is this its password? */
  admits(password: string | undefined, session: string): boolean {
    if (this.password === undefined || this.password === password) {
      return true;
    }
    this.#record({ action: 'login', answer: '401', session });
    return false;
  }

  /** Shows the machine's identity over `session`. */
  identify(session: string): string {
    this.#record({ action: 'identity', answer: `200 ${this.options.systemUUID}`, session });
    return this.options.systemUUID;
  }

  read(session: string): PowerState {
    this.#readAtMs = this.options.now();
    const shown = this.behaviour === 'unknown' ? 'unknown' : this.#shown();
    this.#record({ action: 'read', answer: `200 ${shown}`, shown, session });
    return shown;
  }

  /** `false`: refused. */
  set(want: 'on' | 'off', session: string): boolean {
    if (this.behaviour === 'refuses') {
      this.#record({ action: 'set', want, answer: '403', session });
      return false;
    }
    this.#record({ action: 'set', want, answer: '204', session });
    if (this.behaviour === 'lies' && want === 'off') {
      return true;
    }
    this.#changing = want;
    this.options.schedule(this.options.random.between(...this.options.effectMs), () => {
      this.#changing = undefined;
      if (want === 'on') {
        this.options.backend.on('set');
        return;
      }
      this.options.backend.off();
      this.#restoreLater();
    });
    return true;
  }

  #restoreLater(): void {
    if (this.behaviour !== 'restores') {
      return;
    }
    this.behaviour = 'honest';
    this.options.schedule(this.options.random.between(...RESTORE_MS), () => {
      this.#restoreUnseen();
    });
  }

  /** No proof is fresher than its last read: power that returns sooner than anyone can act on that read would blame a controller that did right. */
  #restoreUnseen(): void {
    const waitMs = this.#readAtMs + PROOF_MS - this.options.now();
    if (waitMs > 0) {
      this.options.schedule(waitMs, () => {
        this.#restoreUnseen();
      });
      return;
    }
    this.options.backend.on('restore');
  }

  #shown(): PowerState {
    const state = this.options.backend.state();
    // Some say PoweringOff until it is done, some say On.
    return this.#changing !== undefined && this.#changing !== state && this.behaviour === 'slow' ? 'pending' : state;
  }

  #record(event: Pick<DeviceEvent, 'action' | 'want' | 'answer' | 'shown' | 'session'>): void {
    this.options.record({ kind: 'device', at: this.options.now(), device: this.options.name, plug: '', node: this.options.node, ...event });
  }
}

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
      identity: target.identity.systemUUID === undefined ? 'unverified' : 'verified',
    };
  }

  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    const conversation = this.#conversation(target, state);
    const uuid = await conversation.exchange('identify', ['device', 'device-read'], (device, session) => device.identify(session));
    conversation.check(uuid);
    target.beforeSend();
    const isAccepted = await conversation.exchange(`set ${state}`, ['device', 'device-set'], (device, session) => device.set(state, session));
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

/** One call of the agent: its requests share the deadline and the session. */
class Conversation {
  readonly #device: SimulatedDevice;
  readonly #target: Target;
  readonly #port: Port;
  readonly #asked: string;
  readonly #endsAtMs: number;

  constructor(device: SimulatedDevice, target: Target, port: Port, asked: string) {
    this.#device = device;
    this.#target = target;
    this.#port = port;
    this.#asked = asked;
    this.#endsAtMs = port.process.clock.monotonicMs() + target.deadlineMs;
  }

  /** One request and its answer. Rejects with `AgentError` kind `Timeout` when either is lost or late. */
  exchange<T>(what: string, tags: readonly string[], effect: (device: SimulatedDevice, session: string) => T): Promise<T> {
    const { process } = this.#port;
    const { signal } = this.#target;
    const device = this.#device;
    if (signal.aborted) {
      return Promise.reject(this.failure('NotSent', 'the call was given up before this request'));
    }
    const answer = this.#port.call({
      label: `${what} ${device.options.name}`,
      tags,
      requestMs: device.oneWayMs(),
      answerMs: device.oneWayMs(),
      effect: () => {
        const lost = new Promise<never>(() => undefined);
        if (!device.hears()) {
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
  check(systemUUID: string): void {
    const expected = this.#target.identity.systemUUID;
    if (expected !== undefined && expected.toLowerCase() !== systemUUID.toLowerCase()) {
      throw this.failure('Misconfigured', `its machine is ${systemUUID}, the node's is ${expected}`);
    }
  }

  failure(kind: AgentErrorKind, answered: string): AgentError {
    return new AgentError(kind, { device: this.#target.device, plug: this.#target.plug, asked: this.#asked, answered });
  }
}

/** The registry's entry `sim-bmc`. `address` is the device's name. */
export function simulatedDefinition(devices: ReadonlyMap<string, SimulatedDevice>, port: Port): AgentDefinition {
  return {
    name: 'sim-bmc',
    aliases: [],
    kind: 'power',
    actions: ['on', 'off', 'reboot'],
    deviceMaxLatencyMs: 30_000,
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
