import { ISOLATION_ONLY } from '../../../domain/last-step.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { isOfEpisode } from '../../../domain/remedy/position.ts';
import { switchesOff } from '../../../domain/plan.ts';
import type { RemedyPosition } from '../../../domain/remedy/position.ts';
import type { RemedyUse } from '../../../domain/remedy/configuration.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Node } from '../../../ports/objects.ts';
import type { Planner } from '../../../ports/planner.ts';
import type { Recorder } from '../../../ports/recorder.ts';
import { REMEDY_REQUESTER } from '../../../ports/remedies.ts';
import { NODE_FENCES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { claim, withdraw } from '../../shared/claims/claim.ts';
import type { Asked, Claimant } from '../../shared/claims/claim.ts';
import { readFence } from '../../shared/claims/fence-facts.ts';
import { Conflict } from '../../shared/conflict.ts';
import { gatedWrites } from '../../shared/gated-cluster.ts';
import type { RunContext, RunKind, SeenRun } from './run-kind.ts';

const SUCCESSES: ReadonlySet<string> = new Set(['recovered', 'replaced']);

export function claimantOf(threshold: string, uid: string): Claimant {
  return { ...REMEDY_REQUESTER, name: threshold, uid };
}

/** Asked for by this episode, to isolate its node, which is done; nothing more speaks against the node by now. */
export function isOwnIsolation({ spec, status }: NodeFence, position: Pick<RemedyPosition, 'episode'>): boolean {
  return isRequestedBy(spec.requestedBy, position) && spec.lastStep === 'isolation' && status?.hold?.policy === ISOLATION_ONLY;
}

/** Methods that were asked for are done, and left nothing to take back: their request is over. A step of the plan stands until its recovery. */
export function isIdle(fence: NodeFence, positions: readonly RemedyPosition[]): boolean {
  const { restore = {}, storageRelease } = fence.status ?? {};
  const isKept = restore.cordoned === true || [restore.taints, restore.edges].some((each) => (each ?? []).length > 0) || storageRelease !== undefined;
  if (fence.spec.methods === undefined) return false;
  const owner = positions.find((position) => isOwnIsolation(fence, position));
  return owner !== undefined && owner.run?.id !== fence.spec.requestedBy?.uid && !isKept;
}

export function isRequestedBy(requester: Claimant | undefined, position: Pick<RemedyPosition, 'episode'>): boolean {
  return requester?.kind === REMEDY_REQUESTER.kind && isOfEpisode(requester.uid, position);
}

/** A remedy that a NodeFence carries out: a whole fence, its isolation, or some methods of the node's own configuration. */
export class FenceRuns implements RunKind {
  readonly #cluster: Cluster;
  readonly #recorder: Recorder;
  readonly #planner: Pick<Planner, 'planFor'>;

  constructor(cluster: Cluster, recorder: Recorder, planner: Pick<Planner, 'planFor'>) {
    this.#cluster = cluster;
    this.#recorder = recorder;
    this.#planner = planner;
  }

  async observe({ node, position, run, memory, use }: RunContext): Promise<SeenRun> {
    const fence = await this.#cluster.get(NODE_FENCES, fenceName(node.metadata.name));
    if (fence === undefined || !isServing(fence, run.id)) {
      if (position.phase === 'starting' && !memory.hasBegun(run)) return { outcome: 'absent' };
      return { outcome: 'failed', message: 'its NodeFence is gone, or was withdrawn' };
    }
    const { isFinal, isStuck, outcome = 'none', heldBecause, name } = readFence(fence, '');
    if (isFinal) return { outcome: SUCCESSES.has(outcome) ? 'succeeded' : 'failed', message: `NodeFence ${name} ended ${outcome}` };
    if (isStuck) return { outcome: 'failed', message: `NodeFence ${name} has given up: ${fence.status?.message ?? ''}` };
    const isIsolating = use !== undefined && use.remedy.kind !== 'fence';
    if (isIsolating && isOwnIsolation(fence, position)) return { outcome: 'succeeded', message: `NodeFence ${name} has isolated the node` };
    return {
      outcome: 'running',
      message: heldBecause === undefined ? fence.status?.message : `held: ${heldBecause}`,
      isKept: heldBecause !== undefined,
    };
  }

  async begin({ node, position, run, use, memory }: RunContext & { use: RemedyUse }, mayBegin: () => void): Promise<void> {
    const asked: Asked = { ...askedOf(use, node, this.#planner), isOwn: (requester) => isRequestedBy(requester, position) };
    const cluster = gatedWrites(mayBegin)(this.#cluster);
    const outcome = await claim({ cluster, recorder: this.#recorder }, node.metadata.name, claimantOf(position.threshold, run.id), asked);
    if (outcome.kind === 'taken') throw new Conflict(`${outcome.by} has node ${node.metadata.name}`);
    memory.begins(run);
  }

  async cancel({ node, position, run }: RunContext): Promise<void> {
    await withdraw({ cluster: this.#cluster }, node.metadata.name, claimantOf(position.threshold, run.id));
  }
}

/** Methods of which none switches the node off isolate it, and no more. */
function askedOf({ remedy }: RemedyUse, node: Node, planner: Pick<Planner, 'planFor'>): Asked {
  switch (remedy.kind) {
    case 'planStep':
      return { lastStep: 'isolation' };
    case 'fenceMethods':
      return askedMethods([...remedy.methods], node, planner);
    default:
      return {};
  }
}

function askedMethods(methods: string[], node: Node, planner: Pick<Planner, 'planFor'>): Asked {
  const plan = planner.planFor(node, { methods, lastStep: 'isolation' });
  const isSwitchedOff = plan.powerManagement.some((level) => level.methods.some(switchesOff));
  return isSwitchedOff ? { methods } : { methods, lastStep: 'isolation' };
}

/** What a remedy isolated is taken back: its request is withdrawn, and the fence ends by the health of the node. */
export class RecoveryRuns implements RunKind {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async observe({ node, position, run, memory }: RunContext): Promise<SeenRun> {
    if (position.phase === 'starting' && !memory.hasBegun(run)) return { outcome: 'absent' };
    const fence = await this.#cluster.get(NODE_FENCES, fenceName(node.metadata.name));
    if (fence === undefined) return { outcome: 'succeeded', message: 'no fence of it stands' };
    // It can not be hurried: a person has to look.
    const outcomeNow = memory.hasEnded(run) ? 'failed' : 'running';
    if (isRequestedBy(fence.spec.requestedBy, position)) return { outcome: outcomeNow, message: 'its request is being withdrawn' };
    const { isFinal, outcome = 'none', heldBecause, name } = readFence(fence, '');
    if (!isOfEpisode(fence.status?.trigger?.requestUID, position)) return { outcome: 'succeeded', message: 'no fence of it stands' };
    if (!isFinal) return { outcome: outcomeNow, message: heldBecause === undefined ? fence.status?.message : `held: ${heldBecause}` };
    const isOver = SUCCESSES.has(outcome) || outcome === 'untouched';
    return { outcome: isOver ? 'succeeded' : 'failed', message: `NodeFence ${name} ended ${outcome}` };
  }

  async begin(context: RunContext & { use: RemedyUse }, mayBegin: () => void): Promise<void> {
    await this.#withdraw(context, gatedWrites(mayBegin)(this.#cluster));
    context.memory.begins(context.run);
  }

  async proceed(context: RunContext): Promise<void> {
    await this.#withdraw(context, this.#cluster);
  }

  /** It only takes back. */
  async cancel(): Promise<void> {
    await Promise.resolve();
  }

  async #withdraw({ node, position }: RunContext, cluster: Cluster): Promise<void> {
    const fence = await cluster.get(NODE_FENCES, fenceName(node.metadata.name));
    const requester = fence?.spec.requestedBy;
    if (requester === undefined || !isRequestedBy(requester, position)) return;
    await withdraw({ cluster }, node.metadata.name, requester);
  }
}

/** It is this run that the fence serves; one that is final may have been withdrawn since. */
function isServing({ spec, status }: NodeFence, uid: string): boolean {
  return spec.requestedBy?.uid === uid || (status?.state === 'final' && status.trigger?.requestUID === uid);
}
