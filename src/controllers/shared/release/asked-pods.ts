import { backOffMs } from '../../../domain/back-off.ts';
import { bounded } from '../../../domain/node-fence.ts';
import type { KeptPod } from '../../../domain/node-fence.ts';

/** Before a pod that was refused is asked for again; twice as long each time. */
const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;
/** Before the answer to a call that is under way is looked for again. */
const POLL_MS = 5_000;
const WORDS_MAX = 256;

/** A pod, or an object without a namespace. */
export interface AskedObject {
  uid: string | undefined;
  name: string;
  namespace?: string;
}

interface Refusal {
  pod: string;
  refusals: number;
  notBeforeMs: number;
  by: string;
  isUnsure: boolean;
  isUnderWay: boolean;
}

/** Why it was not let go. */
export interface Refused {
  by: string;
  /** It is unknown whether it was released nevertheless. */
  isUnsure: boolean;
  /** Absent: longer with each refusal. */
  againInMs?: number;
}

/**
 * Pods of one node, and its VolumeAttachments, that a release asked for and did not get, and when each is asked for again: one that hangs or is refused
 * keeps none of the others. In memory only, and bounded by what is on the node; what people and a successor must know of it stands in the NodeFence.
 */
export class AskedPods {
  readonly #refusals = new Map<string, Refusal>();

  /** A call has not been answered: it may still take effect. */
  get isUnderWay(): boolean {
    return [...this.#refusals.values()].some(({ isUnderWay }) => isUnderWay);
  }

  /** Forgets every other pod, but one that a call is under way for. */
  keepOnly(pods: readonly AskedObject[]): void {
    const keys = new Set(pods.map(keyOf));
    for (const [key, { isUnderWay }] of this.#refusals) if (!isUnderWay && !keys.has(key)) this.#refusals.delete(key);
  }

  mayAsk(pod: AskedObject, nowMs: number): boolean {
    const refusal = this.#refusals.get(keyOf(pod));
    return refusal === undefined || (!refusal.isUnderWay && refusal.notBeforeMs <= nowMs);
  }

  asks(pod: AskedObject): void {
    const refusals = this.#refusals.get(keyOf(pod))?.refusals ?? 0;
    const by = 'the API server has not answered yet';
    this.#refusals.set(keyOf(pod), { pod: nameOf(pod), refusals, notBeforeMs: 0, by, isUnsure: true, isUnderWay: true });
  }

  /** It is gone, or was not asked for after all. */
  isOver(pod: AskedObject): void {
    this.#refusals.delete(keyOf(pod));
  }

  refused(pod: AskedObject, { by, isUnsure, againInMs }: Refused, nowMs: number): void {
    const before = this.#refusals.get(keyOf(pod))?.refusals ?? 0;
    const refusals = againInMs === undefined ? before + 1 : before;
    const waitMs = againInMs ?? backOffMs(refusals, FIRST_MS, LONGEST_MS);
    const refusal = { pod: nameOf(pod), refusals, notBeforeMs: nowMs + waitMs, by: bounded(by, WORDS_MAX), isUnsure, isUnderWay: false };
    this.#refusals.set(keyOf(pod), refusal);
  }

  /** A call for it has not been answered: it may have been let go by now. */
  isAwaited(pod: AskedObject): boolean {
    return this.#refusals.get(keyOf(pod))?.isUnderWay === true;
  }

  wasAsked(pod: AskedObject): boolean {
    return this.#refusals.has(keyOf(pod));
  }

  /** Those of the pods that were asked for in vain. */
  keptOf(pods: readonly AskedObject[]): KeptPod[] {
    return pods.flatMap((pod) => {
      const refusal = this.#refusals.get(keyOf(pod));
      return refusal === undefined ? [] : [{ pod: refusal.pod, by: refusal.by, ...(refusal.isUnsure ? { isUnsure: true } : {}) }];
    });
  }

  /** Whole milliseconds until the first of them may be asked for again, as the NodeFence takes them; 0 where one never was. */
  againInMs(pods: readonly AskedObject[], nowMs: number): number {
    const waits = pods.map((pod) => {
      const refusal = this.#refusals.get(keyOf(pod));
      if (refusal === undefined) return 0;
      return refusal.isUnderWay ? POLL_MS : Math.max(1, Math.ceil(refusal.notBeforeMs - nowMs));
    });
    return Math.min(...waits, LONGEST_MS);
  }
}

function keyOf(asked: AskedObject): string {
  return asked.uid ?? nameOf(asked);
}

function nameOf({ namespace, name }: AskedObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
