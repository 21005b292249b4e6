import { AgentError } from '../../src/ports/agents.ts';
import type { AgentDefinition, Outcome, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import type { Behaviour, FaultProfile, DeviceFixture } from './fault-profile.ts';

/** Everything happens this much faster than in the fault matrix. */
export const HASTE = 8;
const PASSWORD = 'toy-password';
const clock: Clock = new SystemClock();

/** A device that is a few variables, as odd as its behaviour says. */
class ToyDevice {
  readonly behaviour: Behaviour;
  readonly plugs: readonly string[];
  readonly commands: { plug: string; wanted: 'on' | 'off' | 'other' }[] = [];
  sessions = 0;
  readonly #isOn = new Map<string, boolean>();

  constructor(behaviour: Behaviour, isOn: boolean) {
    this.behaviour = behaviour;
    this.plugs = behaviour === 'one-plug-stuck' ? ['1', '2'] : [''];
    for (const plug of this.plugs) this.#isOn.set(plug, isOn);
  }

  flows(plug: string): boolean {
    return this.#isOn.get(plug) === true;
  }

  async answer(plug: string, signal: AbortSignal): Promise<string> {
    if (this.behaviour === 'slow') await clock.sleep(2_000 / HASTE, signal);
    if (this.behaviour === 'hangs-mid-answer') await clock.sleep(3_600_000, signal);
    const odd: Partial<Record<Behaviour, string>> = {
      'wrong-credentials': '401 bad login',
      'wrong-certificate': 'certificate of somebody else',
      unreachable: 'ECONNREFUSED',
      garbage: '%$#',
      truncated: 'state=o',
      'state-unknown': 'state=unknown',
      'state-null': 'state=null',
      'state-pending': 'state=pending',
      'wrong-machine': 'machine 2 state=on',
    };
    return odd[this.behaviour] ?? `state=${this.flows(plug) ? 'on' : 'off'}`;
  }

  async command(plug: string, wanted: 'on' | 'off' | 'other', signal: AbortSignal): Promise<string> {
    this.commands.push({ plug, wanted });
    const state = wanted !== 'off';
    const act = (): void => void this.#isOn.set(plug, state);
    switch (this.behaviour) {
      case 'accepts-and-lies':
        return 'done';
      case 'refuses':
        return '403 you may not switch';
      case 'one-plug-stuck':
        if (plug === '1') act();
        return 'done';
      case 'slow':
        clock.after(8_000 / HASTE, act);
        await clock.sleep(2_000 / HASTE, signal);
        return 'done';
      case 'late-after-deadline':
        clock.after(6_000 / HASTE, act);
        await clock.sleep(6_000 / HASTE, signal);
        return 'done';
      case 'flips-back-on':
        act();
        if (!state) clock.after(500 / HASTE, () => void this.#isOn.set(plug, true));
        return 'done';
      default:
        act();
        return 'done';
    }
  }
}

/** Defects that the harness has to notice. */
export type Defect =
  | 'believes-the-answer'
  | 'guesses-on'
  | 'guesses-off'
  | 'leaves-a-session'
  | 'tells-the-password'
  | 'sends-twice'
  | 'resets'
  | 'ignores-refusal';

class ToyAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #deviceAt: (key: string) => ToyDevice;
  readonly #defect: Defect | undefined;
  #told: PowerState | undefined;

  constructor(deviceAt: (key: string) => ToyDevice, defect: Defect | undefined) {
    this.#deviceAt = deviceAt;
    this.#defect = defect;
  }

  async read(target: Target): Promise<Reading<PowerState>> {
    const device = this.#deviceAt(target.device);
    device.sessions += this.#defect === 'leaves-a-session' ? 1 : 0;
    if (this.#defect === 'believes-the-answer' && this.#told !== undefined) return { state: this.#told, detail: 'as told', identity: 'unverified' };
    const answer = await device.answer(target.plug, target.signal);
    const detail = this.#defect === 'tells-the-password' ? `${answer} for ${target.parameters['password'] ?? ''}` : answer;
    if (this.#defect === 'guesses-off' && !answer.endsWith('=on')) return { state: 'off', detail, identity: 'unverified' };
    if (this.#defect === 'guesses-on' && !answer.endsWith('=off')) return { state: 'on', detail, identity: 'unverified' };
    const failure = /^(401|cert|ECONN|machine 2)/u.exec(answer);
    if (failure !== null) throw this.#error(target, failure[1] === 'ECONN' ? 'Unreachable' : 'Misconfigured', detail);
    const state = (['on', 'off', 'pending'] as const).find((known) => answer === `state=${known}`) ?? 'unknown';
    return { state, detail, identity: 'unverified' };
  }

  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    const device = this.#deviceAt(target.device);
    target.beforeSend();
    const { plug, signal } = target;
    if (this.#defect === 'sends-twice') void device.command(plug, state, signal);
    const detail = await device.command(plug, this.#defect === 'resets' && state === 'on' ? 'other' : state, signal);
    if (detail.startsWith('403') && this.#defect !== 'ignores-refusal') throw this.#error(target, 'Refused', detail);
    this.#told = state;
    return { result: 'accepted', detail: this.#defect === 'ignores-refusal' ? 'told' : detail };
  }

  #error(target: Target, kind: 'Refused' | 'Unreachable' | 'Misconfigured', answered: string): AgentError {
    return new AgentError(kind, { device: target.device, plug: target.plug, asked: 'toy', answered });
  }
}

/** Toys with one defect, or none. */
export function toys(defect?: Defect): FaultProfile {
  const devices = new Map<string, ToyDevice>();
  return {
    agent: definition((key) => {
      const device = devices.get(key);
      if (device === undefined) throw new Error(`no toy ${key} was spawned`);
      return device;
    }, defect),
    cannot: { restarts: 'a toy has no boots', 'session-limit': 'a toy has no sessions', 'rate-limited': 'a toy counts nothing' },
    words: WORDS,
    spawn: async (behaviour, isOn): Promise<DeviceFixture> => {
      const device = new ToyDevice(behaviour, isOn);
      const key = `toy-${devices.size}`;
      devices.set(key, device);
      return {
        parameters: { ip: key, password: PASSWORD },
        plugs: device.plugs,
        identity: { node: 'a' },
        flows: (plug) => device.flows(plug),
        commands: () => device.commands,
        leftOpen: () => ({ sessions: device.sessions, connections: 0, processes: 0 }),
        close: () => Promise.resolve(),
      };
    },
  };
}

const WORDS: FaultProfile['words'] = {
  'accepts-and-lies': /state=on|state=off/u,
  refuses: /403 you may not switch/u,
  'wrong-credentials': /401 bad login/u,
  'wrong-certificate': /certificate of somebody else/u,
  unreachable: /ECONNREFUSED/u,
  'hangs-mid-answer': /no complete answer within/u,
  garbage: /%\$#/u,
  truncated: /state=o\b/u,
  'state-unknown': /state=unknown/u,
  'state-null': /state=null/u,
  'state-pending': /state=pending/u,
  'flips-back-on': /state=on/u,
  'wrong-machine': /machine 2/u,
  'one-plug-stuck': /state=o/u,
};

function definition(deviceAt: (key: string) => ToyDevice, defect: Defect | undefined): AgentDefinition {
  return {
    name: 'toy',
    aliases: [],
    kind: 'power',
    actions: ['on', 'off', 'reboot'],
    deviceMaxLatencyMs: 1_000,
    deviceKey: ({ ip = '' }) => ip,
    describe: () => [{ name: 'password', required: true, secret: true, description: 'Login.' }],
    check: () => [],
    create: () => Promise.resolve(new ToyAgent(deviceAt, defect)),
  };
}
