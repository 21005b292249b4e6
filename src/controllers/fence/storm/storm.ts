import { cutsOff } from '../../../domain/journal.ts';
import { isNamedAsItsNode } from '../../../domain/node-fence.ts';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import { judgeStorm } from '../../../domain/policies/judge.ts';
import type { StormHold, StormHoldsOf } from '../../../domain/policies/judge.ts';
import { fenceableOf } from '../../../domain/policies/node-set.ts';
import { STORM_ITSELF } from '../../../domain/policies/policy.ts';
import type { StormPolicy } from '../../../domain/policies/policy.ts';
import { withRemedies } from '../../../domain/policies/remedied.ts';
import type { RemedyStage } from '../../../domain/policies/remedied.ts';
import type { MaintenanceMark, StorageView, StormView } from '../../../domain/policies/view.ts';
import { NO_CONNECTIVITY_PROBES } from '../../../ports/connectivity.ts';
import type { ConnectivityProbes } from '../../../ports/connectivity.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { EtcdMembers } from './etcd-members.ts';
import { guardOf } from '../guard.ts';
import { HeldNodes } from './held-nodes.ts';
import { NodeRoster, storageViewOf } from './node-roster.ts';
import type { RosterSources } from './node-roster.ts';
import { questionsOf } from './questions.ts';
import { Starts } from './starts.ts';
import { Trips } from './trips.ts';

/** A judgement that forbids may be this old although something changed since: in a storm thousands ask at once. One that permits never is. */
const HELD_REUSE_MS = 100;
/** Time alone changes a judgement too, but not from one moment to the next. */
const REUSE_MS = 500;
/** Nobody has failed and nobody was judged for so long: what is asked around for a judgement is asked no more. */
const REST_AFTER_MS = 60_000;
/** While a policy holds somebody it is looked so often whether it still does: of nodes that are well again, or gone, nobody asks. */
const TRIPPED_LOOK_MS = 5_000;

/** By node. */
type Stages = ReadonlyMap<string, RemedyStage>;

interface Judgement {
  atMs: number;
  version: number;
  policies: readonly unknown[];
  /** Machines that are switched off on request. */
  offs: Stages;
  holdsOf: StormHoldsOf;
}

const NO_STAGES: Stages = new Map();
const NO_HOLDS: readonly StormHold[] = [];
const NO_MARKS: readonly MaintenanceMark[] = [];

/** The shell around the storm policies: one picture of the whole cluster, judged when something that decides has changed. docs/policies.md has the policies. */
export class Storm {
  readonly #dependencies: FenceDependencies;
  readonly #connectivity: ConnectivityProbes;
  readonly #roster: NodeRoster;
  readonly #members: EtcdMembers;
  readonly #starts = new Starts();
  readonly #trips = new Trips();
  readonly #held: HeldNodes;
  readonly #startedAtMs: number;
  #askedAtMs = 0;
  #cancelRest: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #isClosed = false;
  #version = 0;
  /** The leader before had only just come up, and nobody led before it. */
  #isStarting = false;
  #judgement: Judgement | undefined;
  /** With what is begun without a fence: by remedies and requests. */
  readonly #besides = new Map<'remedy' | 'request', Judgement & { stages: Stages }>();
  /** Nodes that took or gave back a slot since then: an older judgement counted them otherwise. */
  readonly #moved = new Set<string>();

  /** `seen`: where it judges a picture, and has seen nothing of it before. */
  constructor(dependencies: FenceDependencies, lifeAtMs: (node: string) => number | undefined, seen: Pick<RosterSources, 'terminatingSinceMs'> = {}) {
    const { clock, listers, planner, queue, foreignMarks, connectivity = NO_CONNECTIVITY_PROBES } = dependencies;
    this.#dependencies = dependencies;
    this.#connectivity = connectivity;
    this.#startedAtMs = clock.monotonicMs();
    this.#held = new HeldNodes(clock, queue, (node) => this.#fresh(node, clock.monotonicMs()));
    const changed = (): void => this.#changed();
    const marksOf = (node: string): readonly MaintenanceMark[] => foreignMarks?.marksOf(node) ?? NO_MARKS;
    const isPreserved = (node: string): boolean => guardOf(dependencies, node)?.kind === 'isolate-and-hold';
    const isTakenForFailed = (node: string): boolean => dependencies.fastDetection?.failureOf(node) !== undefined;
    const storageOf = (node: string): StorageView | undefined => storageViewOf(dependencies.fastDetection, node);
    const sources = { clock, listers, planner, lifeAtMs, isPreserved, isTakenForFailed, storageOf, foreignMarks: marksOf, ...seen };
    this.#roster = new NodeRoster(sources, changed);
    this.#members = new EtcdMembers(listers, changed);
    for (const fence of listers.fences.all()) if (isNamedAsItsNode(fence)) this.seeFence(fence.spec.node, fence);
    connectivity.onChange(changed);
    dependencies.preservation?.onChange((nodes) => this.#roster.refreshNodes(nodes));
    foreignMarks?.onChange((nodes) => {
      this.#roster.refreshNodes(nodes);
      this.#changed();
    });
    listers.nodes.onChange((before, after) => this.#roster.seeNode((after ?? before)?.metadata.name ?? '', after));
  }

  /** The NodeFence as this process knows it now, its own writes first. */
  seeFence(node: string, fence: NodeFence | undefined): void {
    const { clock } = this.#dependencies;
    const heldSlot = this.#holdsSlot(node);
    this.#roster.seeFence(node, fence);
    if (this.#holdsSlot(node) !== heldSlot) this.#moved.add(node);
    if (fence !== undefined && this.#starts.see(fence, clock.monotonicMs(), clock.wallMs())) this.#changed();
    if (fence === undefined || fence.status?.state === 'final') this.#held.forget(node);
  }

  /** Why nothing may be done to this node now, for a decision; who is held is looked at again when that may be over. */
  holdsOn(node: string): readonly StormHold[] {
    if (this.#dependencies.planner.stormPolicies().length === 0) return NO_HOLDS;
    const holds = this.#judged(node);
    this.#held.see(node, holds);
    return holds;
  }

  /** The same right before a call: nothing that changed since is overlooked. `isAsked`: somebody asks for the node without a NodeFence. */
  activeHoldsOn(node: string, isAsked = false): readonly StormHold[] {
    const nowMs = this.#dependencies.clock.monotonicMs();
    return this.#dependencies.planner.stormPolicies().length === 0 ? NO_HOLDS : this.#fresh(node, nowMs, isAsked);
  }

  /** Why its machine may not be switched off without a NodeFence, where those of these nodes are so now. */
  holdsOnRequest(node: string, offs: Stages = NO_STAGES): readonly StormHold[] {
    return offs.size === 0 ? this.activeHoldsOn(node, true) : this.#beside('request', node, NO_STAGES, offs)(node, true);
  }

  /** Why no remedy of this node may begin now, where these nodes have remedies, and the machines of those are switched off on request. */
  holdsOnRemedy(node: string, stages: Stages, offs: Stages = NO_STAGES): readonly StormHold[] {
    return this.#beside('remedy', node, stages, offs)(node);
  }

  /** Was this node held when it was last decided about? Ends with its fence. */
  isHeld(node: string): boolean {
    return this.#held.wasHeld(node);
  }

  /** In the very turn in which it was decided: the next node that is decided sees the slot taken. */
  reserve(fence: NodeFence, entry: JournalEntry): void {
    if (!cutsOff(entry)) return;
    this.#roster.reserve(fence.spec.node, true);
    this.#starts.reserve(fence, this.#dependencies.clock.monotonicMs());
    this.#changed();
  }

  /** What was reserved now stands in the NodeFence, or never will: `fence` is what is known of it. */
  settle(node: string, fence: NodeFence | undefined): void {
    this.#roster.reserve(node, false);
    if (this.#starts.settle(node, fence)) this.#changed();
    this.seeFence(node, fence);
  }

  /** Configuration changed. */
  configurationChanged(): void {
    this.#roster.forgetPlans();
    this.#changed();
  }

  close(): void {
    this.#isClosed = true;
    this.#held.close();
    this.#cancelRest?.();
    this.#cancelLook?.();
    this.#connectivity.rest();
    this.#dependencies.foreignMarks?.close();
  }

  #changed(): void {
    this.#version += 1;
    this.#held.reconcileSoon();
  }

  get #offs(): Stages {
    return this.#dependencies.offsOnRequest?.all ?? NO_STAGES;
  }

  #holdsSlot(node: string): boolean {
    return this.#roster.nodes.get(node)?.fence?.holdsSlot === true;
  }

  #judged(node: string): readonly StormHold[] {
    const nowMs = this.#dependencies.clock.monotonicMs();
    const known = this.#judgement;
    if (known !== undefined && nowMs - known.atMs <= HELD_REUSE_MS && !this.#moved.has(node)) {
      const holds = known.holdsOf(node);
      if (holds.length > 0) return holds;
    }
    return this.#fresh(node, nowMs);
  }

  #fresh(node: string, nowMs: number, isAsked = false): readonly StormHold[] {
    const policies = this.#dependencies.planner.stormPolicies();
    this.#roster.refresh(nowMs, node);
    const known = this.#judgement;
    const isSame = known?.version === this.#version && known.policies === policies && known.offs === this.#offs;
    if (isSame && nowMs - known.atMs <= REUSE_MS) return known.holdsOf(node, isAsked);
    return this.#judgeAnew(policies, nowMs)(node, isAsked);
  }

  #beside(whose: 'remedy' | 'request', node: string, stages: Stages, offs: Stages): StormHoldsOf {
    const policies = this.#dependencies.planner.stormPolicies();
    if (policies.length === 0) return () => NO_HOLDS;
    const nowMs = this.#dependencies.clock.monotonicMs();
    this.#roster.refresh(nowMs, node);
    const before = this.#besides.get(whose);
    const isSame = before?.stages === stages && before.offs === offs && before.version === this.#version && before.policies === policies;
    if (isSame && nowMs - before.atMs <= REUSE_MS) return before.holdsOf;
    // What a predecessor left counts for these too, whichever is asked for first.
    if (this.#judgement === undefined) this.#judgeAnew(policies, nowMs);
    this.#askAround();
    const begun = offs.size === 0 ? stages : new Map([...offs, ...stages]);
    const holdsOf = judgeStorm(policies, withRemedies(this.#view(nowMs), begun));
    this.#besides.set(whose, { atMs: nowMs, version: this.#version, policies, stages, offs, holdsOf });
    return holdsOf;
  }

  #judgeAnew(policies: readonly StormPolicy[], nowMs: number): Judgement['holdsOf'] {
    if (this.#judgement === undefined) this.#takeUp();
    this.#askAround();
    return this.#judge(policies, nowMs);
  }

  #judge(policies: readonly StormPolicy[], nowMs: number): Judgement['holdsOf'] {
    const failed = fenceableOf(this.#roster.nodes).map(({ name }) => name);
    let holdsOf = judgeStorm(policies, this.#view(nowMs));
    if (this.#trips.see(policies, failed, holdsOf, nowMs)) {
      holdsOf = judgeStorm(policies, this.#view(nowMs));
      this.#trips.see(policies, failed, holdsOf, nowMs);
    }
    this.#dependencies.metrics.policies(this.#trips.held);
    this.#moved.clear();
    this.#judgement = { atMs: nowMs, version: this.#version, policies, offs: this.#offs, holdsOf };
    this.#lookWhileTripped();
    return holdsOf;
  }

  #lookWhileTripped(): void {
    if (!this.#trips.isTripped || this.#isClosed) return;
    const { clock, planner } = this.#dependencies;
    this.#cancelLook ??= clock.after(TRIPPED_LOOK_MS, () => {
      this.#cancelLook = undefined;
      const nowMs = clock.monotonicMs();
      this.#roster.refresh(nowMs, '');
      this.#judge(planner.stormPolicies(), nowMs);
    });
  }

  /** What a predecessor waited for is not shorter for that another leads. */
  #takeUp(): void {
    const reasons = new Set([...this.#dependencies.listers.fences.all()].flatMap(heldFor));
    if (reasons.has('cooldown') || [...STORM_ITSELF].some((reason) => reasons.has(reason))) this.#trips.resume();
    this.#isStarting = reasons.has('startup-grace');
  }

  #view(nowMs: number): StormView {
    const { clock, listers, options, tookOver, foreignMarks } = this.#dependencies;
    const { nodes } = this.#roster;
    const { targets, members, alerts } = this.#connectivity.answers;
    const isUp = (node: string): boolean | undefined => {
      const known = nodes.get(node);
      return known === undefined ? undefined : known.health === 'healthy';
    };
    return {
      nowMs,
      wallMs: clock.wallMs(),
      nodes,
      controller: {
        ownNode: options.ownNode,
        startedAtMs: this.#startedAtMs,
        tookOver: tookOver?.() === true && !this.#isStarting,
        freshAtMs: Math.min(listers.nodes.freshAtMs, listers.leases.freshAtMs),
        freshSinceMs: Math.max(listers.nodes.freshSinceMs ?? this.#startedAtMs, listers.leases.freshSinceMs ?? this.#startedAtMs),
        targets,
      },
      controlPlane: { members: this.#members.list(isUp, members), offOnRequest: goingOff(this.#offs) },
      starts: this.#starts.list(),
      areMarksRead: foreignMarks?.isRead !== false,
      stormEndedAtMs: this.#trips.endedAtMs,
      alerts,
    };
  }

  /** Whoever is judged is to be acted on: by a fence, a request or a remedy. */
  #askAround(): void {
    const { clock, planner, listers, foreignMarks } = this.#dependencies;
    this.#askedAtMs = clock.monotonicMs();
    this.#connectivity.ask(questionsOf(planner.stormPolicies(), this.#members.places(), listers.nodes));
    foreignMarks?.ask();
    this.#cancelRest ??= clock.after(REST_AFTER_MS, () => this.#restIfUnasked());
  }

  #restIfUnasked(): void {
    const { clock, foreignMarks } = this.#dependencies;
    if (fenceableOf(this.#roster.nodes).length > 0) this.#askedAtMs = clock.monotonicMs();
    const leftMs = this.#askedAtMs + REST_AFTER_MS - clock.monotonicMs();
    this.#cancelRest = leftMs > 0 ? clock.after(leftMs, () => this.#restIfUnasked()) : undefined;
    if (leftMs > 0) return;
    this.#connectivity.rest();
    foreignMarks?.rest();
  }
}

function goingOff(offs: Stages): ReadonlySet<string> {
  return new Set([...offs].flatMap(([node, { kind }]) => (kind === 'begun' ? [node] : [])));
}

/** Why it waits, by its record. */
function heldFor({ status }: NodeFence): readonly string[] {
  if (status?.hold === undefined || status.state === 'final') return [];
  return [status.hold, ...(status.hold.besides ?? [])].map(({ reason }) => reason);
}
