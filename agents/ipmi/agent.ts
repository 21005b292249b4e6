import { AgentError } from '../../src/ports/agents.ts';
import type { FailureDiagnostic, Outcome, PowerAgent, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { checkedAddress, AddressRefused, ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import type { CallTarget } from '../shared/call.ts';
import { parsedOnce } from '../shared/parsed-once.ts';
import { searchPath } from '../shared/process/run-program.ts';
import { readEventLog } from './event-log.ts';
import { ShellLine } from './ipmitool/shell-line.ts';
import { TransportUnfit } from './line.ts';
import { NativeLine } from './native/native-line.ts';
import { ONE_MACHINE, parseSettings, sessionKey, type IpmiSettings, type Transport } from './parameters.ts';
import { controlPower, readPower } from './power.ts';
import { Session } from './session.ts';

/** A shell takes 6.4 MB, one thread of ours and one of the few sessions of its BMC; a session of our own is a socket. */
const SESSIONS_MAX: Readonly<Record<Transport, number>> = { native: 1_000, ipmitool: 200 };

interface Limits {
  /** Of each transport. */
  sessionsMax?: number;
  /** Where ipmitool is looked for; as in the environment variable. */
  path?: string;
  /** Of each address that is called; absent: any may be. */
  check?: AddressCheck;
}

type Work<T> = (session: Session, call: Call<CallTarget>) => Promise<T>;
interface Known {
  settings: IpmiSettings;
  key: string;
}

/** IPMI 2.0, spoken by ourselves or by ipmitool: one kept session per BMC and credentials. */
export class IpmiAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #clock: Clock;
  readonly #sessionsMax: Readonly<Record<Transport, number>>;
  readonly #path: string;
  readonly #check: AddressCheck;
  #bootsSeen = 0;
  /** Longest unused first. */
  readonly #sessions: Readonly<Record<Transport, Map<string, Session>>> = { native: new Map(), ipmitool: new Map() };
  /** Sessions that end after their last use; `close` waits for them. */
  readonly #farewells = new Set<Promise<void>>();
  readonly #parse = parsedOnce(parseSettings, sessionKey);

  constructor(clock: Clock, { sessionsMax, path = searchPath(), check = ANY_ADDRESS }: Limits = {}) {
    this.#clock = clock;
    this.#check = check;
    this.#sessionsMax = sessionsMax === undefined ? SESSIONS_MAX : { native: sessionsMax, ipmitool: sessionsMax };
    this.#path = path;
  }

  /** The chassis' power state, with the machine's identity checked over the same session; with `verify_with`, the other transport's as witness. */
  async read(target: Target): Promise<Reading<PowerState>> {
    return this.#call(target, 'power status', async (known, call) => {
      const [first, used] = await this.#byFirst(known, call, (session) => readPower(session, call, target));
      if (!known.settings.verifiesWithOther) return first;
      const other = used === 'native' ? 'ipmitool' : 'native';
      const second = await this.#by(other, known, call, (session) => readPower(session, call, target)).catch(unwrapped);
      return {
        ...first,
        identity: second.identity === 'unverified' ? 'unverified' : first.identity,
        witness: { source: other, state: second.state, detail: second.detail },
      };
    });
  }

  /** Power down or up by Chassis Control, after the machine's identity was read over the same session. Sent at most once. */
  async set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#call(target, `power ${state}`, async (known, call) => {
      const [outcome] = await this.#byFirst(known, call, (session) => controlPower(session, call, target, state));
      return outcome;
    });
  }

  /** Chassis Control "diagnostic interrupt": an NMI to the processors. Sent at most once. */
  async diagnose(target: Target): Promise<Outcome> {
    return this.#call(target, 'diagnostic interrupt', async (known, call) => {
      const [outcome] = await this.#byFirst(known, call, (session) => controlPower(session, call, target, 'diag'));
      return outcome;
    });
  }

  /** The newest entries of the System Event Log. */
  async failureDiagnostics(target: Target): Promise<readonly FailureDiagnostic[]> {
    return this.#call(target, 'event log', async (known, call) => {
      const [diagnostic] = await this.#byFirst(known, call, (session) => readEventLog(session, call, target));
      return diagnostic === undefined ? [] : [diagnostic];
    });
  }

  async close(): Promise<void> {
    const kept = Object.values(this.#sessions).flatMap((sessions) => [...sessions.values()]);
    for (const sessions of Object.values(this.#sessions)) sessions.clear();
    await Promise.all([...kept.map((session) => session.close()), ...this.#farewells]);
  }

  async #call<T>(target: Target, asked: string, work: (parsed: Known, call: Call<CallTarget>) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const parsed = this.#parse(target.parameters);
      if ('problems' in parsed) throw call.error('Misconfigured', parsed.problems.join('; '));
      if (target.plug !== '') throw call.error('Misconfigured', ONE_MACHINE);
      return await work(parsed, call);
    } finally {
      call.release();
    }
  }

  /** By the first transport, or by the second where this BMC does not take the first. That shows while a session is opened, before anything is set. */
  async #byFirst<T>(known: Known, call: Call<CallTarget>, work: Work<T>): Promise<[T, Transport]> {
    const [first = 'native', second] = known.settings.transports;
    try {
      return [await this.#by(first, known, call, work), first];
    } catch (error) {
      if (!(error instanceof TransportUnfit)) throw error;
      if (second === undefined) throw error.failure;
      return [await this.#by(second, known, call, work).catch((reason: unknown) => besides(call, error.failure, reason)), second];
    }
  }

  async #by<T>(transport: Transport, known: Known, call: Call<CallTarget>, work: Work<T>): Promise<T> {
    const session = this.#sessionOf(transport, known, call);
    return session.exclusive(call, () => work(session, call));
  }

  #sessionOf(transport: Transport, { settings, key }: Known, call: Call<CallTarget>): Session {
    const sessions = this.#sessions[transport];
    const kept = sessions.get(key);
    if (kept === undefined) this.#makeRoom(transport, call);
    const pace = { waitMs: settings.timeoutSeconds * 1_000, check: this.#check };
    const open = (opening: Call<CallTarget>) =>
      transport === 'native' ? NativeLine.open(settings, opening, this.#clock, pace) : this.#byProgram(settings, opening);
    const session =
      kept ??
      new Session(
        settings,
        open,
        this.#clock,
        () => {
          if (sessions.get(key) === session) sessions.delete(key);
        },
        () => String((this.#bootsSeen += 1)),
      );
    sessions.delete(key);
    sessions.set(key, session);
    return session;
  }

  /** The program is given an address that was checked: the name could resolve to another one for it. */
  async #byProgram(settings: IpmiSettings, call: Call<CallTarget>): Promise<ShellLine> {
    if (this.#check === ANY_ADDRESS) return ShellLine.open(settings, this.#path, call, this.#clock);
    const { address } = await call.within(checkedAddress(settings.host, settings.family, this.#check)).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw call.error('Misconfigured', error.message);
      if (call.ended !== undefined) throw call.endedError();
      throw call.error('Unreachable', `the name of the BMC does not resolve: ${error instanceof Error ? error.message : String(error)}`);
    });
    return ShellLine.open({ ...settings, host: address }, this.#path, call, this.#clock);
  }

  #makeRoom(transport: Transport, call: Call<CallTarget>): void {
    const sessions = this.#sessions[transport];
    const max = this.#sessionsMax[transport];
    if (sessions.size < max) return;
    const [oldest] = [...sessions].filter(([, session]) => session.isIdle);
    if (oldest === undefined)
      throw call.error('Unreachable', `${max} sessions of transport ${transport} are busy, the most that one controller may have`);
    const [key, session] = oldest;
    sessions.delete(key);
    const farewell = session.close().finally(() => this.#farewells.delete(farewell));
    this.#farewells.add(farewell);
  }
}

function unwrapped(error: unknown): never {
  throw error instanceof TransportUnfit ? error.failure : error;
}

/** What the second transport met, with what the first one met: either may be what a person has to mend. */
function besides(call: Call<CallTarget>, first: AgentError, second: unknown): never {
  if (!(second instanceof AgentError)) throw second;
  throw call.error(second.kind, `${second.facts.answered}; by RMCP+ of our own: ${first.facts.answered}`);
}
