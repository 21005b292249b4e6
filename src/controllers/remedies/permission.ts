import { fenceName } from '../../domain/node-fence.ts';
import type { RemedyHold } from '../../domain/remedy/position.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCES, NODES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ownerOf } from '../shared/claims/claim.ts';
import { Conflict } from '../shared/conflict.ts';
import { controlPlaneHold } from '../shared/remediation/control-plane.ts';
import { activeStop } from '../shared/stops.ts';

export interface PermissionDependencies {
  cluster: Pick<Cluster, 'get' | 'list'>;
  clock: Pick<Clock, 'monotonicMs'>;
  /** As of now. */
  stormHolds: (node: string) => readonly ActiveHold[];
  mode: 'observe' | 'enforce';
  /** This process runs on it; absent: on none that is known. */
  ownNode?: string;
  /** A fence that this node's own remedy asked for, which only isolates it, and is not wanted for more by now. */
  isOwnIsolation?: (fence: NodeFence) => boolean;
}

/** P6: a stop holds within 2 s, so that nothing begins on an older answer than this. */
const ANSWER_MAX_AGE_MS = 1_500;

/** Whether a remedy of one node may be begun: asked when it is decided, and again in the very turn in which it leaves. */
export class RemedyPermission {
  readonly #dependencies: PermissionDependencies;
  readonly #node: string;
  #answer: { atMs: number; holds: readonly RemedyHold[] } | undefined;

  constructor(dependencies: PermissionDependencies, node: string) {
    this.#dependencies = dependencies;
    this.#node = node;
  }

  /** All that stands against it now, by consistent reads. Rejects when the API server could not be asked: then nothing begins. */
  async ask(): Promise<readonly RemedyHold[]> {
    const { cluster, clock } = this.#dependencies;
    this.#answer = undefined;
    // As old as its question: what changes while it is answered is not in it.
    const atMs = clock.monotonicMs();
    // What policies read of others is read meanwhile: until then they hold.
    this.#storm();
    const [stop, fence, node] = await Promise.all([
      activeStop(cluster, this.#node),
      cluster.get(NODE_FENCES, fenceName(this.#node)),
      cluster.get(NODES, this.#node),
    ]);
    const majority = node === undefined ? undefined : await controlPlaneHold(cluster, node);
    const isOwn = fence !== undefined && this.#dependencies.isOwnIsolation?.(fence) === true;
    const by = fence === undefined || isOwn ? undefined : ownerOf(fence);
    const holds: RemedyHold[] = [
      ...(this.#dependencies.mode === 'observe' ? [standing('observe', '--mode observe: nothing is changed')] : []),
      ...(stop === undefined ? [] : [standing('stop', stop)]),
      ...(by === undefined ? [] : [standing('fence', `${by} has the node`)]),
      ...(this.#node === this.#dependencies.ownNode
        ? [standing('own-node', `this controller runs on ${this.#node}: another replica has to lead`)]
        : []),
      ...(majority === undefined ? [] : [standing(majority.reason, majority.message)]),
    ];
    this.#answer = { atMs, holds };
    return [...holds, ...this.#storm()];
  }

  /** Throws unless nothing stands against it by an answer that is fresh, and by the storm policies as of now. `isRecovery`: policies do not hold it. */
  demand(isRecovery: boolean): void {
    const { clock } = this.#dependencies;
    const answer = this.#answer;
    const ageMs = answer === undefined ? Infinity : clock.monotonicMs() - answer.atMs;
    if (answer === undefined || ageMs > ANSWER_MAX_AGE_MS)
      throw new Conflict('whether a stop is active was not answered just now: it is asked again');
    const [hold] = [...answer.holds, ...(isRecovery ? [] : this.#storm())];
    if (hold !== undefined) throw new Conflict(`held by ${hold.reason}: ${hold.message}`);
  }

  #storm(): RemedyHold[] {
    return this.#dependencies.stormHolds(this.#node).map(({ reason, message }) => ({ reason, message, isPolicy: true }));
  }
}

function standing(reason: string, message: string): RemedyHold {
  return { reason, message, isPolicy: false };
}
