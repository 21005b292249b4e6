import type { NodeGuard, Preservation, PreservationView } from '../../ports/preservation.ts';
import { Executor } from '../shared/executor.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { isReconcileDue, RequeueTimer } from '../shared/requeue-timer.ts';
import type { NextRequeue } from '../shared/requeue-timer.ts';
import { Conflict } from '../shared/conflict.ts';
import { WriteGate } from '../shared/write-gate.ts';
import { WriteRateLimiter } from '../shared/write-rate-limiter.ts';
import type { Action, Decision } from './actions.ts';
import { PreservationCache } from './cache.ts';
import { chainsOf } from './chain.ts';
import type { Chain } from './chain.ts';
import { Changes } from './changes.ts';
import type { Pool } from './changes.ts';
import { decide } from './decide.ts';
import type { PreservationDependencies, PreservationOptions } from './dependencies.ts';
import { Drainer } from './drainer.ts';
import { Freshness } from './freshness.ts';
import { Guards } from './guards.ts';
import { linkOf } from './links.ts';
import { observe } from './observe.ts';
import { ConsistentProofs } from './consistent-proof.ts';
import { showTally } from './tally.ts';
import { Writer } from './write.ts';

/** A failure takes a dozen writes at once, and a drain that fails one every five seconds. */
const RATE = { atOnce: 20, pauseMs: 2_500 };

/** What was last decided about one pool. */
interface Decided {
  decision: Decision;
  chains: readonly Chain[];
  atMs: number;
}

/**
 * Machine preservation (docs/preservation.md), pool by pool: observe, decide, perform. It keeps nothing that is not in the objects but what it is doing. Only the leader writes;
 * every replica knows the guards.
 */
export class PreservationController implements Preservation {
  readonly #dependencies: PreservationDependencies;
  readonly #changes = new Changes();
  readonly #cache: PreservationCache;
  readonly #freshness: Freshness;
  readonly #guards: Guards;
  readonly #gate: WriteGate;
  readonly #proofs: ConsistentProofs;
  readonly #drainer: Drainer;
  readonly #writer: Writer;
  readonly #executor: Executor<Chain>;
  readonly #timer: RequeueTimer;
  readonly #decided = new Map<number, Decided>();
  #options: PreservationOptions;
  #poolProblems: readonly string[] = [];
  #logged = new Set<string>();
  #warned = new Set<string>();

  constructor(dependencies: PreservationDependencies) {
    const { clock, leadership, log, metrics, options } = dependencies;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#cache = new PreservationCache(dependencies.clock, dependencies.nodes, dependencies.machines, (before, after) => {
      this.#changes.add(before, after);
      this.wake();
    });
    const cache = this.#cache;
    this.#freshness = new Freshness(clock, cache, () => this.#options.freshWithinMs);
    this.#guards = new Guards(cache, this.#freshness);
    const enforce = (): boolean => this.#options.enforce && this.#freshness.isComplete;
    this.#gate = new WriteGate({ clock, leadership, enforce, watches: () => cache.watches });
    const mayWrite = (): boolean => this.#gate.mayWrite();
    const gated = gatedWrites(conflictUnless(mayWrite));
    const nodes = { ...dependencies.nodes, cluster: gated(dependencies.nodes.cluster) };
    const machines = dependencies.machines && { ...dependencies.machines, cluster: gated(dependencies.machines.cluster) };
    const { cluster, listers } = nodes;
    this.#proofs = new ConsistentProofs({ clock, cluster, log, listers, reader: dependencies.proofReader });
    const changed = (node: string): void => this.#touch(linkOf({ kind: 'Node', name: node }));
    this.#drainer = new Drainer({ clock, cluster, pods: listers.pods, proofs: this.#proofs, mayWrite, log, metrics, changed });
    this.#writer = new Writer({ clock, nodes, machines, cache, drainer: this.#drainer, proofs: this.#proofs, mode: () => this.#options.mode });
    this.#executor = new Executor<Chain>({
      clock,
      log,
      controller: 'preservation',
      mayWrite,
      perform: (action, chain) => this.#perform(action, chain),
      acted: (kind, result) => metrics.acted(kind, result),
      mend: dependencies.mend,
      ended: (link) => this.#touch(link),
      rateLimiter: new WriteRateLimiter(clock, RATE),
    });
    this.#timer = new RequeueTimer({
      clock,
      reconcile: () => this.#reconcile(),
      next: () => this.#nextRequeue(),
      failed: (error) => log.error('preservation could not be decided', { error }),
    });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    this.#freshness.start(this.#dependencies.leadership.isLeading);
    this.#cache.start();
    this.#proofs.start();
    this.#timer.start();
  }

  /** Begins nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.#gate.close();
    this.#timer.close();
    this.#dependencies.tellProblems([]);
    this.#cache.close();
    this.#proofs.close();
    await Promise.all([this.#executor.close(), this.#drainer.close()]);
  }

  /** For a real MCM that comes or goes: what was decided in another mode goes no further than the write that is under way. */
  configure(options: PreservationOptions): void {
    this.#options = options;
    this.#decided.clear();
    this.#executor.abandon();
    this.wake();
  }

  /** Reconciles soon: leadership has come, pools have changed. */
  wake(): void {
    if (this.#dependencies.leadership.isLeading) this.#freshness.leads();
    this.#timer.enqueue();
  }

  guardOf(node: string): NodeGuard | 'unknown' | undefined {
    return this.#guards.guardOf(node);
  }

  isPreserved(node: string): boolean {
    return this.#guards.isPreserved(node);
  }

  onChange(listener: (nodes: readonly string[]) => void): () => void {
    return this.#guards.onChange(listener);
  }

  /** Rows for status and console. */
  views(): PreservationView[] {
    return this.#decisions().flatMap(({ views }) => views);
  }

  /** What a person should look at, one sentence each. */
  problems(): string[] {
    const decided = this.#decisions().flatMap(({ problems }) => problems);
    return [...new Set([...this.#ownProblems(), ...decided])];
  }

  /** What nobody else can tell from the objects. */
  #ownProblems(): string[] {
    return [...this.#freshness.problems(), ...this.#poolProblems, ...this.#executor.problems()];
  }

  #decisions(): Decision[] {
    return [...this.#decided.values()].map(({ decision }) => decision);
  }

  /** Something about what stands behind this link has changed beside the watches. */
  #touch(link: string): void {
    this.#changes.add([link], [link]);
    this.wake();
  }

  #reconcile(): void {
    if (!this.#cache.areNodesListed) return;
    const { clock } = this.#dependencies;
    const configured = this.#dependencies.pools();
    this.#poolProblems = configured.problems;
    const { pools, changed, isAll } = this.#changes.take(this.#cache, configured.pools);
    this.#freshness.decided();
    if (isAll) this.#decided.clear();
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    const due = [...pools].filter(([number]) => changed.has(number) || isReconcileDue(this.#decided.get(number), nowMs, wallMs));
    for (const [number, pool] of due) this.#decided.set(number, this.#decide(pool, nowMs));
    if (isAll || due.length > 0) this.#guards.take(this.#decisions());
    this.#show(wallMs);
    this.#guards.tell();
    this.#act();
  }

  #decide(pool: Pool, atMs: number): Decided {
    const { clock } = this.#dependencies;
    const decision = decide(observe(this.#cache, pool, { options: this.#options, clock, drainOf: (uid) => this.#drainer.factsOf(uid) }));
    return { decision, chains: this.#freshness.isComplete ? chainsOf(decision, this.#cache) : [], atMs };
  }

  /** Problems are logged once for as long as they last. */
  #show(wallMs: number): void {
    const { metrics, log } = this.#dependencies;
    const views = this.#decisions().map((decision) => decision.views);
    showTally(metrics, views, wallMs);
    const problems = this.problems();
    metrics.problems(problems.length);
    this.#dependencies.tellProblems(this.#ownProblems().map((problem) => `preservation of machines: ${problem}`));
    for (const problem of problems) if (!this.#logged.has(problem)) log.warn('preservation problem', { problem });
    this.#logged = new Set(problems);
  }

  #act(): void {
    const decisions = this.#decisions();
    const wanted = new Set(decisions.flatMap(({ drains }) => drains));
    this.#drainer.retain(wanted, ({ node }) => this.#cache.objectOf(node) !== undefined);
    const mayWrite = this.#gate.mayWrite();
    this.#warn(decisions, mayWrite);
    this.#executor.submit(mayWrite ? [...this.#decided.values()].flatMap(({ chains }) => chains) : []);
  }

  /** Once for as long as it lasts, by whoever leads then. */
  #warn(decisions: readonly Decision[], mayWrite: boolean): void {
    const warned = new Set<string>();
    for (const warning of decisions.flatMap(({ warnings }) => warnings)) {
      const key = `${warning.target.uid} ${warning.message}`;
      if (mayWrite && !this.#warned.has(key) && !warned.has(key)) this.#writer.warn(warning);
      if (mayWrite || this.#warned.has(key)) warned.add(key);
    }
    this.#warned = warned;
  }

  async #perform(action: Action, { premise }: Chain): Promise<void> {
    if (!premise.stands()) throw new Conflict(`${action.kind} was decided from an older state`);
    await this.#writer.perform(action);
    premise.renew(action.target);
  }

  #nextRequeue(): NextRequeue | 'unsynced' {
    if (!this.#cache.areNodesListed || this.#cache.listed !== 'all') return 'unsynced';
    return { dueMs: this.#decisions().map(({ nextDueMs }) => nextDueMs), retryAtMs: this.#executor.nextDueMs() };
  }
}
