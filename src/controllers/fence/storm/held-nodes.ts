import type { StormHold } from '../../../domain/policies/judge.ts';
import { earliest } from '../../../domain/transition.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Queue } from '../dependencies.ts';

/** Several changes in a row are looked at together. */
const SOON_MS = 100;
/** What no change and no known time announces: a view that is fresh again, pods that hang. */
const AT_LEAST_EVERY_MS = 5_000;
/** The record says when it was last looked at. */
const RECORD_EVERY_MS = 300_000;
/** A slot that is free is free for one: the others need not all ask for it. */
const WOKEN_AT_ONCE = 16;

interface Waiting {
  /** The policies that held it when it was last decided about. */
  word: string;
  seenAtMs: number;
}

/** Who waits for a storm policy to let go, the longest waiting first; they are looked at again when it may have. */
export class HeldNodes {
  readonly #clock: Clock;
  readonly #queue: Queue;
  readonly #holdsOf: (node: string) => readonly StormHold[];
  readonly #waiting = new Map<string, Waiting>();
  /** Held once in this fence, whether or not it still is. */
  readonly #everHeld = new Set<string>();
  #cancel: (() => void) | undefined;
  #dueMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(clock: Clock, queue: Queue, holdsOf: (node: string) => readonly StormHold[]) {
    this.#clock = clock;
    this.#queue = queue;
    this.#holdsOf = holdsOf;
  }

  see(node: string, holds: readonly StormHold[]): void {
    if (holds.length === 0) {
      this.#waiting.delete(node);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    this.#waiting.set(node, { word: wordOf(holds), seenAtMs: nowMs });
    this.#everHeld.add(node);
    this.#reconcileAt(nowMs + AT_LEAST_EVERY_MS);
    const untilMs = dueOf(holds, nowMs);
    if (untilMs !== undefined) this.#reconcileAt(untilMs);
  }

  wasHeld(node: string): boolean {
    return this.#everHeld.has(node);
  }

  /** Its fence is over. */
  forget(node: string): void {
    this.#waiting.delete(node);
    this.#everHeld.delete(node);
  }

  reconcileSoon(): void {
    if (this.#waiting.size > 0) this.#reconcileAt(this.#clock.monotonicMs() + SOON_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #reconcileAt(atMs: number): void {
    if (this.#isClosed || atMs >= this.#dueMs) return;
    this.#cancel?.();
    this.#dueMs = atMs;
    this.#cancel = this.#clock.after(Math.max(0, atMs - this.#clock.monotonicMs()), () => {
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#reconcile();
    });
  }

  #reconcile(): void {
    const nowMs = this.#clock.monotonicMs();
    let woken = 0;
    let nextMs: number | undefined;
    for (const [node, { word, seenAtMs }] of this.#waiting) {
      const holds = this.#holdsOf(node);
      nextMs = earliest(nextMs, dueOf(holds, nowMs));
      if (holds.length > 0 && wordOf(holds) === word && nowMs - seenAtMs < RECORD_EVERY_MS) continue;
      if (woken === WOKEN_AT_ONCE) {
        nextMs = earliest(nextMs, nowMs + SOON_MS);
        break;
      }
      woken += 1;
      this.#queue.add(node);
    }
    if (this.#waiting.size > 0) this.#reconcileAt(Math.min(nowMs + AT_LEAST_EVERY_MS, nextMs ?? Number.POSITIVE_INFINITY));
  }
}

/** Time alone frees a node when the last of its holds ends; each is worth a look. */
function dueOf(holds: readonly StormHold[], nowMs: number): number | undefined {
  return earliest(...holds.map(({ untilMs }) => (untilMs !== undefined && untilMs > nowMs ? untilMs : undefined)));
}

function wordOf(holds: readonly StormHold[]): string {
  return holds.map(({ policy, reason }) => `${policy}/${reason}`).join(' ');
}
