import { withConditions } from '../../domain/conditions.ts';
import { revokedBy } from '../../domain/incident-record.ts';
import { fold } from '../../domain/journal.ts';
import { ignoredIn } from '../../domain/last-step.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { RemedyStage } from '../../domain/policies/remedied.ts';
import type { ActiveHold, Snapshot } from '../../domain/snapshot.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { timestamp } from '../../ports/clock.ts';
import type { ProofRead, ProofReader } from '../../ports/proof-reads.ts';
import { GROUP, NODE_FENCES, VERSION } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { FenceDependencies } from './dependencies.ts';
import { FenceCounts } from './fence-counts.ts';
import { FenceObjects } from './fence-objects.ts';
import { FenceableNodes } from './fenceable.ts';
import { askedAgainst, dumpingAgainst, lookAfterMs, preservedAgainst } from './guard.ts';
import { measure } from './metrics.ts';
import { matters, readyOf } from './observation.ts';
import type { NodeObservation } from './observation.ts';
import { Observations } from './observations.ts';
import { decideOnward } from './onward.ts';
import type { Onward } from './onward.ts';
import { gatedWrites, notSentUnless } from '../shared/gated-cluster.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { Orphans } from './release/orphans.ts';
import { KnownFences } from './known-fences.ts';
import { LostFences } from './lost-fences.ts';
import { concernedBy, MisnamedFences } from './misnamed.ts';
import { holdsOnRemedy, holdsOnRequest } from './holds-for-other-controllers.ts';
import { NodeRecords } from './node-records.ts';
import type { HoldsOn, RecordOf } from './run/permission.ts';
import { ProofReads } from './run/proof-reads.ts';
import { recordIncident } from './report.ts';
import { Rounds } from './rounds.ts';
import { Runs } from './runs.ts';
import { holdsOn, takeSnapshot } from './snapshot.ts';
import { Storm } from './storm/storm.ts';
import { isUnseen } from './unseen-node.ts';

/** Before a fence that a silent API server holds is decided about again. */
const HEARD_AGAIN_MS = 5_000;
/** Before a NodeFence that a watch still shows, and that the server does not have, is looked at again. */
const GONE_RETRY_MS = 1_000;

/**
 * The shell around the automaton: observe → decide → write → act, for one node at a time (docs/architecture.md). Whatever it
 * must not forget stands in the NodeFence; what it keeps in memory is only when it saw what.
 */
export class FenceController implements ProofReader {
  readonly #dependencies: FenceDependencies;
  readonly #observations: Observations;
  readonly #known: KnownFences;
  readonly #acknowledgements: Acknowledgements;
  readonly #runs: Runs;
  readonly #orphans: Orphans;
  readonly #lost: LostFences;
  readonly #misnamed: MisnamedFences;
  readonly #objects: FenceObjects;
  readonly #storm: Storm;
  readonly #rounds: Rounds;
  readonly #fenceable: FenceableNodes;
  readonly #counts: FenceCounts;
  readonly #proofReads: ProofReads;
  readonly records: NodeRecords;
  #hasSteppedAside = false;

  constructor(given: FenceDependencies) {
    const gate = gatedWrites(notSentUnless(() => given.leadership.mayBegin(0)));
    const dependencies = { ...given, cluster: gate(given.cluster) };
    this.#dependencies = dependencies;
    this.#observations = new Observations(dependencies);
    this.#known = new KnownFences(dependencies.listers.fences);
    this.#lost = new LostFences(dependencies, this.#known);
    this.#misnamed = new MisnamedFences(dependencies);
    this.#objects = new FenceObjects(dependencies, this.#known, this.#lost);
    this.#acknowledgements = new Acknowledgements(dependencies);
    this.#storm = new Storm(dependencies, (node) => this.lifeOf(node)?.lifeAtMs);
    this.#rounds = new Rounds(dependencies);
    this.#fenceable = new FenceableNodes(dependencies.metrics);
    this.#counts = new FenceCounts(dependencies.metrics, () => dependencies.leadership.isLeading);
    for (const fence of dependencies.listers.fences.all()) this.#counts.see(fence.metadata.name, fence);
    this.#orphans = new Orphans(dependencies);
    const recordOf: RecordOf = (node) => this.#known.of(node);
    const against: HoldsOn = (node, entry) => [
      ...holdsOn(dependencies, node),
      ...this.#storm.activeHoldsOn(node),
      ...preservedAgainst(dependencies, recordOf(node), entry),
      ...askedAgainst(dependencies, recordOf(node), entry),
      ...dumpingAgainst(dependencies, recordOf(node), entry, this.lifeOf(node)),
    ];
    this.#runs = new Runs(dependencies, this.#acknowledgements, against, recordOf);
    this.records = new NodeRecords(dependencies, (node) => this.#observations.get(node));
    this.#proofReads = new ProofReads(dependencies, this.#runs.devices, (node, source) => this.#observations.get(node)?.provenAtMs(source));
    this.#watch();
  }

  /** For those who rest a write on the proof of a fence: only the leader asks. */
  readAnew(fence: NodeFence): Promise<ProofRead> {
    return this.#proofReads.readAnew(fence);
  }

  /** Looks at every node: a new leader begins with this, and what stops all of them does it. */
  lookAtAll(): void {
    this.#counts.tell();
    this.#storm.configurationChanged();
    this.#rounds.begin();
  }

  /** Nobody but a leader acts on it, and who becomes one looks at every node. */
  configurationChanged(): void {
    this.#storm.configurationChanged();
    if (this.#dependencies.leadership.isLeading) this.#rounds.beginSoon();
  }

  /** For the controllers that switch a machine without a NodeFence. */
  stormHolds(node: string): readonly ActiveHold[] {
    return holdsOnRequest(this.#dependencies, this.#storm, node, (own) => ({ fence: this.#known.newest(own), seen: this.#observations.get(own) }));
  }

  /** The same for remedies, which nobody asked for: they wait for the grace of a new leader too, and count each other. */
  remedyHolds(node: string, stages: ReadonlyMap<string, RemedyStage>): readonly ActiveHold[] {
    return holdsOnRemedy(this.#dependencies, this.#storm, node, stages);
  }

  /** When a sign of life of the node's kubelet was last received here. */
  lifeOf(node: string): Pick<NodeObservation, 'lifeAtMs' | 'hasSpoken'> | undefined {
    return this.#observations.get(node);
  }

  /** Ends every run without a result: leadership is lost or the process stops. */
  abort(reason: Error): void {
    this.#storm.close();
    this.#rounds.close();
    this.#runs.abort(reason);
  }

  /**
   * A graceful stop, after the last pass: every run ends, and what it came to is written, so that a successor does not wait out what is over. `false`: a
   * write may still arrive.
   */
  async stepDown(reason: Error, deadlineMs: number): Promise<boolean> {
    this.#storm.close();
    this.#rounds.close();
    const isQuiet = await this.#runs.drain(deadlineMs);
    this.#runs.abort(reason);
    for (const name of await this.#runs.settled()) {
      const fence = this.#known.of(name);
      if (fence?.status === undefined || !this.#dependencies.leadership.isLeading) continue;
      const status = fold(fence.status, this.#runs.of(name).reports);
      if (status !== fence.status) await this.#store(fence, withConditions(status, timestamp(this.#dependencies.clock), ignoredIn(fence.spec)));
    }
    return isQuiet;
  }

  /** One pass for one node. Rejects when the API server could not be written; the queue tries again with back-off. */
  async reconcile(name: string): Promise<void> {
    if (!this.#dependencies.leadership.isLeading) return;
    await this.#objects.settle(name);
    const failed: unknown[] = [];
    await this.#pass(name, (work) => work.catch((error: unknown) => void failed.push(error)));
    // Told, and tried again, by the queue.
    if (failed.length > 0) throw failed[0];
  }

  /** `aside`: what is beside the fence keeps nobody from it, be it refused for ever. */
  async #pass(name: string, aside: Aside): Promise<void> {
    const { listers, queue, clock, planner } = this.#dependencies;
    if (await this.#lost.tell(name, this.#runs.of(name))) this.#runs.forget(name, this.#known.newest(name)?.status);
    const fence = this.#known.of(name);
    if (this.#misnamed.stands(name, fence === undefined ? this.#known.newest(name) : undefined)) return;
    const node = listers.nodes.get(name);
    this.#fenceable.see(name, node === undefined ? undefined : planner.planFor(node));
    if (fence === undefined && node === undefined) {
      this.#observations.delete(name);
      this.#orphans.forget(name);
      return this.records.end(name);
    }
    if (node !== undefined) await aside(this.#orphans.mend(node, fence));
    const bootID = node?.status.nodeInfo?.bootID;
    await aside(this.#acknowledgements.settle(name, fence, bootID));
    const observation = this.#observations.of(name);
    const isTakenForFailed = this.#dependencies.fastDetection?.failureOf(name) !== undefined;
    if (node !== undefined && readyOf(node)?.status === 'True' && !isTakenForFailed && (fence === undefined || fence.status?.state === 'final')) {
      // Before anything that can fail: a delay must never be counted from an earlier failure.
      for (const sign of ['triggered', 'notReady', 'failing'] as const) observation.mark(sign, undefined, clock.monotonicMs());
      await this.records.keep(node, observation);
      if (fence === undefined && !this.#runs.isUnderWay(name)) observation.forgetFence();
      if (fence === undefined) return;
    }
    const onward = decideOnward((known) => {
      if (known !== fence) this.#storm.seeFence(name, known);
      return this.#snapshotOf(name, known, observation, bootID);
    }, fence);
    const { snapshot, decision } = onward;
    // Between the look at the holds and this no other node was decided about.
    if (onward.fence !== undefined && decision.dispatch?.kind === 'run') this.#storm.reserve(onward.fence, decision.dispatch.entry);
    const isCarriedOut = await this.#carryOut(name, fence, onward, { observation, aside });
    if (isCarriedOut && decision.requeueAtMs !== undefined) queue.add(name, Math.max(0, decision.requeueAtMs - clock.monotonicMs()));
    const endsInMs = fence === undefined ? undefined : lookAfterMs(snapshot.preservation, this.#dependencies);
    if (endsInMs !== undefined) queue.add(name, endsInMs);
    // A failed node changes nothing any more: no event tells that its watches are heard again.
    if (fence !== undefined && snapshot.holds.some(({ reason }) => reason === 'stale-view')) queue.add(name, HEARD_AGAIN_MS);
  }

  /** `fence`: as it is stored, or as a row that was decided in this very turn leaves it. */
  #snapshotOf(name: string, fence: NodeFence | undefined, observation: NodeObservation, bootID: string | undefined): Snapshot {
    const pending = this.#acknowledgements.pendingFor(name, fence, bootID);
    return takeSnapshot(this.#dependencies, name, fence, observation, this.#runs.of(name), pending, mayAct(fence) ? this.#storm.holdsOn(name) : []);
  }

  /** `false`: the status could not be written, nothing of the decision holds, and the node is looked at again. */
  async #carryOut(name: string, fence: NodeFence | undefined, { decision, passed }: Onward, { observation, aside }: Pass): Promise<boolean> {
    if (decision.create !== undefined) await this.#objects.create(name, decision.create.spec);
    if (decision.create !== undefined || fence === undefined) return true;
    if (decision.row === 'begin-without-node' && (await isUnseen(this.#dependencies, name))) return false;
    const intentAtMs = this.#dependencies.clock.monotonicMs();
    const isTakenUp = decision.status?.trigger?.requestUID !== fence.status?.trigger?.requestUID;
    const isToClaim = decision.row === 'begin' || (decision.status !== undefined && isTakenUp) || isUnclaimed(fence, decision);
    const own = isToClaim ? await this.#objects.claim(fence) : fence;
    // The watch may bring our own write back before its answer is here.
    const wasHeld = this.#storm.isHeld(name);
    const { dispatch, stepDown } = decision;
    const run = dispatch === undefined || stepDown !== undefined ? undefined : { ...dispatch, node: name };
    const storing = decision.status === undefined ? own : this.#store(own, decision.status, passed);
    const ahead = run === undefined ? undefined : this.#runs.readAhead(run, decision.status?.frozen);
    const stored = await (run === undefined ? storing : this.#runs.intend(run, storing));
    this.#storm.settle(name, stored ?? this.#known.newest(name));
    if (stored === undefined) return false;
    // The watch brings nothing of it that is not known now.
    if (decision.dispatch === undefined && stored.metadata.resourceVersion !== fence.metadata.resourceVersion) this.#dependencies.queue.add(name);
    this.#runs.forget(name, stored.status);
    // The run's questions leave first: nobody waits for an Event, nor for the statistics.
    const { status } = stored;
    let asked: Promise<unknown> | undefined;
    if (run !== undefined && status !== undefined) asked = this.#runs.start({ ...run, fence: stored, status, intentAtMs }, observation, ahead);
    if (wasHeld && fence.status?.state !== 'final' && stored.status?.outcome === 'untouched') {
      this.#emit(name, stored, 'Normal', 'HeldNodeRecovered', 'The node became healthy while it was held: its fence ends, and nothing is done.');
    }
    for (const event of decision.events) this.#emit(name, stored, event.type, event.reason, event.message);
    if (stepDown !== undefined) {
      this.#stepAside(stepDown);
      // Whatever is written from here on is the newer leader's to write.
      return true;
    }
    if (decision.row === 'running-preserved' && stored.status?.hold?.reason === 'preserved') this.#runs.diagnosePreserved(stored);
    const isDeleted = decision.removeFinalizer === true && stored.metadata.deletionTimestamp !== undefined;
    // Once isolation is over: a node that has just failed does not wait for its statistics.
    if (
      stored.status !== undefined &&
      decision.row !== 'restored' &&
      (stored.status.state !== 'new' || isDeleted || revokedBy(stored.status) !== undefined)
    ) {
      const kept = this.#keepStatistics(name, stored.status, isDeleted, asked);
      // What has to outlive the NodeFence stands before it goes; and before anything rests on it, to which boot storage is closed.
      await (decision.removeFinalizer === true || revokedBy(stored.status) !== undefined ? kept : aside(kept));
    }
    if (decision.removeFinalizer === true) await this.#objects.letGo(stored, decision.deleteFence === true);
    return true;
  }

  /** `asked`: a run begins, and its questions go first; a pass that waits for no run writes what that one could not. */
  async #keepStatistics(name: string, status: NodeFenceStatus, isDeleted: boolean, asked: Promise<unknown> | undefined): Promise<void> {
    const record = (): Promise<void> => recordIncident(this.#dependencies, name, status, isDeleted);
    if (asked === undefined) return record();
    void asked.then(record).catch(() => this.#dependencies.queue.add(name));
  }

  /** Once: every node's fence may say so. */
  #stepAside(found: { epoch: number; message: string }): void {
    if (this.#hasSteppedAside) return;
    this.#hasSteppedAside = true;
    this.#dependencies.metrics.problem('NewerLeaderFound');
    this.#dependencies.stepDown?.(found);
  }

  /** PUT under uid and resourceVersion. On a conflict nothing of the decision holds: read anew and decide afresh (crash rules). */
  async #store(fence: NodeFence, status: NodeFenceStatus, passed: readonly NodeFenceStatus[] = []): Promise<NodeFence | undefined> {
    const { cluster, queue, metrics, log } = this.#dependencies;
    const node = fence.spec.node;
    try {
      const stored = await cluster.replaceStatus(NODE_FENCES, { ...fence, status });
      this.#known.wrote(stored);
      this.#lost.stands(stored);
      for (const [index, after] of [...passed, stored.status].entries()) measure(metrics, index === 0 ? fence.status : passed[index - 1], after);
      if (fence.status?.state !== status.state || fence.status.step !== status.step)
        log.info('fence state changed', { node, state: status.state, step: status.step, detail: status.message });
      return stored;
    } catch (error) {
      if (error instanceof ApiStatusError && (error.status === 404 || error.status === 409)) {
        // A watch that hangs may go on showing an object that is gone: it is not asked for as fast as the server answers.
        queue.add(node, (await this.#objects.refresh(node, fence)) ? 0 : GONE_RETRY_MS);
        return undefined;
      }
      await this.#objects.readAfter(fence);
      this.#storm.settle(node, this.#known.newest(node));
      throw error;
    }
  }

  #emit(name: string, fence: NodeFence, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { recorder, log, listers } = this.#dependencies;
    recorder.event({ apiVersion: `${GROUP}/${VERSION}`, kind: 'NodeFence', metadata: fence.metadata }, type, reason, message);
    const node = listers.nodes.get(name);
    if (node !== undefined) recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, type, reason, message);
    log[type === 'Warning' ? 'warn' : 'info']('fence event', { node: name, reason, detail: message });
  }

  #watch(): void {
    const { listers, queue, clock } = this.#dependencies;
    listers.nodes.onChange((before, after) => {
      const name = (after ?? before)?.metadata.name ?? '';
      if (after === undefined) this.#observations.delete(name);
      else this.#observations.of(name).seeNode(after, clock.monotonicMs());
      if (this.#runs.isUnderWay(name)) return;
      if (matters(before, after) || this.#known.isOpen(name)) queue.add(name);
    });
    listers.leases.onChange((_before, after) => {
      if (after === undefined) return;
      const name = after.metadata.name;
      if (listers.nodes.get(name) === undefined) return;
      this.#observations.of(name).seeLease(after, clock.monotonicMs());
      if (this.#isWaiting(name)) queue.add(name);
    });
    listers.fences.onChange((before, after) => {
      const fence = after ?? before;
      if (fence === undefined) return;
      this.#counts.see(fence.metadata.name, after);
      const isEcho = after !== undefined && this.#known.isEcho(after);
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#lost.gone(before);
      this.#storm.seeFence(fence.spec.node, this.#known.newest(fence.spec.node));
      for (const node of isEcho ? [] : concernedBy(fence)) queue.add(node);
    });
    listers.reports.onChange((before, after) => {
      if (after !== undefined && before?.spec?.resumed?.incident !== after.spec?.resumed?.incident) queue.add(after.metadata.name);
    });
    this.#dependencies.preservation?.onChange((nodes) => {
      for (const node of nodes) queue.add(node);
    });
    listers.stops.onChange((before, after) => this.#onStop((after ?? before)?.spec));
    listers.pods.onChange((before, after) => this.#onWorkload((after ?? before)?.spec.nodeName));
    listers.volumeAttachments.onChange((before, after) => this.#onWorkload((after ?? before)?.spec.nodeName));
  }

  #onStop(spec: { node?: string; all?: boolean } | undefined): void {
    if (spec?.all === true) this.lookAtAll();
    else if (spec?.node !== undefined) this.#dependencies.queue.add(spec.node);
  }

  /** Its fence is open, and no run of it is under way, whose end looks at it again. */
  #isWaiting(node: string): boolean {
    return this.#known.isOpen(node) && !this.#runs.isUnderWay(node);
  }

  #onWorkload(node: string | undefined): void {
    if (node !== undefined && this.#isWaiting(node)) this.#dependencies.queue.add(node);
  }
}

type Aside = (work: Promise<void>) => Promise<void>;

interface Pass {
  observation: NodeObservation;
  aside: Aside;
}

/** At work, and somebody has taken our finalizer away: it might vanish before what it did is taken back. */
function isUnclaimed({ metadata, status }: NodeFence, { removeFinalizer, stepDown }: Onward['decision']): boolean {
  const isAtWork = status?.frozen !== undefined && status.state !== 'final' && metadata.deletionTimestamp === undefined;
  return isAtWork && removeFinalizer !== true && stepDown === undefined && metadata.finalizers?.includes(FINALIZER) !== true;
}

/** One that is done or final does nothing that a policy could hold. */
function mayAct(fence: NodeFence | undefined): boolean {
  return fence?.status?.frozen !== undefined && fence.status.state !== 'done' && fence.status.state !== 'final';
}
