import type { JournalEntry } from '../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { PlanMethod, Timing } from '../../domain/plan.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { AgentError } from '../../ports/agents.ts';
import type {
  ActionAgent,
  Agent,
  AgentErrorKind,
  AgentRegistry,
  Outcome,
  PortState,
  PowerState,
  Reading,
  Removal,
  Target,
} from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Job } from '../../ports/jobs.ts';
import { Dispatcher } from '../dispatcher.ts';
import { jobOf } from './job.ts';

/** A clock that tests move by hand. */
export interface MovedClock extends Clock {
  advance(elapsedMs: number): Promise<void>;
}

/** One plug of one device, honest unless its hooks say otherwise. */
export class ScriptedPlug {
  state: PowerState = 'on';
  witness: PowerState | undefined;
  identity: Reading['identity'] = 'verified';
  callMs = 10;
  /** Instead of an honest read. */
  onRead: ((target: Target) => Promise<Reading<PowerState>>) | undefined;
  /** Called before a set leaves; rejects when the login fails. */
  onConnect: (() => Promise<void>) | undefined;
  /** What a `diag` comes to; absent: this agent knows none. */
  onDiagnose: ((target: Target) => Promise<Outcome>) | undefined;
  /** What a deletion comes to; absent: this agent deletes nothing. */
  onRemove: ((target: Target) => Promise<Outcome>) | undefined;
  /** What is left after it. */
  onRemoval: (() => Promise<Removal>) | undefined;
  /** Instead of doing what is asked; called after `beforeSend`. */
  onSet: ((wanted: 'on' | 'off', target: Target) => Promise<Outcome>) | undefined;

  reading(): Reading<PowerState> {
    const message = `PowerState=${this.state}`;
    const { state, identity, witness } = this;
    if (witness === undefined) return { state, identity, detail: message };
    return { state, identity, detail: message, witness: { source: 'Chassis', state: witness, detail: `PowerState=${witness}` } };
  }
}

interface LogLine {
  atMs: number;
  call: string;
}

export const ACCEPTED: Outcome = { result: 'accepted', detail: '204' };

/** A dispatcher with scripted agents on a clock moved by hand; every call that reaches a device is in `log`. */
export class Harness {
  readonly clock: MovedClock;
  readonly dispatcher: Dispatcher;
  readonly log: LogLine[] = [];
  readonly plugs = new Map<string, ScriptedPlug>();
  /** Calls under way, by device; and the most that ever were at once, by device and overall. */
  readonly underWay = new Map<string, number>();
  readonly mostAtOnce = new Map<string, number>();
  action: ActionAgent = {
    kind: 'action',
    run: () => Promise.resolve({ result: 'accepted', detail: 'done' }),
    confirm: () => Promise.resolve(true),
  };
  /** The scripted fabric says closed of what was never there, too. */
  mustBeSeenOpen = false;
  /** Ports of the scripted fabric that are open in one of their parts only. */
  readonly openInPart = new Set<string>();
  /** Others open again what the scripted fabric closes. */
  undoneByOthers = false;
  /** The scripted agents keep their connections. */
  keepsSession = false;
  /** What connecting comes to; absent: they cannot do that alone. */
  onConnect: ((target: Target) => Promise<void>) | undefined;
  closed = 0;

  constructor(clock: MovedClock) {
    this.clock = clock;
    this.dispatcher = new Dispatcher(this.#registry(), { cluster: UNREACHABLE_CLUSTER, clock });
  }

  plug(device: string, plug = ''): ScriptedPlug {
    const key = `${device}/${plug}`;
    const known = this.plugs.get(key) ?? new ScriptedPlug();
    this.plugs.set(key, known);
    return known;
  }

  /** A job as the controller would give it; `more` overrides. */
  job(method: PlanMethod, action: JournalEntry['action'], more: Partial<Job> & { entry?: JournalEntry } = {}): Job {
    return jobOf(method, action, { intentAtMs: this.clock.monotonicMs(), ...more });
  }

  run(job: Job): Promise<JobReport> {
    return this.ended(this.dispatcher.run(job));
  }

  recover(job: Job): Promise<JobReport> {
    return this.ended(this.dispatcher.recover(job));
  }

  /** Moves time on until `promise` is settled. Rejects when it is not after ten minutes. */
  async ended<T>(promise: Promise<T>): Promise<T> {
    const end = { settled: false };
    const watched = promise.finally(() => {
      end.settled = true;
    });
    watched.catch(() => undefined);
    for (let waitedMs = 0; !end.settled; waitedMs += 50) {
      if (waitedMs > 600_000) throw new Error('not settled after ten minutes');
      await this.clock.advance(50);
    }
    return watched;
  }

  calls(pattern: RegExp): LogLine[] {
    return this.log.filter((line) => pattern.test(line.call));
  }

  /** What the agents do around each call: a log line, the time that it takes, and how many overlap. */
  async #call<T>(target: Target, name: string, work: (plug: ScriptedPlug) => Promise<T>): Promise<T> {
    const { device } = target;
    const script = this.plug(device, target.plug);
    const count = (by: number, key: string): void => {
      this.underWay.set(key, (this.underWay.get(key) ?? 0) + by);
      this.mostAtOnce.set(key, Math.max(this.mostAtOnce.get(key) ?? 0, this.underWay.get(key) ?? 0));
    };
    count(1, device);
    count(1, '');
    try {
      if (script.callMs > 0) await this.clock.sleep(script.callMs);
      this.log.push({ atMs: this.clock.monotonicMs(), call: `${name} ${device}${target.plug === '' ? '' : `/${target.plug}`}` });
      return await work(script);
    } finally {
      count(-1, device);
      count(-1, '');
    }
  }

  #power(): Agent {
    return {
      kind: 'power',
      ...(this.onConnect === undefined ? {} : { connect: this.onConnect }),
      read: (target) => this.#call(target, 'read', (plug) => plug.onRead?.(target) ?? Promise.resolve(plug.reading())),
      set: (target, state) =>
        this.#call(target, 'connect', async (plug) => {
          await plug.onConnect?.();
          target.beforeSend();
          this.log.push({ atMs: this.clock.monotonicMs(), call: `set ${state} ${target.device}` });
          if (plug.onSet !== undefined) return plug.onSet(state, target);
          plug.state = state;
          return ACCEPTED;
        }),
      diagnose: (target) =>
        this.#call(target, 'connect', (plug) => {
          if (plug.onDiagnose === undefined) throw failure('Refused', 'NMI is not supported');
          target.beforeSend();
          this.log.push({ atMs: this.clock.monotonicMs(), call: `diag ${target.device}` });
          return plug.onDiagnose(target);
        }),
      remove: (target) =>
        this.#call(target, 'connect', (plug) => {
          if (plug.onRemove === undefined) throw failure('Refused', 'it is protected');
          target.beforeSend();
          this.log.push({ atMs: this.clock.monotonicMs(), call: `delete ${target.device}` });
          return plug.onRemove(target);
        }),
      removal: (target) => this.#call(target, 'look', (plug) => plug.onRemoval?.() ?? Promise.resolve({ isGone: true, detail: 'terminated' })),
      close: () => {
        this.closed += 1;
        return Promise.resolve();
      },
    };
  }

  #fabric(): Agent {
    const port = (state: PowerState): PortState => (state === 'off' ? 'closed' : state === 'on' ? 'open' : state);
    return {
      kind: 'fabric',
      ...(this.mustBeSeenOpen ? { mustBeSeenOpen: true } : {}),
      read: (target) =>
        this.#call(target, 'read', (plug) =>
          Promise.resolve({
            state: port(plug.state),
            detail: `port ${port(plug.state)}`,
            identity: plug.identity,
            ...(this.openInPart.has(target.plug) && plug.state === 'on' ? { isOpenInPart: true } : {}),
          }),
        ),
      set: (target, state) =>
        this.#call(target, 'connect', (plug) => {
          target.beforeSend();
          this.log.push({ atMs: this.clock.monotonicMs(), call: `set ${state} ${target.device}` });
          plug.state = state === 'closed' ? 'off' : 'on';
          return Promise.resolve(ACCEPTED);
        }),
    };
  }

  #registry(): AgentRegistry {
    const agents: Readonly<Record<string, () => Agent>> = {
      power: () => this.#power(),
      cloud: () => this.#power(),
      fabric: () => this.#fabric(),
      action: () => ({ ...this.action, run: (target) => this.action.run(target), confirm: (target) => this.action.confirm(target) }),
    };
    return {
      names: () => Object.keys(agents),
      find: (name) => {
        const create = agents[name];
        if (create === undefined) return undefined;
        return {
          name,
          aliases: [],
          kind: create().kind,
          actions: ['on', 'off'],
          deviceMaxLatencyMs: 30_000,
          ...(name === 'cloud' ? { sideBySide: true } : {}),
          ...(this.undoneByOthers ? { undoneByOthers: true } : {}),
          ...(this.keepsSession ? { keepsSession: true } : {}),
          deviceKey: () => '',
          describe: () => [],
          check: () => [],
          create: () => Promise.resolve(create()),
        };
      },
    };
  }
}

/** A method of the scripted agent `power`, `fabric` or `action`; `more.agent` may name `cloud`, a power agent whose plugs stand side by side. */
export function methodOf(name: string, agent: 'power' | 'fabric' | 'action', more: Partial<PlanMethod> = {}): PlanMethod {
  return { name, agent, kind: agent, action: 'off', device: name, plug: '', parameters: {}, deviceMaxLatencyMs: 30_000, ...more };
}

export function timingOf(more: Partial<Timing>): Timing {
  return { ...DEFAULT_TIMING, ...more };
}

export function failure(kind: AgentErrorKind, answered: string): AgentError {
  return new AgentError(kind, { device: 'bmc', plug: '', asked: 'set', answered });
}

const away = (): Promise<never> => Promise.reject(new Error('no cluster in this test'));
const UNREACHABLE_CLUSTER: Cluster = {
  get: away,
  list: away,
  create: away,
  replace: away,
  replaceStatus: away,
  mergePatch: away,
  remove: away,
  evict: away,
};
