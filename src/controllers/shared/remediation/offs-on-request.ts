import type { RemedyStage } from '../../../domain/policies/remedied.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { StormHolds } from '../../../ports/storm.ts';
import { Conflict } from '../conflict.ts';

/** Starts that are remembered for `rate` when they are over. */
const STARTS_MAX = 1_000;

/**
 * Nodes whose hosts are switched off on request, without a NodeFence: each counts for the next one from the turn in which its off leaves, and not only when its
 * Node is not Ready any more.
 */
export class OffsOnRequest {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By who asks: the controller, and what it calls the request. */
  readonly #nodes = new Map<string, string>();
  #stages: ReadonlyMap<string, RemedyStage> = new Map();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** As storm policies count them; another map after each change. */
  get all(): ReadonlyMap<string, RemedyStage> {
    return this.#stages;
  }

  /** In the very turn in which it leaves. Throws where a storm policy holds the node by now: another one was begun since it was decided. */
  begin(by: string, node: string, stormHolds: StormHolds): void {
    const [hold] = stormHolds(node);
    if (hold !== undefined) throw new Conflict(`held by ${hold.reason}: ${hold.message}`);
    this.#nodes.set(by, node);
    this.#set(node, { kind: 'begun', beganAtMs: this.#clock.monotonicMs() });
  }

  /** What stands written: the node that is off for it, or is going off; absent: none is. */
  see(by: string, node: string | undefined): void {
    const before = this.#nodes.get(by);
    if (before === node) return;
    if (node === undefined) this.#nodes.delete(by);
    else this.#nodes.set(by, node);
    const standing = new Set(this.#nodes.values());
    if (before !== undefined && !standing.has(before)) this.#set(before, { ...this.#stages.get(before), kind: 'over' });
    if (node !== undefined) this.#set(node, { ...this.#stages.get(node), kind: 'begun' });
  }

  /** The controller stops: whoever has its objects now looks after them. */
  forget(controller: string): void {
    for (const by of this.#nodes.keys()) if (by.startsWith(`${controller} `)) this.see(by, undefined);
  }

  #set(node: string, stage: RemedyStage): void {
    const others = [...this.#stages].filter(([name]) => name !== node);
    const over = others.findIndex(([, { kind }]) => kind === 'over');
    if (others.length >= STARTS_MAX && over !== -1) others.splice(over, 1);
    this.#stages = new Map([...others, [node, stage]]);
  }
}
