import type { PreservationMetrics } from '../../ports/metrics.ts';
import type { Logger } from '../../ports/recorder.ts';
import { drainNode } from './drain-run.ts';
import type { DrainOrder, DrainReach } from './drain-run.ts';
import type { DrainFacts } from './snapshot.ts';

export interface DrainerDependencies extends DrainReach {
  log: Logger;
  metrics: PreservationMetrics;
  /** The facts of this node's drain are others than before. */
  changed: (node: string) => void;
}

/** `sinceMs`: see DrainFacts. */
type OrderOfFailure = DrainOrder & Pick<DrainFacts, 'sinceMs'>;

interface Drain {
  order: OrderOfFailure;
  facts: DrainFacts;
  stopping: AbortController;
  /** Why it failed, as the log was told last: it is tried again every few seconds. */
  told?: string | undefined;
}

const AT_ONCE_MAX = 8;

/** Drains of nodes, at most one for each node, a few at the same time; those that wait for their turn count as running. */
export class Drainer {
  readonly #dependencies: DrainerDependencies;
  readonly #drains = new Map<string, Drain>();
  readonly #waiting: Drain[] = [];
  readonly #underWay = new Set<Promise<void>>();

  constructor(dependencies: DrainerDependencies) {
    this.#dependencies = dependencies;
  }

  /** By the uid of the node. */
  factsOf(uid: string): DrainFacts | undefined {
    return this.#drains.get(uid)?.facts;
  }

  /** One that runs goes on, unless it is not forced and this one is. */
  begin(order: OrderOfFailure): void {
    const { uid } = order.node;
    const known = this.#drains.get(uid);
    if (known?.facts.state === 'running') {
      if (known.facts.isForced || !order.options.isForced) return;
      this.#cancel(known, 'a forced drain takes its place');
    }
    const { sinceMs, options } = order;
    const facts = { state: 'running', atMs: this.#dependencies.clock.wallMs(), sinceMs, isForced: options.isForced } as const;
    const drain: Drain = { order, facts, stopping: new AbortController(), told: known?.told };
    this.#drains.set(uid, drain);
    this.#waiting.push(drain);
    this.#dependencies.changed(order.node.name);
    this.#next();
  }

  /** Ends what runs for nodes that are not to be drained any more. What has come of others is remembered for as long as their node `isThere`. */
  retain(wanted: ReadonlySet<string>, isThere: (order: DrainOrder) => boolean): void {
    for (const [uid, drain] of [...this.#drains]) {
      if (drain.facts.state === 'running' && !wanted.has(uid)) {
        this.#cancel(drain, 'it has lost its reason');
        this.#drains.delete(uid);
        this.#dependencies.changed(drain.order.node.name);
      } else if (!isThere(drain.order)) {
        this.#cancel(drain, 'its node is gone');
        this.#drains.delete(uid);
      }
    }
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    for (const drain of this.#drains.values()) this.#cancel(drain, 'the controller stops');
    this.#drains.clear();
    await Promise.allSettled(this.#underWay);
  }

  #cancel(drain: Drain, reason: string): void {
    drain.stopping.abort(new Error(reason));
    const at = this.#waiting.indexOf(drain);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  #next(): void {
    while (this.#underWay.size < AT_ONCE_MAX) {
      const drain = this.#waiting.shift();
      if (drain === undefined) return;
      const ended = this.#run(drain).finally(() => {
        this.#underWay.delete(ended);
        this.#next();
      });
      this.#underWay.add(ended);
    }
  }

  async #run(drain: Drain): Promise<void> {
    const { clock, log, metrics, changed } = this.#dependencies;
    const { node, options, sinceMs } = drain.order;
    const startedAtMs = clock.monotonicMs();
    let message: string | undefined;
    try {
      message = await drainNode(this.#dependencies, drain.order, drain.stopping.signal);
    } catch (error) {
      message = error instanceof Error ? error.message : String(error);
    }
    const durationMs = clock.monotonicMs() - startedAtMs;
    if (drain.stopping.signal.aborted || this.#drains.get(node.uid) !== drain) {
      log.info('drain stopped', { node: node.name, reason: message, durationMs });
      metrics.acted('drain', 'cancelled');
      return;
    }
    const base = { atMs: clock.wallMs(), sinceMs, isForced: options.isForced };
    drain.facts = message === undefined ? { ...base, state: 'succeeded' } : { ...base, state: 'failed', message };
    metrics.acted('drain', message === undefined ? 'done' : 'failed');
    if (message === undefined) log.info('node is drained', { node: node.name, durationMs });
    else log[drain.told === message ? 'debug' : 'warn']('node could not be drained', { node: node.name, reason: message, durationMs });
    drain.told = message;
    changed(node.name);
  }
}
