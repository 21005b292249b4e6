import type { NodeGuard, Preservation, PreservationView } from '../../ports/preservation.ts';
import { Executor } from '../shared/executor.ts';
import { gatedWrites, unlessMoved } from '../shared/gated-cluster.ts';
import { isLookDue, LookTimer } from '../shared/look-timer.ts';
import type { NextLook } from '../shared/look-timer.ts';
import { Moved } from '../shared/moved.ts';
import { SILENT_AFTER_MS, WriteGate } from '../shared/write-gate.ts';
import type { Action, Decision } from './actions.ts';
import { chainsOf } from './chain.ts';
import type { Chain } from './chain.ts';
import { decide } from './decide.ts';
import type { PreservationDependencies, PreservationOptions } from './dependencies.ts';
import { Drainer } from './drainer.ts';
import { Guards } from './guards.ts';
import { isKnownValue } from './marks.ts';
import { PRESERVE } from './names.ts';
import { Picture } from './picture.ts';
import type { Part, Settings, Sight } from './picture.ts';
import { QuorumProofs } from './quorum-proof.ts';
import { showTally } from './tally.ts';
import { Writer } from './write.ts';

/** What was last decided about one part of the picture. */
interface Look {
  decision: Decision;
  chains: readonly Chain[];
  atMs: number;
}

/** Longer than one list that nobody answers: 30 s, and its second try soon after. */
const HEARD_WITHIN_MS = 45_000;

/**
 * Machine preservation (docs/preservation.md): observe, decide, write. It keeps nothing that is not in the objects but what it is doing. Only the leader writes; every
 * replica knows the guards. What was decided is done only for as long as what it was decided from stands.
 */
export class PreservationController implements Preservation {
  readonly #dependencies: PreservationDependencies;
  readonly #picture: Picture;
  readonly #drainer: Drainer;
  readonly #executor: Executor<Chain>;
  readonly #timer: LookTimer;
  readonly #guards = new Guards();
  readonly #looks = new Map<number, Look>();
  readonly #told = new Set<string>();
  readonly #warned = new Set<string>();
  readonly #writer: Writer;
  readonly #proofs: QuorumProofs;
  #options: PreservationOptions;
  #poolProblems: readonly string[] = [];
  /** Whom it was last decided from. */
  #sight: Sight = 'all';
  #wasUnknown = true;
  #resumedAtMs: number | undefined;
  #hasLooked = false;
  #startedAtMs: number | undefined;
  readonly #gate: WriteGate;

  constructor(dependencies: PreservationDependencies) {
    const { leadership } = dependencies;
    const enforce = (): boolean => this.#options.enforce && this.#sight === 'all';
    this.#gate = new WriteGate({ clock: dependencies.clock, leadership, enforce, watches: () => this.#picture.watches() });
    const mayWrite = (): boolean => this.#gate.mayWrite();
    const gate = gatedWrites(unlessMoved(mayWrite));
    const { clock, log, metrics } = dependencies;
    const nodes = { ...dependencies.nodes, cluster: gate(dependencies.nodes.cluster) };
    const machines = dependencies.machines && { ...dependencies.machines, cluster: gate(dependencies.machines.cluster) };
    this.#dependencies = dependencies;
    this.#options = dependencies.options;
    this.#picture = new Picture(
      nodes,
      machines,
      (uid) => this.#drainer.factsOf(uid),
      () => {
        this.wake();
      },
    );
    const touch = (link: string): void => {
      this.#picture.touch(link);
    };
    const proofs = new QuorumProofs({ clock, cluster: nodes.cluster, log, listers: nodes.listers });
    this.#proofs = proofs;
    const reach = { clock, cluster: nodes.cluster, pods: nodes.listers.pods, proofs, mayWrite };
    this.#drainer = new Drainer({
      ...reach,
      log,
      metrics,
      changed: (node) => {
        touch(`node ${node}`);
      },
    });
    const mode = (): PreservationOptions['mode'] => this.#options.mode;
    this.#writer = new Writer({ clock, nodes, machines, picture: this.#picture, drainer: this.#drainer, proofs, mode });
    this.#executor = new Executor<Chain>({
      clock,
      log,
      what: 'preservation',
      mayWrite,
      perform: (action, chain) => this.#perform(action, chain),
      acted: (kind, result) => {
        metrics.acted(kind, result);
      },
      ended: touch,
    });
    this.#timer = new LookTimer({
      clock,
      look: () => {
        this.#look();
      },
      next: () => this.#nextLook(),
      failed: (error) => {
        log.error('preservation could not be decided', { error });
      },
    });
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    this.#startedAtMs = this.#dependencies.clock.monotonicMs();
    this.#picture.start();
    this.#proofs.start();
    this.#timer.start();
  }

  /** Begins nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.#gate.close();
    this.#timer.close();
    this.#picture.close();
    this.#proofs.close();
    await Promise.all([this.#executor.close(), this.#drainer.close()]);
  }

  /** For a real MCM that comes or goes: what was decided in another mode goes no further than the write that is under way. */
  configure(options: PreservationOptions): void {
    this.#options = options;
    this.#looks.clear();
    this.#executor.abandon();
    this.wake();
  }

  /** Looks soon: leadership has come, pools have changed. */
  wake(): void {
    this.#timer.soon();
  }

  guardOf(node: string): NodeGuard | 'unknown' | undefined {
    const guard = this.#guards.guardOf(node);
    if (guard !== undefined || !this.#isUnknown()) return guard;
    const { annotations } = (this.#picture.factsOf({ kind: 'Node', name: node, uid: '' }) ?? {}) as { annotations?: Record<string, string> };
    const word = annotations?.[PRESERVE];
    // The node's word counts before its machine's.
    return word !== undefined && isKnownValue(word) ? undefined : 'unknown';
  }

  isPreserved(node: string): boolean {
    return this.#guards.isPreserved(node);
  }

  onChange(listener: (nodes: readonly string[]) => void): () => void {
    return this.#guards.onChange(listener);
  }

  /** Rows for status and console. */
  views(): PreservationView[] {
    return [...this.#looks.values()].flatMap(({ decision }) => decision.views);
  }

  /** What a person should look at, one sentence each. */
  problems(): string[] {
    const decided = [...this.#looks.values()].flatMap(({ decision }) => decision.problems);
    return [...new Set([...this.#silence(), ...this.#unheard(), ...this.#poolProblems, ...decided, ...this.#executor.problems()])];
  }

  #look(): void {
    if (!this.#picture.areNodesSynced) return;
    const { pools, problems } = this.#dependencies.pools();
    this.#poolProblems = problems;
    const { sight } = this.#picture;
    const { parts, changed, isMoved } = this.#picture.changedParts(pools);
    const resumedAtMs = this.#picture.nodesResumedAtMs;
    // What was decided in an outage took it for silence of the machines.
    if (isMoved || sight !== this.#sight || resumedAtMs !== this.#resumedAtMs) this.#looks.clear();
    this.#sight = sight;
    this.#resumedAtMs = resumedAtMs;
    const { clock } = this.#dependencies;
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    let hasChanged = isMoved;
    for (const [number, part] of parts) {
      if (!isLookDue(this.#looks.get(number), nowMs, wallMs) && !changed.has(number)) continue;
      this.#looks.set(number, this.#decide(part, sight, nowMs, wallMs));
      hasChanged = true;
    }
    this.#hasLooked = true;
    this.#publish(hasChanged, wallMs);
    this.#act();
  }

  #decide(part: Part, sight: Sight, atMs: number, wallMs: number): Look {
    const { mode, hasExpiryField, spelling, requestsWhenFailed } = this.#options;
    const settings: Settings = { mode, hasExpiryField, spelling, requestsWhenFailed };
    const heardAtMs = this.#picture.nodesResumedAtMs;
    const heardSinceMs = heardAtMs === undefined ? undefined : wallMs - (atMs - heardAtMs);
    if (sight === 'all') {
      const decision = decide(this.#picture.snapshotOf(part, settings, wallMs, heardSinceMs));
      return { decision, chains: chainsOf(decision, this.#picture), atMs };
    }
    // It is only told what the Nodes show of themselves, and what is said on the Machines as soon as those are heard.
    const isDeaf = sight === 'nodes';
    const watching: Settings = { mode: 'observe', hasExpiryField: isDeaf || hasExpiryField, spelling, requestsWhenFailed: false };
    const unheard = { ...(isDeaf && { machines: [], machineSets: [], machineDeployments: [] }), pools: new Map<string, never>() };
    const decision = decide({ ...this.#picture.snapshotOf(part, watching, wallMs, heardSinceMs), ...unheard });
    return { decision: { ...decision, actions: [] }, chains: [], atMs };
  }

  #publish(hasChanged: boolean, wallMs: number): void {
    const { metrics, log } = this.#dependencies;
    const decisions = [...this.#looks.values()].map(({ decision }) => decision);
    const isUnknown = this.#isUnknown();
    const nodes = hasChanged ? this.#guards.take(decisions) : [];
    const isTurned = isUnknown !== this.#wasUnknown;
    this.#wasUnknown = isUnknown;
    showTally(
      metrics,
      decisions.map(({ views }) => views),
      wallMs,
    );
    const problems = this.problems();
    metrics.problems(problems.length);
    for (const problem of problems) if (!this.#told.has(problem)) log.warn('preservation problem', { problem });
    this.#told.clear();
    for (const problem of problems) this.#told.add(problem);
    this.#guards.tell(isTurned ? [...this.#picture.nodeNames()] : nodes);
  }

  #act(): void {
    const looks = [...this.#looks.values()];
    const wanted = new Set(looks.flatMap(({ decision }) => decision.drains));
    this.#drainer.retain(wanted, ({ node }) => this.#picture.objectOf(node) !== undefined);
    const warnings = new Map(
      looks.flatMap(({ decision }) => decision.warnings).map((warning) => [`${warning.target.uid} ${warning.message}`, warning]),
    );
    for (const key of this.#warned) if (!warnings.has(key)) this.#warned.delete(key);
    const mayWrite = this.#gate.mayWrite();
    for (const [key, warning] of mayWrite ? warnings : []) {
      if (!this.#warned.has(key)) this.#writer.warn(warning);
      this.#warned.add(key);
    }
    this.#executor.submit(mayWrite ? looks.flatMap(({ chains }) => chains) : []);
  }

  async #perform(action: Action, { premise }: Chain): Promise<void> {
    if (!premise.stands()) throw new Moved(`${action.kind} was decided from an older state`);
    await this.#writer.perform(action);
    premise.renew(action.target);
  }

  /** Whom we have not heard for so long that nothing is written. */
  #silence(): string[] {
    if (this.#startedAtMs === undefined || !this.#picture.areNodesSynced) return [];
    const sides = this.#dependencies.machines === undefined || this.#sight !== 'all' ? (['nodes'] as const) : (['nodes', 'machines'] as const);
    return sides
      .filter((side) => this.#silentForMs(side) > SILENT_AFTER_MS)
      .map((side) => `the watches of the cluster of the ${side} are stale: preservation writes nothing until they deliver again`);
  }

  /** Whom nobody has heard at all for longer than a fence waits. */
  #unheard(): string[] {
    if (!this.#hasLooked || this.#sight === 'all' || this.#isUnknown()) return [];
    const counts =
      this.#sight === 'nodes'
        ? 'Machines are not up to date: the annotations of Nodes count'
        : 'MachineSets or MachineDeployments are not up to date: the annotations of Machines and Nodes count, and no hibernation or rolling update is seen';
    return [`${counts}; preservation writes nothing until they are`];
  }

  #silentForMs(side: 'nodes' | 'machines'): number {
    return this.#dependencies.clock.monotonicMs() - this.#picture.freshAtMs(side);
  }

  /** Is what nothing is known of to be told apart from what is not preserved? For a bounded time only. */
  #isUnknown(): boolean {
    const { clock, machines } = this.#dependencies;
    const { heardWithinMs = HEARD_WITHIN_MS } = this.#options;
    if (this.#startedAtMs === undefined) return true;
    if (!this.#hasLooked || this.#sight !== 'all') return clock.monotonicMs() - this.#startedAtMs < heardWithinMs;
    if (machines === undefined) return false;
    const silentMs = this.#silentForMs('machines') - SILENT_AFTER_MS;
    return silentMs > 0 && silentMs < heardWithinMs;
  }

  #nextLook(): NextLook | 'unsynced' {
    if (!this.#picture.areNodesSynced || this.#picture.sight !== 'all') return 'unsynced';
    return { dueMs: [...this.#looks.values()].map(({ decision }) => decision.nextDueMs), retryAtMs: this.#executor.nextDueMs() };
  }
}
