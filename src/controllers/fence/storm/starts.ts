import type { NodeFence } from '../../../ports/resources.ts';
import { firstRun } from './fence-facts.ts';

export interface Start {
  node: string;
  atMs: number;
}

/** A predecessor's wall clock may be off by this much: its fence is taken to have begun no earlier than its stamp and this say. */
const SKEW_MS = 900_000;
const KEPT_MS = 7 * 86_400_000;
const KEPT_MAX = 4_096;

/** When each fence first isolated or switched something; `rate` counts them. Bounded. */
export class Starts {
  readonly #starts = new Map<string, Start>();
  /** As `list` tells them, until they change. */
  #inOrder: readonly Start[] | undefined;
  /** By node: the start whose intent is on its way. */
  readonly #reserved = new Map<string, string>();

  /** Oldest first. */
  list(): readonly Start[] {
    this.#inOrder ??= [...this.#starts.values()].sort((left, right) => left.atMs - right.atMs);
    return this.#inOrder;
  }

  /** `true`: something changed. What a predecessor began counts from our first sight of it, unless it is clearly longer ago. */
  see(fence: NodeFence, nowMs: number, wallMs: number): boolean {
    const key = keyOf(fence);
    const first = fence.status?.frozen === undefined ? undefined : firstRun(fence.status);
    // Its intent is on its way: what the watch brings of it meanwhile is older.
    if (first === undefined) return this.#reserved.get(fence.spec.node) !== key && this.#drop(key);
    if (this.#starts.has(key)) return false;
    const ageMs = wallMs - Date.parse(first.startedAt);
    this.#add(key, { node: fence.spec.node, atMs: nowMs - Math.max(0, (Number.isNaN(ageMs) ? 0 : ageMs) - SKEW_MS) }, nowMs);
    return true;
  }

  /** An intent is being written: it counts from now on; `settle` takes it back when it never came to stand. */
  reserve(fence: NodeFence, nowMs: number): void {
    const key = keyOf(fence);
    if (this.#starts.has(key)) return;
    this.#reserved.set(fence.spec.node, key);
    this.#add(key, { node: fence.spec.node, atMs: nowMs }, nowMs);
  }

  /** The write is over. One that was to begin an incident, and failed, leaves the NodeFence in the incident before it, or in none. */
  settle(node: string, fence: NodeFence | undefined): boolean {
    const key = this.#reserved.get(node);
    this.#reserved.delete(node);
    return key !== undefined && (fence === undefined || keyOf(fence) !== key) && this.#drop(key);
  }

  #drop(key: string): boolean {
    this.#inOrder = undefined;
    return this.#starts.delete(key);
  }

  #add(key: string, start: Start, nowMs: number): void {
    this.#starts.set(key, start);
    this.#inOrder = undefined;
    for (const [other, { atMs }] of this.#starts) {
      if (this.#starts.size <= KEPT_MAX && nowMs - atMs <= KEPT_MS) break;
      this.#starts.delete(other);
    }
  }
}

function keyOf({ metadata, spec, status }: NodeFence): string {
  return `${spec.node}/${metadata.uid ?? ''}/${status?.incident ?? 0}`;
}
