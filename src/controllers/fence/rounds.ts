import type { FenceDependencies } from './dependencies.ts';
import { readyOf } from './observation.ts';

/** Several changes of the configuration in a row are looked at together: a roll-out changes thousands of ConfigMaps. */
const SOON_MS = 20;
/** So many nodes in one turn: what fails or is answered meanwhile comes between two of them. */
const AT_ONCE = 64;
const PAUSE_MS = 5;

/** Rounds over all nodes: who may be about to be fenced at once, those that are well after them, some at a time. */
export class Rounds {
  readonly #dependencies: Pick<FenceDependencies, 'clock' | 'listers' | 'queue' | 'fastDetection'>;
  #rest: Iterator<string> | undefined;
  #isWantedAgain = false;
  #cancelSoon: (() => void) | undefined;
  #cancelNext: (() => void) | undefined;
  #isClosed = false;

  constructor(dependencies: Pick<FenceDependencies, 'clock' | 'listers' | 'queue' | 'fastDetection'>) {
    this.#dependencies = dependencies;
  }

  /** Whoever asks while a round is under way has the next one, so that changes without end keep nobody from their turn. */
  begin(): void {
    for (const name of this.#pressing()) this.#dependencies.queue.add(name);
    this.#isWantedAgain = this.#rest !== undefined;
    if (this.#rest === undefined) this.#start();
  }

  /** The same in a moment, once for all who ask until then. */
  beginSoon(): void {
    this.#cancelSoon ??= this.#dependencies.clock.after(SOON_MS, () => {
      this.#cancelSoon = undefined;
      if (!this.#isClosed) this.begin();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSoon?.();
    this.#cancelNext?.();
  }

  #start(): void {
    // One that was to follow in a moment is this one.
    this.#cancelNext?.();
    this.#isWantedAgain = false;
    this.#rest = this.#everybody();
    this.#goOn();
  }

  #goOn(): void {
    const { queue } = this.#dependencies;
    for (let count = 0; count < AT_ONCE; count += 1) {
      const next = this.#rest?.next();
      if (next === undefined || next.done === true) {
        this.#rest = undefined;
        if (this.#isWantedAgain) this.#later(() => this.#start());
        return;
      }
      queue.add(next.value);
    }
    this.#later(() => this.#goOn());
  }

  #later(then: () => void): void {
    this.#cancelNext = this.#dependencies.clock.after(PAUSE_MS, () => {
      if (!this.#isClosed) then();
    });
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
