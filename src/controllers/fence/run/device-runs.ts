import { isTriggered, lastSignMs, restsOnHeartbeats } from '../../../domain/health.ts';
import { offWasSent, restartedSince } from '../../../domain/journal.ts';
import type { Frozen } from '../../../domain/node-fence.ts';
import type { PlanMethod } from '../../../domain/plan.ts';
import type { Operation } from '../../../domain/program.ts';
import { AgentError } from '../../../ports/agents.ts';
import type { Job } from '../../../ports/jobs.ts';
import { NODES } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { isFirstStrike } from '../diagnostics/occasion.ts';
import { guardOf } from '../guard.ts';
import type { NodeObservation } from '../observation.ts';
import { nodeFactsOf } from '../snapshot.ts';
import { Asking } from './asking.ts';
import { identityOf, NextOff } from './next-off.ts';
import type { Permission } from './permission.ts';
import { recovered } from './recovered.ts';
import { notSent } from './run.ts';
import type { Run, RunOutcome } from './run.ts';
import type { WritesUnderWay } from './writes.ts';

/** What a run needs that may be read before its intent is acknowledged. */
export type Ahead = Pick<Job, 'parametersOf' | 'standing' | 'firstRead'>;

/** Runs of methods: what dispatch has to know of them, and what it tells while they run. */
export class DeviceRuns {
  readonly #dependencies: FenceDependencies;
  readonly #permission: Permission;
  readonly #writes: WritesUnderWay;
  readonly #stopping: AbortSignal;
  readonly #next: NextOff;

  constructor(dependencies: FenceDependencies, permission: Permission, writes: WritesUnderWay, stopping: AbortSignal) {
    this.#dependencies = dependencies;
    this.#permission = permission;
    this.#writes = writes;
    this.#stopping = stopping;
    this.#next = new NextOff(dependencies, stopping);
  }

  /** What the device is called with, read beside the write of the intent: the run takes it once, and whatever it asks for later is read then. */
  readAhead({ node, operation, kind, entry }: Pick<Run, 'node' | 'operation' | 'kind' | 'entry'>, frozen?: Frozen): Ahead {
    const { planner, runner, cluster } = this.#dependencies;
    const methods = operation?.method === undefined || kind !== 'run' ? [] : [operation.method, ...operation.together];
    const taken = methods.map((method) => [method, this.#next.take(node, method)] as const);
    const ahead = new Map(taken.map(([method, { parameters }]) => [method, parameters]));
    if (frozen !== undefined && kind === 'run' && entry.step === 'isolation') this.#next.read(node, frozen);
    // A failure is told where it is waited for; a run that is refused waits for none.
    for (const parameters of ahead.values()) parameters.catch(() => undefined);
    const parametersOf: Job['parametersOf'] = (method) => {
      const parameters = ahead.get(method) ?? planner.parametersFor(node, method);
      ahead.delete(method);
      return parameters;
    };
    const firstRead = taken[0]?.[1].firstRead;
    const read = firstRead === undefined ? { parametersOf } : { parametersOf, firstRead };
    if (!methods.some((method) => runner.editsNode?.(method) === true)) return read;
    const standing = cluster.get(NODES, node);
    standing.catch(() => undefined);
    return { ...read, standing };
  }

  /** `asked`: told once the API server has said whether the run may change anything. */
  async run(run: Run, observation: NodeObservation, ahead: Ahead, asked?: () => void): Promise<RunOutcome> {
    const { runner, clock } = this.#dependencies;
    const { entry, status, operation } = run;
    const { frozen } = status;
    if (frozen === undefined || operation?.method === undefined) {
      const answered = `the frozen plan has no method ${entry.method}`;
      throw new AgentError('Misconfigured', { device: entry.device, plug: entry.plug, asked: entry.action, answered });
    }
    const ours = this.jobFor(run, frozen, operation.method);
    const asking = new Asking(async () => this.#permission.ask(run, observation).finally(() => asked?.()));
    const job = {
      ...ours,
      ...ahead,
      // Whoever refuses, and whyever: to dispatch it means that nothing may be sent.
      ask: async () => {
        await asking.answer().catch((refusal: unknown) => {
          throw notSent(entry, String(refusal));
        });
      },
      mayBegin: (deadlineMs: number) => {
        if (!asking.isAllowed) throw notSent(entry, 'the API server has not said that it may begin');
        const why = this.#unwantedBecause(run, frozen, observation);
        if (why !== undefined) throw notSent(entry, why);
        ours.mayBegin(deadlineMs);
      },
      together: operation.together,
      lastOff: operation.isLastOff === true,
      ...(operation.revokes === undefined ? {} : { revokes: operation.revokes }),
      ...this.#signsOf(run, operation, observation),
      offWasSent: (method: PlanMethod) => offWasSent(status, entry.id, method),
      restartedSince: (method: PlanMethod) => restartedSince(status, entry.id, method),
      onSet: (atMs: number) => {
        if (entry.action === 'off') observation.sent(atMs);
      },
      // It was on its way until now: what waits for the off to be over counts from here.
      onAnswered: (isCertain: boolean, isSent?: boolean) => {
        if (entry.action === 'off') observation.sent(clock.monotonicMs());
        ours.onAnswered(isCertain, isSent);
      },
    };
    if (run.kind === 'recover') return recovered(runner, clock, job);
    const report = await runner.run(job);
    // A run that found nothing to change, or could not find out, never asked: a stop or a sign of life comes before what it came to.
    if (entry.action !== 'confirm' && !this.#stopping.aborted) await asking.answer();
    return report;
  }

  /** A machine that the run does not prove off by itself may live on by its other supply. */
  #signsOf({ node, status }: Run, { method, isLastOff, revokes }: Operation, observation: NodeObservation): Pick<Job, 'lastSignMs'> {
    if (method === undefined || (isLastOff !== true && revokes === undefined)) return {};
    const kind = revokes === undefined ? (method.evidence ?? 'power-off') : 'storage-revoked';
    const { fastDetection } = this.#dependencies;
    return { lastSignMs: () => lastSignMs({ lifeAtMs: observation.lifeAtMs, heardAtMs: fastDetection?.heardAtMs(node) }, { kind }, status) };
  }

  /** A node that came back after its first cut was decided is not cut, up to the turn in which that is sent. */
  #unwantedBecause({ node, entry, status }: Run, { plan, nodeUID }: Frozen, observation: NodeObservation): string | undefined {
    if (!isFirstStrike(entry, status)) return undefined;
    const known = this.#dependencies.listers.nodes.get(node);
    if (known?.metadata.uid !== nodeUID) return 'the Node is gone, or another has its name';
    const facts = nodeFactsOf(this.#dependencies, known, observation);
    if (isTriggered(facts, plan, observation.since(status), this.#dependencies.clock.monotonicMs(), status)) return undefined;
    return restsOnHeartbeats(facts.ready, status)
      ? 'the heartbeats of its daemon came back'
      : 'the node was heard meanwhile: it does not count as failed now';
  }

  /** Whatever stands against it by now: to a deletion no preservation comes too late. */
  #isKept({ node }: Run, { plan }: Frozen): boolean {
    const kind = guardOf(this.#dependencies, node)?.kind;
    return kind !== undefined && (kind === 'drop' || plan.preserved !== 'ignore');
  }

  /** A job on this method for whatever the run needs of its device: to carry it out, to look, or to take what it shows. */
  jobFor(run: Run, frozen: Frozen, method: PlanMethod): Job {
    const { node, entry, fence, status, intentAtMs } = run;
    return {
      entry,
      method,
      together: [],
      lastOff: false,
      incident: `${fence.metadata.uid ?? ''}/${status.incident}`,
      timing: frozen.plan.timing,
      identity: identityOf(node, frozen),
      identityRequired: frozen.plan.identity === 'verified',
      signal: this.#stopping,
      intentAtMs,
      parametersOf: (other) => this.#dependencies.planner.parametersFor(node, other),
      mayBegin: (deadlineMs) => {
        const isDeleted = entry.action === 'on' && method.kind === 'power' && guardOf(this.#dependencies, node)?.kind === 'drop';
        if (isDeleted) throw notSent(entry, 'its Machine or Node is being deleted: nothing is switched on any more');
        if (entry.action === 'delete' && this.#isKept(run, frozen))
          throw notSent(entry, 'its machine is preserved or being deleted: nothing of it is deleted here');
        this.#permission.demand(node, deadlineMs, entry);
      },
      ask: () => Promise.reject(notSent(entry, 'it only reads')),
      onSet: () => undefined,
      onAnswered: (isCertain, isSent = true) => {
        if (!isCertain) return;
        if (isSent) this.#writes.answered(entry.id);
        else this.#writes.over(entry.id);
      },
    };
  }
}
