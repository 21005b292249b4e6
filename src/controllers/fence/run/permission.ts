import { isJudgedBySilence, restsOnHeartbeats, restsOnItsWord } from '../../../domain/health.ts';
import { keeperOf } from '../../../domain/instance-keepers.ts';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import type { ActiveHold } from '../../../domain/snapshot.ts';
import { AgentError } from '../../../ports/agents.ts';
import type { Node } from '../../../ports/objects.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { isFirstStrike } from '../diagnostics/occasion.ts';
import { readyOf } from '../observation.ts';
import type { NodeObservation } from '../observation.ts';
import { taintOwnerOf } from '../release/out-of-service.ts';
import { stopOn } from '../snapshot.ts';
import { isHeldBack } from '../storm/fence-facts.ts';
import { StopAnswers } from '../stop-answers.ts';
import { notSent, UNRECORDED } from './run.ts';
import type { Run } from './run.ts';
import type { WritesUnderWay } from './writes.ts';

/** What holds a node now, as far as it concerns this run. */
export type HoldsOn = (node: string, entry: JournalEntry) => readonly ActiveHold[];

/** The NodeFence of a node as it is known now. */
export type RecordOf = (node: string) => NodeFence | undefined;

/** A person, or another remediator, has the node: the run ends before anything is sent. */
export class Stopped extends Error {}

/** Whether a run may send anything: asked of the API server once its intent is acknowledged, and again in the very turn of each send. */
export class Permission {
  readonly #dependencies: FenceDependencies;
  readonly #writes: WritesUnderWay;
  readonly #holdsOn: HoldsOn;
  readonly #recordOf: RecordOf | undefined;
  readonly #stopping: AbortSignal;
  readonly #stops: StopAnswers;
  /** Runs that our taint kept from an on. */
  readonly #tainted = new Set<string>();

  constructor(
    dependencies: FenceDependencies,
    writes: WritesUnderWay,
    { holdsOn, recordOf }: { holdsOn: HoldsOn; recordOf: RecordOf | undefined },
    stopping: AbortSignal,
  ) {
    this.#dependencies = dependencies;
    this.#writes = writes;
    this.#holdsOn = holdsOn;
    this.#recordOf = recordOf;
    this.#stopping = stopping;
    this.#stops = new StopAnswers(dependencies);
  }

  /**
   * P6: stops are read consistently after the intent is acknowledged and before the call; and before the first off the node and its Lease, for our own watch
   * may hang without any error (P10, a cut-off controller judges nobody).
   */
  async ask(run: Run, observation: NodeObservation): Promise<void> {
    const { node, entry, fence } = run;
    const { cluster, clock, listers } = this.#dependencies;
    const known = listers.nodes.get(node);
    const ready = known === undefined ? undefined : (readyOf(known)?.status ?? 'missing');
    const isFirst = run.kind === 'run' && isFirstStrike(entry, run.status);
    const restsOnSilence = isFirst && (isJudgedBySilence(ready) || restsOnHeartbeats(ready, run.status));
    const restsOnNode = restsOnSilence || (isFirst && restsOnItsWord(ready, run.status));
    const [stop, lease, standing] = await Promise.all([
      this.#stops.ask(node),
      restsOnSilence ? cluster.get(LEASES, node, NODE_LEASE_NAMESPACE) : undefined,
      restsOnNode ? cluster.get(NODES, node) : undefined,
    ]);
    this.#stops.keepFreshFor(entry.id);
    if (stop !== undefined) throw new Stopped(`NodeFenceStop ${stop.metadata.name} is active: nothing was sent`);
    if (restsOnNode && standing?.metadata.uid !== run.status.frozen?.nodeUID) throw notSent(entry, 'the Node is gone, or another has its name');
    if (!restsOnSilence && standing !== undefined && readyOf(standing)?.status === 'True')
      throw notSent(entry, 'the API server holds Ready=True of it, which has not arrived here yet');
    const unseen = observation.catchUp(standing, lease, clock.monotonicMs());
    if (unseen !== undefined) throw notSent(entry, `the API server holds ${unseen} that has not arrived here yet`);
    if (isHeldBack(entry)) {
      const refusal = await this.#dependencies.nodeLeases?.take(node, fence.spec.requestedBy);
      if (refusal !== undefined) throw new Stopped(`${refusal}; nothing was sent`);
    }
    if (entry.action === 'delete' && run.kind === 'run') await this.#askWhoKeeps(run);
    if (entry.action === 'on') {
      // A pod that runs again must not lose its object to a deletion that came before.
      if (observation.asked.isUnderWay) throw notSent(entry, 'the deletion of a pod has not been answered yet');
      const standing = await this.#sameNode(run);
      if (taintOwnerOf(standing) === 'ours') this.#tainted.add(entry.id);
      askWhoseTaint(entry, standing);
    }
  }

  /** P5 and P6 in one synchronous look: the lease, any stop or hold that stands by now, and how old the last consistent read is. From here on the write counts as sent. */
  demand(node: string, deadlineMs: number, entry: JournalEntry): void {
    if (!this.#isOnRecord(node, entry)) throw notSent(entry, UNRECORDED);
    const stop = stopOn(this.#dependencies, node);
    if (stop !== undefined) throw notSent(entry, `${stop.by} is active`);
    const refusal = this.#stops.refusalFor(node);
    if (refusal !== undefined) throw notSent(entry, refusal);
    const hold = isHeldBack(entry) ? this.#holdsOn(node, entry)[0] : undefined;
    if (hold !== undefined) throw notSent(entry, `held by ${hold.policy}: ${hold.message}`);
    if (this.#writes.isDraining) throw notSent(entry, 'the controller stops');
    if (this.#stopping.aborted || !this.#dependencies.leadership.mayBegin(deadlineMs)) throw notSent(entry, 'the leader lease does not cover it');
    this.#writes.sent(entry.id);
    // A release goes on for as long as it has pods; a device is only read from here on.
    if (entry.agent !== 'kubernetes') this.#stops.over(entry.id);
  }

  over(run: string): void {
    this.#stops.over(run);
    this.#tainted.delete(run);
  }

  /** Our taint kept it from an on. */
  wasTainted(run: string): boolean {
    return this.#tainted.has(run);
  }

  /** P4: its intent stands. A NodeFence that was taken away by force takes it along, whatever has its name since. */
  #isOnRecord(node: string, { id }: JournalEntry): boolean {
    return this.#recordOf === undefined || this.#recordOf(node)?.status?.journal.some((entry) => entry.id === id) === true;
  }

  /** A machine that somebody else makes and ends is not deleted behind their back; nor is that of a Node that has taken the name since. */
  async #askWhoKeeps(run: Run): Promise<void> {
    const { device, plug } = run.entry;
    const standing = await this.#sameNode(run);
    const { labels, annotations, ownerReferences } = standing.metadata;
    const keeper = keeperOf({ labels, annotations, ownerReferences, taints: standing.spec.taints });
    if (keeper !== undefined) throw new AgentError('Refused', { device, plug, asked: 'delete', answered: `nothing was sent: ${keeper}` });
  }

  /** What was proven of one Node permits nothing about another one that has its name since, which our watch may not show yet. */
  async #sameNode({ node, entry, status }: Run): Promise<Node> {
    const standing = await this.#dependencies.cluster.get(NODES, node);
    if (standing === undefined || standing.metadata.uid !== status.frozen?.nodeUID) throw notSent(entry, 'the Node is gone, or another has its name');
    return standing;
  }
}

/** A tainted node is never started by us (P3). Ours is taken back by the release's end; a foreign one is for its owner to take away. */
function askWhoseTaint(entry: JournalEntry, node: Node): void {
  const owner = taintOwnerOf(node);
  if (owner === 'ours') throw notSent(entry, 'our out-of-service taint is still set');
  if (owner === 'nobody') return;
  const answered = 'nothing was sent: the Node has an out-of-service taint that nodefence did not set; remove it first';
  throw new AgentError('Unreachable', { device: entry.device, plug: entry.plug, asked: 'on', answered });
}
