import { demandsIdentity } from '../domain/plan.ts';
import type { PlanMethod } from '../domain/plan.ts';
import { AgentError } from '../ports/agents.ts';
import type { Agent, DeviceState, FabricAgent, Outcome, Parameters, PowerAgent, Reading, Removal, Target } from '../ports/agents.ts';
import type { Clock } from '../ports/clock.ts';
import { withDeadline } from './deadline.ts';
import type { Job } from '../ports/jobs.ts';

const ACCEPT_UNVERIFIED = 'write identity=unverified into the method to accept that, after looking whose it is';

export type Switchable = PowerAgent | FabricAgent;

/** The wanted end of a set, in the words of the two kinds of switchable agents. */
export type Wanted = 'on' | 'off';

/** Runs a call after every earlier one of the same queue. */
interface DeviceQueue {
  run<T>(call: () => Promise<T>): Promise<T>;
}

/** One plug of one device, ready to be read and set: deadlines, the device's queue and the lease check are around every call. */
export class DeviceCall {
  readonly method: PlanMethod;
  /** A changing request of this run has left; until then nothing of ours is on its way to the device. */
  hasSent = false;
  /** An off of this run has left for sure: not perhaps, and not for a program that may have sent nothing. */
  hasSentOff = false;
  /** An earlier run has sent an off, or may have: this one reads what came of it. */
  isAfterOff = false;
  /** A boot of the device is waited out for so long beyond the budget of the job. */
  patienceMs = 0;
  /** It has answered without showing whose it is. */
  #isAnonymous = false;
  readonly #agent: Switchable;
  readonly #parameters: Parameters;
  readonly #job: Job;
  readonly #clock: Clock;
  readonly #queue: DeviceQueue;

  constructor(method: PlanMethod, agent: Switchable, parameters: Parameters, job: Job, clock: Clock, queue: DeviceQueue) {
    this.method = method;
    this.#agent = agent;
    this.#parameters = parameters;
    this.#job = job;
    this.#clock = clock;
    this.#queue = queue;
  }

  /** One read, with identity. Rejects with `AgentError`. */
  async read(): Promise<Reading> {
    return this.#identified(await this.#call('read', async (target): Promise<Reading> => this.#agent.read(target)));
  }

  /** The read that a set begins with: the one that was begun while the node was isolated, or one of its own. */
  async readFirst(): Promise<Reading> {
    const begun = await this.#job.firstRead?.(this.#job.identity);
    return begun === undefined ? this.read() : this.#identified(begun);
  }

  #identified(reading: Reading): Reading {
    this.#isAnonymous ||= reading.identity === 'unverified';
    if (reading.identity === 'verified' || !this.#demandsIdentity) return reading;
    throw this.failure('Misconfigured', 'read', `the device does not show whose machine it switches (${reading.detail}); ${ACCEPT_UNVERIFIED}`);
  }

  get #demandsIdentity(): boolean {
    return demandsIdentity({ identity: this.#job.identityRequired ? 'verified' : 'unverified' }, this.method);
  }

  /** One set, begun only while the lease, the intent's own deadline and every stop allow it. */
  async set(wanted: Wanted): Promise<Outcome> {
    await this.#job.ask();
    const outcome = await this.#call(`set ${wanted}`, (target): Promise<Outcome> => {
      this.#demandFresh(`set ${wanted}`);
      return this.#agent.kind === 'power' ? this.#agent.set(target, wanted) : this.#agent.set(target, wanted === 'off' ? 'closed' : 'open');
    });
    const isPlain = wanted === 'on' || outcome.isSent !== undefined || !this.skipsWhatIsOff;
    this.#job.onAnswered((outcome.result === 'accepted' && isPlain) || outcome.isSent === false, outcome.isSent);
    return outcome;
  }

  /** Makes the kernel dump, under the same conditions as a set. */
  async diagnose(): Promise<Outcome> {
    const [agent, job] = [this.#agent, this.#job];
    const diagnose = agent.diagnose?.bind(agent);
    if (diagnose === undefined) throw this.failure('Misconfigured', 'diag', `agent ${this.method.agent} cannot make a kernel dump`);
    await job.ask();
    const outcome = await this.#call('diag', (target): Promise<Outcome> => {
      this.#demandFresh('diag');
      return diagnose(target);
    });
    job.onAnswered(outcome.result === 'accepted');
    return outcome;
  }

  /** Deletes the machine for good, under the same conditions as a set. */
  async remove(): Promise<Outcome> {
    const [agent, job] = [this.#agent, this.#job];
    const remove = agent.remove?.bind(agent);
    if (remove === undefined) throw this.failure('Misconfigured', 'delete', `agent ${this.method.agent} cannot delete a machine`);
    await job.ask();
    const outcome = await this.#call('delete', (target): Promise<Outcome> => {
      this.#demandFresh('delete');
      return remove(target);
    });
    job.onAnswered(outcome.result === 'accepted');
    return outcome;
  }

  async removal(): Promise<Removal> {
    const agent = this.#agent;
    const removal = agent.removal?.bind(agent);
    if (removal === undefined) throw this.failure('Misconfigured', 'what is left of it', `agent ${this.method.agent} cannot delete a machine`);
    return this.#call('what is left of it', removal);
  }

  /** Does this reading show the wanted end, with every witness of it? */
  shows(reading: Reading, wanted: Wanted): boolean {
    const token = this.#tokenOf(wanted);
    return reading.state === token && (reading.witness === undefined || reading.witness.state === token);
  }

  /** The reading in one phrase, with what an admin may do where its witness alone keeps it from showing the wanted end. */
  describe(reading: Reading, wanted: Wanted): string {
    return reading.state === this.#tokenOf(wanted) ? describeReading(reading) : plainly(reading);
  }

  #tokenOf(wanted: Wanted): DeviceState {
    return this.#agent.kind === 'power' ? wanted : wanted === 'off' ? 'closed' : 'open';
  }

  get kind(): Switchable['kind'] {
    return this.#agent.kind;
  }

  /** Its off is evidence `power-off`, which rests on an off of ours. */
  get provesByOwnOff(): boolean {
    return this.#agent.kind === 'power' && (this.method.evidence ?? 'power-off') === 'power-off';
  }

  /** An off that it does not say to have sent may have been none, for the plug read off; or of what was never there, or never the node's. */
  get skipsWhatIsOff(): boolean {
    if (this.#agent.kind === 'power') return this.#agent.skipsWhatIsOff === true;
    const { mustBeSeenOpen } = this.#agent;
    return this.#isAnonymous || (typeof mustBeSeenOpen === 'function' ? mustBeSeenOpen(this.#parameters) : mustBeSeenOpen === true);
  }

  failure(kind: ConstructorParameters<typeof AgentError>[0], asked: string, answered: string): AgentError {
    return new AgentError(kind, { device: this.method.device, plug: this.method.plug, asked, answered });
  }

  /** A successor waits no longer than the intent says. */
  #demandFresh(asked: string): void {
    const job = this.#job;
    if (this.#clock.monotonicMs() + job.timing.setDeadlineMs > job.intentAtMs + job.entry.deadlineMs)
      throw this.failure('NotSent', asked, 'the intent is too old; it is decided again');
  }

  #call<T>(asked: string, run: (target: Target) => Promise<T>): Promise<T> {
    const { method } = this;
    const job = this.#job;
    const { setDeadlineMs } = job.timing;
    const facts = { device: method.device, plug: method.plug, asked, answered: '' };
    return this.#queue.run(() => {
      const leftMs = job.untilMs === undefined ? setDeadlineMs : job.untilMs + this.patienceMs - this.#clock.monotonicMs();
      const deadlineMs = Math.max(0, Math.min(setDeadlineMs, Math.ceil(leftMs)));
      return withDeadline(this.#clock, job.signal, deadlineMs, facts, async (signal) =>
        run({
          plug: method.plug,
          device: method.device,
          parameters: this.#parameters,
          identity: job.identity,
          signal,
          deadlineMs,
          intent: job.entry.id,
          ...(job.incident === undefined ? {} : { incident: job.incident }),
          ...(this.isAfterOff ? { isAfterOff: true } : {}),
          ...(method.secret === undefined ? {} : { secret: method.secret }),
          beforeSend: () => {
            if (signal.aborted) throw this.failure('NotSent', asked, 'its deadline was over before it could be sent');
            job.mayBegin(setDeadlineMs);
            this.hasSent = true;
            job.onSet(this.#clock.monotonicMs());
          },
        }),
      );
    });
  }
}

export function isSwitchable(agent: Agent): agent is Switchable {
  return agent.kind !== 'action';
}

const SURE: ReadonlySet<DeviceState> = new Set(['on', 'off', 'open', 'closed']);

/** A reading in one phrase: `PowerState=Off, Chassis PowerState=Off`; where the witness alone disagrees, with what an admin may do. */
export function describeReading(reading: Reading): string {
  const { state, witness } = reading;
  const isAlone = witness?.waiver !== undefined && SURE.has(state) && witness.state !== state;
  return isAlone ? `${plainly(reading)} (${witness.waiver})` : plainly(reading);
}

function plainly(reading: Reading): string {
  return reading.witness === undefined ? reading.detail : `${reading.detail}, ${reading.witness.source} ${reading.witness.detail}`;
}
