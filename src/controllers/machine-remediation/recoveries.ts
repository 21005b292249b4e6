import type { NodeFence } from '../../ports/resources.ts';
import { REQUEST } from './names.ts';
import type { MachineFacts } from './snapshot.ts';

/** Both stood before this process began to look. */
const UNSEEN = 0;

/** In which order this process saw Machines asked for and fences bring Nodes back, whatever clocks their dates are of. */
export class Recoveries {
  #sights = UNSEEN;
  /** By uid of the Machine. */
  readonly #asked = new Map<string, number>();
  /** By name of the NodeFence. */
  readonly #ended = new Map<string, { mark: string; at: number }>();

  /** To be told of every change. `isLive`: false is what stood before anybody looked. */
  sawMachine({ uid, annotations }: Pick<MachineFacts, 'uid' | 'annotations'>, isLive = true): void {
    if (annotations[REQUEST] === undefined) this.#asked.delete(uid);
    else if (!this.#asked.has(uid)) this.#asked.set(uid, this.#next(isLive));
  }

  sawFence({ metadata: { name, uid = '' }, status }: NodeFence, isLive = true): void {
    const mark = `${uid} ${status?.incident ?? ''} ${status?.timeline.finalAt ?? ''}`;
    if (status?.state !== 'final' || status.outcome !== 'recovered') this.#ended.delete(name);
    else if (this.#ended.get(name)?.mark !== mark) this.#ended.set(name, { mark, at: this.#next(isLive) });
  }

  forgetMachine(uid: string): void {
    this.#asked.delete(uid);
  }

  forgetFence(name: string): void {
    this.#ended.delete(name);
  }

  /** Has the fence brought the Node back since the Machine was asked for? `unseen`: it has, and nobody saw which was first. */
  isSince(machine: Pick<MachineFacts, 'uid' | 'annotations'>, fence: NodeFence): boolean | 'unseen' {
    this.sawMachine(machine);
    this.sawFence(fence);
    const [askedAt, endedAt] = [this.#asked.get(machine.uid), this.#ended.get(fence.metadata.name)?.at];
    if (askedAt === undefined || endedAt === undefined) return false;
    return askedAt === UNSEEN && endedAt === UNSEEN ? 'unseen' : endedAt > askedAt;
  }

  #next(isLive: boolean): number {
    if (!isLive) return UNSEEN;
    this.#sights += 1;
    return this.#sights;
  }
}
