import { EVIDENCE_RULES } from '../domain/evidence.ts';
import type { JobResult, JournalEntry } from '../domain/node-fence.ts';
import type { EvidenceKind, PlanMethod } from '../domain/plan.ts';
import type { JobReport } from '../domain/snapshot.ts';
import { AgentError } from '../ports/agents.ts';
import type { ActionAgent, Agent, AgentContext, AgentRegistry, DeviceState, FailureDiagnostic, Reading, Target } from '../ports/agents.ts';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { timestamp } from '../ports/clock.ts';
import type { Clock } from '../ports/clock.ts';
import { withDeadline } from './deadline.ts';
import { DeviceCall, describeReading, isSwitchable } from './device-call.ts';
import type { Wanted } from './device-call.ts';
import { DeviceQueues } from './device-queues.ts';
import { failureOf } from '../ports/jobs.ts';
import type { Job, Runner } from '../ports/jobs.ts';
import type { ProbeAnswer, Prober, ProbeRequest, ShownTrust, WarmRequest } from '../ports/probes.ts';
import { IdleProber } from './prober.ts';
import { foundRemoved, removed } from './removing.ts';
import { switchTo, untilStable } from './switching.ts';
import type { Switched } from './switching.ts';

/** A person's word may be contradicted by a device that is only slow, or whose first answer is lost. */
const READS = 3;
const READ_AGAIN_MS = 1_000;

/** Runs agents: order, deadlines, verification and queues are here, so that an agent is short. */
export class Dispatcher implements Runner, Prober {
  readonly #registry: AgentRegistry;
  readonly #context: AgentContext;
  readonly #clock: Clock;
  readonly #queues = new DeviceQueues();
  readonly #agents = new Map<string, Promise<Agent>>();
  readonly #made = new Map<string, Agent>();
  readonly #prober: IdleProber;

  constructor(registry: AgentRegistry, context: AgentContext) {
    this.#registry = registry;
    this.#context = context;
    this.#clock = context.clock;
    this.#prober = new IdleProber(this.#clock, this.#queues, {
      queueOf: (method) => this.#queueOf(method),
      agentOf: (method) => this.#agentOf(method),
      keepsSession: ({ agent }) => registry.find(agent)?.keepsSession === true,
      firstTrustOf: ({ agent, parameters }) => registry.find(agent)?.firstTrust?.(parameters),
      context,
    });
  }

  /** Carries out the run that `job.entry` announces. Rejects only when `job.signal` is aborted; every failure is a report. */
  async run(job: Job): Promise<JobReport> {
    return this.#reported(job, async () => {
      const wanted = wantedBy(job.entry);
      const agent = await this.#agentFor(job, job.method);
      if (!isSwitchable(agent)) return this.#act(job, agent);
      const device = await this.#deviceCall(job, job.method, agent);
      if (job.entry.action === 'diag') return diagnosed(device);
      if (job.entry.action === 'delete') return removed(device, job, this.#clock);
      const together = await Promise.all(job.together.map(async (method) => this.#deviceCall(job, method)));
      if (job.entry.action !== 'confirm') return this.#changed(job, agent, device, together);
      for (const each of [...together, device]) each.isAfterOff = wanted === 'off';
      const first = await device.read();
      if (!device.shows(first, wanted)) return { result: 'found-not-done', message: `not ${wanted} any more: ${device.describe(first, wanted)}` };
      const end = await untilStable([...together, device], wanted, job, this.#clock, first);
      return this.#switched(job, device, wanted, end, { together, otherwise: 'found-not-done' });
    });
  }

  /** Reads what became of a run that a crash left open. Never sets anything, never gives evidence: what it did is not known. */
  async recover(job: Job): Promise<JobReport> {
    return this.#reported(job, async () => {
      if (job.entry.action === 'confirm') return { result: 'found-not-done', message: 'a read was interrupted; it is repeated' };
      if (job.entry.action === 'diag')
        return { result: 'found-not-done', message: 'it is unknown whether the dump was ordered; it is not ordered again' };
      try {
        return await this.#readBack(job);
      } catch (error) {
        if (job.signal.aborted || job.entry.action !== 'off') throw error;
        // Nobody knows whether it was sent: what may be off is ours to take back (P8).
        return { ...failureOf(error), edge: edgeOf(job.method.kind, 'off') };
      }
    });
  }

  async #readBack(job: Job): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const agent = await this.#agentFor(job, job.method);
    if (!isSwitchable(agent)) {
      const there = await this.#confirmed(job, agent);
      return there
        ? { result: 'found-done', message: 'read back after a crash: done' }
        : { result: 'found-not-done', message: 'read back after a crash: not done' };
    }
    const device = await this.#deviceCall(job, job.method, agent);
    if (job.entry.action === 'delete') return foundRemoved(device, job, this.#clock);
    device.isAfterOff = job.entry.action === 'off';
    const reading = await device.read();
    const wanted = wantedBy(job.entry);
    const edge = edgeOf(agent.kind, wanted);
    if (device.shows(reading, wanted)) return { result: 'found-done', message: `read back after a crash: ${describeReading(reading)}`, edge };
    const message = `read back after a crash: ${device.describe(reading, wanted)}`;
    // Neither done nor undone: it may have been sent, and what comes of it is ours to take back (P8).
    if (wanted === 'off' && !device.shows(reading, 'on')) return { result: 'timeout', message, edge };
    return { result: 'found-not-done', message };
  }

  /** What the device shows now; a witness that contradicts it makes it `on` or `pending`, never `off`. One lost answer does not make it unknown. */
  async readState(job: Job): Promise<{ state: DeviceState; detail: string }> {
    for (let reads = 1; ; reads += 1) {
      const read = await this.#readStateOnce(job);
      if (read.state !== 'unknown' || reads >= READS) return read;
      await this.#clock.sleep(READ_AGAIN_MS, job.signal);
    }
  }

  editsNode({ agent }: PlanMethod): boolean {
    return this.#registry.find(agent)?.editsNode === true;
  }

  async failureDiagnostics(job: Job, deadlineMs: number): Promise<readonly FailureDiagnostic[]> {
    const agent = await this.#agentFor(job, job.method, deadlineMs);
    if (agent.failureDiagnostics === undefined) return [];
    return this.#action(job, (target) => agent.failureDiagnostics?.(target) ?? Promise.resolve([]), deadlineMs);
  }

  probe(request: ProbeRequest): Promise<ProbeAnswer | undefined> {
    return this.#prober.probe(request);
  }

  warm(request: WarmRequest): Promise<void> {
    return this.#prober.warm(request);
  }

  look(request: ProbeRequest): Promise<Reading | undefined> {
    return this.#prober.look(request);
  }

  trustShown(request: ProbeRequest): Promise<ShownTrust> {
    return this.#prober.trustShown(request);
  }

  async #readStateOnce(job: Job): Promise<{ state: DeviceState; detail: string }> {
    try {
      const reading = await (await this.#deviceCall(job, job.method)).read();
      const states = [reading.state, ...(reading.witness === undefined ? [] : [reading.witness.state])];
      return { state: states.find((state) => ALIVE.has(state)) ?? reading.state, detail: describeReading(reading) };
    } catch (error) {
      // The API server's failure kept us from asking: that says nothing of the device.
      if (job.signal.aborted || error instanceof TransportError || error instanceof ApiStatusError) throw error;
      return { state: 'unknown', detail: failureOf(error).message };
    }
  }

  /** Ends what agents keep open: sessions and connections of devices. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#made.values()].map(async (agent) => agent.close?.()));
  }

  async #reported(job: Job, work: () => Promise<Omit<JobReport, 'id' | 'finishedAt'>>): Promise<JobReport> {
    const { id } = job.entry;
    try {
      const { edge, ...outcome } = await work();
      // What others open again is not ours to take back (P8).
      const isOurs = edge !== undefined && this.#registry.find(job.method.agent)?.undoneByOthers !== true;
      return { id, finishedAt: timestamp(this.#clock), ...outcome, ...(isOurs ? { edge } : {}) };
    } catch (error) {
      if (job.signal.aborted) throw error;
      return { id, finishedAt: timestamp(this.#clock), ...failureOf(error) };
    }
  }

  /** An off that was sent, and then could not be followed to its end, may be off all the same: that is ours to take back (P8). */
  async #changed(job: Job, agent: Agent, device: DeviceCall, together: readonly DeviceCall[]): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const wanted = wantedBy(job.entry);
    try {
      const report = this.#switched(job, device, wanted, await switchTo(device, together, wanted, job, this.#clock), { together });
      return { ...report, ...(device.hasSentOff ? { offSent: true } : {}) };
    } catch (error) {
      if (job.signal.aborted || wanted !== 'off' || !device.hasSent) throw error;
      return { ...failureOf(error), edge: edgeOf(agent.kind, wanted), ...(device.hasSentOff ? { offSent: true } : {}) };
    }
  }

  #switched(
    job: Job,
    device: DeviceCall,
    wanted: Wanted,
    end: Switched,
    { together, otherwise = 'timeout' }: { together: readonly DeviceCall[]; otherwise?: JobResult },
  ): Omit<JobReport, 'id' | 'finishedAt'> {
    const { kind: agentKind } = device;
    const words = `${wanted} read back ${end.reads} times, identity ${end.identity}: ${end.detail}`;
    const edge = end.isForeign ? {} : { edge: edgeOf(agentKind, wanted) };
    if (end.restarted.size > 0) return { ...restartReport(end.restarted, end.detail, otherwise), ...(job.entry.action === 'off' ? edge : {}) };
    if (!end.reached) {
      const heard = end.isHeard ? ', and its node was heard between the reads' : '';
      const message = `not ${wanted} within ${job.timing.powerTimeoutMs} ms; last read ${end.detail}${heard}${end.said === undefined ? '' : `; to the request it answered ${end.said}`}`;
      // Sent, and not read back: it may be off, now or later, and that is ours to take back (P8).
      const mayBeOurs = wanted === 'off' && job.entry.action === 'off' && !end.opposite;
      return { result: otherwise, message, ...(mayBeOurs ? edge : {}) };
    }
    if (agentKind === 'fabric' && wanted === 'off')
      return { result: 'succeeded', message: words, ...edge, ...this.#revoked(job, [...together, device], end, words) };
    if (agentKind !== 'power' || wanted !== 'off') return { result: 'succeeded', message: words, ...edge };
    const kind = job.method.evidence ?? 'power-off';
    const evidence = {
      kind,
      grade: EVIDENCE_RULES[kind].grade,
      detail: words,
      identity: end.identity,
      observedAt: timestamp(this.#clock),
      ...(job.entry.bootID === undefined ? {} : { bootID: job.entry.bootID }),
      ...(end.deviceTime === undefined ? {} : { deviceTime: end.deviceTime }),
    };
    // A lone supply of several proves nothing: only the last off of a level reads all of them together.
    return {
      result: 'succeeded',
      message: words,
      ...edge,
      ...(end.edgeUnseen ? { edgeUnseen: true } : {}),
      ...(job.lastOff ? { evidence, evidenceAtMs: end.lastReadAtMs } : {}),
    };
  }

  /** Read back from the storage or the switch, every declared path of it in one pass (P1). */
  #revoked(job: Job, devices: readonly DeviceCall[], end: Switched, detail: string): Partial<JobReport> {
    const { revokes = [], entry } = job;
    if (revokes.length === 0) return {};
    const unseen = devices.filter((device) => device.skipsWhatIsOff && !device.hasSentOff && job.offWasSent?.(device.method) !== true);
    if (unseen.length > 0) {
      const names = unseen.map(({ method }) => method.name).join(', ');
      return {
        message: `${detail}; no proof: this fence has not seen ${names} open, so that it may be of what was never the node's (a mistyped key, name or port), or an old record`,
      };
    }
    const evidence = {
      kind: 'storage-revoked' as const,
      grade: 'read-back' as const,
      detail,
      identity: end.identity,
      observedAt: timestamp(this.#clock),
      storages: [...revokes],
      ...(entry.bootID === undefined ? {} : { bootID: entry.bootID }),
      ...(end.deviceTime === undefined ? {} : { deviceTime: end.deviceTime }),
    };
    return { evidence, evidenceAtMs: end.lastReadAtMs };
  }

  async #act(job: Job, agent: ActionAgent): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const beganAtMs = this.#clock.monotonicMs();
    if (job.entry.action === 'confirm') {
      if (!(await this.#confirmed(job, agent))) return { result: 'found-not-done', message: 'read back: no longer in effect' };
      const message = 'read back: still in effect';
      return { result: 'succeeded', message, ...this.#proven(job, job.method.evidence, message, beganAtMs) };
    }
    const alive = await this.#notOff(job);
    if (alive !== undefined) return { result: 'refused', message: `the machine is not off any more: ${alive}; nothing was sent` };
    await job.ask();
    const outcome = await this.#action(job, (target) => agent.run(target), job.method.runMaxMs);
    // No answer, or an odd one: only what is read back counts.
    if (outcome.result === 'unclear' && !(await this.#confirmed(job, agent)))
      return { result: 'unreachable', message: `not read back as done; to the request it answered ${outcome.detail}` };
    return { result: 'succeeded', message: outcome.detail, ...this.#proven(job, outcome.evidence?.kind, outcome.detail, beganAtMs) };
  }

  /** Of a run that is right only while the machine is off: the first of its plugs that does not read off, in words. Rejects where one cannot be read. */
  async #notOff(job: Job): Promise<string | undefined> {
    for (const method of job.together) {
      const device = await this.#deviceCall(job, method);
      const reading = await device.read();
      if (!device.shows(reading, 'off')) return device.describe(reading, 'off');
    }
    return undefined;
  }

  /**
   * What the run of an action proves: only the kind that its method was frozen with. It rests on the moment in which the run began, so that a sign of life
   * that came while it waited voids it (P2).
   */
  #proven({ method, entry }: Job, kind: EvidenceKind | undefined, detail: string, beganAtMs: number): Partial<JobReport> {
    if (kind === undefined || kind !== method.evidence || !PROVEN_BY_WAITING.has(kind) || entry.step !== 'power-management') return {};
    const { bootID } = entry;
    const { grade } = EVIDENCE_RULES[kind];
    const evidence = { kind, grade, detail, observedAt: timestamp(this.#clock), ...(bootID === undefined ? {} : { bootID }) };
    return { evidence, evidenceAtMs: beganAtMs };
  }

  #confirmed(job: Job, agent: ActionAgent): Promise<boolean> {
    return this.#action(job, (target) => agent.confirm(target));
  }

  async #action<T>(job: Job, call: (target: Target) => Promise<T>, deadlineMs: number = job.timing.setDeadlineMs): Promise<T> {
    const { method, timing } = job;
    const parameters = await job.parametersOf(method);
    const facts = { device: method.device, plug: method.plug, asked: method.agent, answered: '' };
    return this.#queues.run(this.#queueOf(method), () =>
      withDeadline(this.#clock, job.signal, deadlineMs, facts, (signal) => {
        const sendByMs = this.#clock.monotonicMs() + timing.setDeadlineMs;
        return call({
          plug: method.plug,
          device: method.device,
          parameters,
          identity: job.identity,
          signal,
          deadlineMs,
          intent: job.entry.id,
          ...(job.incident === undefined ? {} : { incident: job.incident }),
          ...(job.entry.bootID === undefined ? {} : { bootID: job.entry.bootID }),
          ...(method.secret === undefined ? {} : { secret: method.secret }),
          ...(job.standing === undefined ? {} : { standing: job.standing }),
          beforeSend: () => {
            if (signal.aborted || this.#clock.monotonicMs() > sendByMs)
              throw new AgentError('NotSent', { ...facts, answered: 'its deadline was over before it could be sent' });
            job.mayBegin(timing.setDeadlineMs);
          },
        });
      }),
    );
  }

  async #deviceCall(job: Job, method: PlanMethod, known?: Agent): Promise<DeviceCall> {
    const agent = known ?? (await this.#agentFor(job, method));
    if (!isSwitchable(agent))
      throw new AgentError('Misconfigured', {
        device: method.device,
        plug: method.plug,
        asked: method.action,
        answered: `agent ${method.agent} cannot be switched`,
      });
    const queue = { run: <T>(call: () => Promise<T>) => this.#queues.run(this.#queueOf(method), call) };
    return new DeviceCall(method, agent, await job.parametersOf(method), job, this.#clock, queue);
  }

  /** Calls of one queue never overlap. */
  #queueOf({ agent, device, plug }: PlanMethod): string {
    return device !== '' && this.#registry.find(agent)?.sideBySide === true ? `${device} ${plug}` : device;
  }

  /** Its code comes from a disk, which may hang: a run waits for it no longer than for a device. */
  async #agentFor(job: Job, method: PlanMethod, deadlineMs = job.timing.setDeadlineMs): Promise<Agent> {
    const made = this.#made.get(this.#registry.find(method.agent)?.name ?? '');
    if (made !== undefined) return made;
    const { device, plug, agent } = method;
    const facts = { device, plug, asked: `load agent ${agent}`, answered: '' };
    return withDeadline(this.#clock, job.signal, deadlineMs, facts, () => this.#agentOf(method));
  }

  #agentOf(method: PlanMethod): Promise<Agent> {
    const definition = this.#registry.find(method.agent);
    if (definition === undefined) {
      const answered = `no such agent; known are ${this.#registry.names().join(', ')}`;
      return Promise.reject(new AgentError('Misconfigured', { device: method.device, plug: method.plug, asked: `agent ${method.agent}`, answered }));
    }
    const known = this.#agents.get(definition.name);
    if (known !== undefined) return known;
    const created = definition.create(this.#context);
    this.#agents.set(definition.name, created);
    // A disk that failed once is no reason never to fence again: the next run makes it anew.
    created.then(
      (agent) => this.#made.set(definition.name, agent),
      () => this.#agents.delete(definition.name),
    );
    return created;
  }
}

/** A device that starts shows a default state until it has looked: nothing is proven, and the next run sends the off again (P1). */
function restartReport(
  restarted: ReadonlyMap<string, string>,
  shown: string,
  otherwise: JobResult,
): Pick<JobReport, 'result' | 'message' | 'restarted'> {
  const causes = [...restarted].map(([method, cause]) => `${method}: ${cause}`).join('; ');
  const message = `the device restarted, or nothing rules it out (${causes}): what it shows proves nothing until it showed on once or has not changed for bmc_boot_time; the off is sent again; last read ${shown}`;
  return { result: otherwise === 'timeout' ? 'failed' : otherwise, message, restarted: [...restarted.keys()] };
}

/** Evidence that an action can give: somebody waited for it, and nothing was read off. */
const PROVEN_BY_WAITING: ReadonlySet<EvidenceKind> = new Set(['watchdog', 'kdump']);

/** Reads first, as before every change; what the kernel makes of it is no matter of the fence. */
async function diagnosed(device: DeviceCall): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
  const before = await device.read();
  if (!device.shows(before, 'on'))
    return { result: 'failed', message: `not on, so that nothing can dump: ${describeReading(before)}; nothing was sent` };
  const outcome = await device.diagnose();
  return { result: 'succeeded', message: `dump ordered: ${outcome.detail}` };
}

/** States in which something may still run behind the plug. */
const ALIVE: ReadonlySet<DeviceState> = new Set(['on', 'open', 'pending']);

/** What the run wants of the device: a confirmation wants what its operation did. */
function wantedBy(entry: JournalEntry): Wanted {
  const action = entry.action === 'confirm' ? entry.operation.split(':')[0] : entry.action;
  return action === 'off' ? 'off' : 'on';
}

function edgeOf(kind: Agent['kind'], wanted: Wanted): NonNullable<JobReport['edge']> {
  if (kind === 'fabric') return wanted === 'off' ? 'closed' : 'open';
  return wanted;
}
