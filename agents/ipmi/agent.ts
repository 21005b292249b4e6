import type { Outcome, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { Call } from '../shared/call.ts';
import type { CallTarget } from '../shared/call.ts';
import { parseSettings, sessionKey, type IpmiSettings } from './parameters.ts';
import { readPower, setPower } from './power.ts';
import { searchPath } from './program.ts';
import { Session } from './session.ts';

/** A shell takes 6.4 MB, one thread of ours and one of the few sessions of its BMC. */
const SESSIONS_MAX = 200;

interface Limits {
  sessionsMax?: number;
  /** Where ipmitool is looked for; as in the environment variable. */
  path?: string;
}

/** IPMI 2.0 by ipmitool: one kept shell per BMC and credentials. */
export class IpmiAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #clock: Clock;
  readonly #sessionsMax: number;
  readonly #path: string;
  /** Longest unused first. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock, { sessionsMax = SESSIONS_MAX, path = searchPath() }: Limits = {}) {
    this.#clock = clock;
    this.#sessionsMax = sessionsMax;
    this.#path = path;
  }

  /** The chassis' power state, with the machine's identity checked over the same session. */
  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#call(target, 'power status', (session, call) => readPower(session, call, target));
  }

  /** Power down or up by Chassis Control, after the machine's identity was read over the same session. Sent at most once. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#call(target, `power ${state}`, (session, call) => setPower(session, call, target, state));
  }

  async close(): Promise<void> {
    const kept = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(kept.map((session) => session.close()));
  }

  async #call<T>(target: Target, asked: string, work: (session: Session, call: Call<CallTarget>) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      if (target.plug !== '')
        throw call.error('Misconfigured', 'a BMC switches one machine: remove plug, or name the agent of the chassis or PDU that has one');
      const session = this.#sessionOf(settings, call);
      return await session.exclusive(call, () => work(session, call));
    } finally {
      call.release();
    }
  }

  #sessionOf(settings: IpmiSettings, call: Call<CallTarget>): Session {
    const key = sessionKey(settings);
    const known = this.#sessions.get(key);
    if (known === undefined) this.#makeRoom(call);
    const session = known ?? new Session(settings, this.#path, this.#clock, () => this.#forget(key, session));
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    return session;
  }

  #makeRoom(call: Call<CallTarget>): void {
    if (this.#sessions.size < this.#sessionsMax) return;
    const [oldest] = [...this.#sessions].filter(([, session]) => session.isIdle);
    if (oldest === undefined)
      throw call.error('Unreachable', `${this.#sessionsMax} shells of ipmitool are busy, the most that one controller may have`);
    const [key, session] = oldest;
    this.#sessions.delete(key);
    void session.close();
  }

  #forget(key: string, session: Session): void {
    if (this.#sessions.get(key) === session) this.#sessions.delete(key);
  }
}
