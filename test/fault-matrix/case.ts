import { Dispatcher } from '../../src/dispatch/dispatcher.ts';
import { entryOf, jobOf } from '../../src/dispatch/testing/job.ts';
import type { JournalEntry } from '../../src/domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import type { PlanMethod, Timing } from '../../src/domain/plan.ts';
import type { JobReport } from '../../src/domain/snapshot.ts';
import type { AgentDefinition, DeviceState } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Job } from '../../src/ports/jobs.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import type { Action, Behaviour, DeviceFixture } from './fault-profile.ts';

/** Real milliseconds. A slow device needs longer calls, everything else is the same for all. */
export interface Pace {
  setDeadlineMs: number;
  slowSetDeadlineMs: number;
  powerTimeoutMs: number;
  slowPowerTimeoutMs: number;
  offStableMs: number;
  /** For so long after a reported off nothing may flow. */
  watchMs: number;
  /** Sessions, connections and processes are gone this long after `close` at the latest. */
  goneMs: number;
}

export const PACE: Pace = {
  setDeadlineMs: 4_000,
  slowSetDeadlineMs: 8_000,
  powerTimeoutMs: 12_000,
  slowPowerTimeoutMs: 20_000,
  offStableMs: 600,
  watchMs: 1_500,
  goneMs: 10_000,
};

/** What one action on one device came to, with what the device itself saw. */
export interface Account {
  reports: readonly JobReport[];
  looks: readonly { plug: string; state: DeviceState; detail: string }[];
  /** Did anything flow when the off was reported, or while it was watched after that? Absent: no off was reported. */
  flowedAfterOff?: boolean;
  /** Does every plug flow when the on was reported? Absent: no on was reported. */
  flowsAfterOn?: boolean;
  /** At the end, by plug. */
  flows: Readonly<Record<string, boolean>>;
  commands: ReturnType<DeviceFixture['commands']>;
  /** How often a set was permitted. */
  permitted: number;
  leftOpen: ReturnType<DeviceFixture['leftOpen']>;
}

const POLL_MS = 25;
const clock = new SystemClock();

/** Lets one dispatcher with one agent do `action` on a device fixture, as the controller would for a plan with one method for each plug. */
export class Case {
  readonly #fixture: DeviceFixture;
  readonly #pace: Pace;
  readonly #timing: Timing;
  readonly #definition: AgentDefinition;
  readonly #dispatcher: Dispatcher;
  readonly #mayBegin: () => void;
  #permitted = 0;

  /** `mayBegin` throws when the lease forbids a set. */
  constructor(definition: AgentDefinition, behaviour: Behaviour, fixture: DeviceFixture, pace: Pace, mayBegin: () => void = () => undefined) {
    this.#definition = definition;
    this.#fixture = fixture;
    this.#pace = pace;
    this.#mayBegin = mayBegin;
    const isSlow = behaviour === 'slow';
    this.#timing = {
      ...DEFAULT_TIMING,
      setDeadlineMs: isSlow ? pace.slowSetDeadlineMs : pace.setDeadlineMs,
      powerTimeoutMs: isSlow ? pace.slowPowerTimeoutMs : pace.powerTimeoutMs,
      offStableMs: pace.offStableMs,
    };
    const registry = { find: () => definition, names: () => [definition.name] };
    this.#dispatcher = new Dispatcher(registry, { cluster: UNREACHABLE_CLUSTER, namespace: 'nodefence-system', ...fixture.context, clock });
  }

  /** `signal`: ends it half way; then the reports are those of before. */
  async play(action: Action, signal: AbortSignal = new AbortController().signal): Promise<Account> {
    const reports: JobReport[] = [];
    const looks: { plug: string; state: DeviceState; detail: string }[] = [];
    const seen: Pick<Account, 'flowedAfterOff' | 'flowsAfterOn'> = {};
    try {
      if (action === 'status') looks.push(...(await this.#status(signal)));
      else await this.#switched(action, signal, reports, seen);
    } finally {
      await Promise.race([this.#dispatcher.close(), clock.sleep(this.#pace.goneMs)]);
    }
    return {
      reports,
      looks,
      ...seen,
      leftOpen: await this.#leftOpen(),
      permitted: this.#permitted,
      commands: this.#fixture.commands(),
      flows: Object.fromEntries(this.#fixture.plugs.map((plug) => [plug, this.#fixture.flows(plug)])),
    };
  }

  async #switched(
    action: 'off' | 'on' | 'reboot',
    signal: AbortSignal,
    reports: JobReport[],
    seen: Pick<Account, 'flowedAfterOff' | 'flowsAfterOn'>,
  ): Promise<void> {
    const methods = this.#methods();
    if (action !== 'on') {
      for (const [at, method] of methods.entries()) {
        const isLast = at === methods.length - 1;
        const report = await this.#dispatcher.run(
          this.#job(method, this.#isAction ? 'run' : 'off', signal, isLast ? methods.slice(0, at) : [], isLast),
        );
        reports.push(report);
        if (report.result !== 'succeeded') return;
      }
      seen.flowedAfterOff = await this.#flowed(action === 'off' ? this.#pace.watchMs : 0);
    }
    if (action === 'off') return;
    for (const method of methods) {
      const report = await this.#dispatcher.run(this.#job(method, 'on', signal));
      reports.push(report);
      if (report.result !== 'succeeded') return;
    }
    seen.flowsAfterOn = this.#fixture.plugs.every((plug) => this.#fixture.flows(plug));
  }

  async #status(signal: AbortSignal): Promise<{ plug: string; state: DeviceState; detail: string }[]> {
    const looks = [];
    for (const method of this.#methods()) looks.push({ plug: method.plug, ...(await this.#statusOf(method, signal)) });
    return looks;
  }

  async #statusOf(method: PlanMethod, signal: AbortSignal): Promise<{ state: DeviceState; detail: string }> {
    if (!this.#isAction) return this.#dispatcher.readState(this.#job(method, 'off', signal));
    const { result, message } = await this.#dispatcher.run(this.#job(method, 'confirm', signal));
    return { state: result === 'succeeded' ? 'off' : result === 'found-not-done' ? 'on' : 'unknown', detail: message };
  }

  get #isAction(): boolean {
    return this.#definition.kind === 'action';
  }

  async #flowed(watchMs: number): Promise<boolean> {
    const untilMs = clock.monotonicMs() + watchMs;
    for (;;) {
      if (this.#fixture.plugs.some((plug) => this.#fixture.flows(plug))) return true;
      if (clock.monotonicMs() >= untilMs) return false;
      await clock.sleep(POLL_MS);
    }
  }

  async #leftOpen(): Promise<Account['leftOpen']> {
    const untilMs = clock.monotonicMs() + this.#pace.goneMs;
    for (;;) {
      const open = this.#fixture.leftOpen();
      if ((open.sessions === 0 && open.connections === 0 && open.processes === 0) || clock.monotonicMs() >= untilMs) return open;
      await clock.sleep(POLL_MS);
    }
  }

  #methods(): PlanMethod[] {
    const [definition, fixture] = [this.#definition, this.#fixture];
    return fixture.plugs.map((plug, at) => ({
      name: `method-${at + 1}`,
      agent: definition.name,
      kind: definition.kind,
      action: definition.kind === 'action' ? 'run' : 'off',
      device: definition.deviceKey(fixture.parameters),
      plug,
      parameters: fixture.parameters,
      deviceMaxLatencyMs: definition.deviceMaxLatencyMs,
      ...(definition.evidence === undefined ? {} : { evidence: definition.evidence }),
      // A run that waits is not waited for longer than any state.
      ...(definition.runMaxMs === undefined ? {} : { runMaxMs: Math.min(definition.runMaxMs(fixture.parameters), this.#timing.powerTimeoutMs) }),
    }));
  }

  #job(
    method: PlanMethod,
    action: JournalEntry['action'],
    signal: AbortSignal,
    together: readonly PlanMethod[] = [],
    lastOff = action === 'off',
  ): Job {
    const operation = `${action === 'confirm' ? 'run' : action}:${method.name}`;
    return jobOf(method, action, {
      entry: entryOf(method, action, { id: `${method.name}-${action}`, operation, deadlineMs: 3 * this.#timing.setDeadlineMs }),
      together,
      lastOff,
      timing: this.#timing,
      identity: this.#fixture.identity,
      identityRequired: false,
      signal,
      intentAtMs: clock.monotonicMs(),
      parametersOf: () => Promise.resolve(this.#fixture.parameters),
      mayBegin: () => {
        this.#mayBegin();
        this.#permitted += 1;
      },
    });
  }
}

const away = (): Promise<never> => Promise.reject(new Error('this fixture has no cluster'));
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
