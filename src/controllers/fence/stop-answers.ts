import { NODE_FENCE_STOPS } from '../../ports/resources.ts';
import type { NodeFenceStop } from '../../ports/resources.ts';
import { SharedQuestion } from '../../ports/shared-question.ts';
import type { FenceDependencies } from './dependencies.ts';

/** P6: a stop holds within 2 s, so that nothing begins on an older answer than this. */
const ANSWER_MAX_AGE_MS = 1_500;
/** While a run waits for its device: a slow one must not find every answer too old. */
const REFRESH_MS = 500;

/**
 * What the last consistent read showed of stops, for all runs of this process. A watch may hang, and a process may stand still between a look and a send: the send itself
 * asks, without any wait, how old the answer is.
 */
export class StopAnswers {
  readonly #dependencies: Pick<FenceDependencies, 'cluster' | 'clock' | 'log' | 'options'>;
  /** Monotonic time before the last answered question was sent. */
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #stops: readonly NodeFenceStop[] = [];
  readonly #waiting = new Set<string>();
  #cancel: (() => void) | undefined;
  /** In a storm a thousand runs ask. */
  readonly #question = new SharedQuestion(() => this.#send());

  constructor(dependencies: Pick<FenceDependencies, 'cluster' | 'clock' | 'log' | 'options'>) {
    this.#dependencies = dependencies;
  }

  /** Reads all stops, by a question that is sent after this call; the one that stands on this node. Rejects as the cluster port does. */
  async ask(node: string): Promise<NodeFenceStop | undefined> {
    const stops = await this.#question.ask();
    return stops.find((stop) => stopsNode(stop, node));
  }

  /** From now until `over` the answer is kept fresh for this run. */
  keepFreshFor(run: string): void {
    this.#waiting.add(run);
    this.#plan();
  }

  over(run: string): void {
    this.#waiting.delete(run);
    if (this.#waiting.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Why nothing may begin on this node by the last answer; `undefined` when it may. */
  refusalFor(node: string): string | undefined {
    const stop = this.#stops.find((candidate) => stopsNode(candidate, node));
    if (stop !== undefined) return `NodeFenceStop ${stop.metadata.name} is active`;
    const ageMs = this.#dependencies.clock.monotonicMs() - this.#askedAtMs;
    if (ageMs <= (this.#dependencies.options.stopAnswerMaxAgeMs ?? ANSWER_MAX_AGE_MS)) return undefined;
    return `whether a stop is active was last answered ${Math.round(ageMs)} ms ago; it is asked again`;
  }

  async #send(): Promise<readonly NodeFenceStop[]> {
    const askedAtMs = this.#dependencies.clock.monotonicMs();
    const stops = await this.#dependencies.cluster.list(NODE_FENCE_STOPS);
    if (askedAtMs >= this.#askedAtMs) {
      this.#askedAtMs = askedAtMs;
      this.#stops = stops;
    }
    return stops;
  }

  /** One timer for all runs, also where one begins while stops are being read. */
  #plan(): void {
    if (this.#waiting.size === 0) return;
    this.#cancel ??= this.#dependencies.clock.after(REFRESH_MS, () => void this.#refresh());
  }

  async #refresh(): Promise<void> {
    this.#cancel = undefined;
    try {
      await this.ask('');
    } catch (error) {
      this.#dependencies.log.debug('stops could not be read again', { error: String(error) });
    }
    this.#plan();
  }
}

export function stopsNode({ spec }: NodeFenceStop, node: string): boolean {
  return spec.all === true || spec.node === node;
}
