import { InTurns, PAUSE_MS } from '../shared/in-turns.ts';
import type { FenceDependencies } from './dependencies.ts';
import { readyOf } from './observation.ts';

/** Several changes of the configuration in a row are looked at together: a roll-out changes thousands of ConfigMaps. */
const SOON_MS = 20;

/** Rounds over all nodes: who may be about to be fenced at once, those that are well after them, some at a time. */
export class Rounds {
  readonly #dependencies: Pick<FenceDependencies, 'clock' | 'listers' | 'queue' | 'fastDetection'>;
  readonly #turns: InTurns;
  #isWantedAgain = false;
  #cancelSoon: (() => void) | undefined;
  #cancelNext: (() => void) | undefined;
  #isClosed = false;

  constructor(dependencies: Pick<FenceDependencies, 'clock' | 'listers' | 'queue' | 'fastDetection'>) {
    this.#dependencies = dependencies;
    this.#turns = new InTurns(dependencies.clock);
  }

  /** Whoever asks while a round is under way has the next one, so that changes without end keep nobody from their turn. */
  begin(): void {
    if (this.#isClosed) return;
    for (const name of this.#pressing()) this.#dependencies.queue.add(name);
    this.#isWantedAgain = this.#turns.isUnderWay;
    if (!this.#turns.isUnderWay) this.#start();
  }

  /** The same in a moment, once for all who ask until then. */
  beginSoon(): void {
    this.#cancelSoon ??= this.#dependencies.clock.after(SOON_MS, () => {
      this.#cancelSoon = undefined;
      this.begin();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSoon?.();
    this.#cancelNext?.();
    this.#turns.close();
  }

  #start(): void {
    // One that was to follow in a moment is this one.
    this.#cancelNext?.();
    this.#isWantedAgain = false;
    const { queue, clock } = this.#dependencies;
    const onEnd = (): void => {
      if (this.#isWantedAgain) this.#cancelNext = clock.after(PAUSE_MS, () => this.#start());
    };
    this.#turns.begin(this.#everybody(), (name) => queue.add(name), onEnd);
  }

  *#pressing(): Generator<string> {
    const { listers, fastDetection } = this.#dependencies;
    for (const fence of listers.fences.all()) if (fence.status?.state !== 'final') yield fence.spec.node;
    for (const node of listers.nodes.all())
      if (readyOf(node)?.status !== 'True' || fastDetection?.failureOf(node.metadata.name) !== undefined) yield node.metadata.name;
  }

  /** A report or a NodeFence may have outlived its Node. */
  *#everybody(): Generator<string> {
    const { nodes, fences, reports } = this.#dependencies.listers;
    for (const { metadata } of nodes.all()) yield metadata.name;
    for (const { spec } of fences.all()) if (nodes.get(spec.node) === undefined) yield spec.node;
    for (const { metadata } of reports.all()) if (nodes.get(metadata.name) === undefined) yield metadata.name;
  }
}
