import type { Cluster } from '../../../ports/cluster.ts';
import type { RemedyUse } from '../../../domain/remedy/configuration.ts';
import { hasCordoned, isCordonDone, setCordon } from '../cordon.ts';
import type { Evictions } from '../evictions.ts';
import type { RunContext, RunKind, SeenRun } from './run-kind.ts';

type Nodes = Pick<Cluster, 'get' | 'mergePatch'>;

/** The node is cordoned, or the cordon of a remedy is taken back: one write, which may be asked for again. */
export class CordonRuns implements RunKind {
  readonly #cluster: Nodes;

  constructor(cluster: Nodes) {
    this.#cluster = cluster;
  }

  async observe({ node, memory, position, run, use }: RunContext): Promise<SeenRun> {
    if (use?.remedy.kind !== 'cordon') return { outcome: 'failed', message: 'it is configured no more' };
    if (position.phase === 'starting' && !memory.hasBegun(run) && !(await hasCordoned(this.#cluster, node, run.id))) return { outcome: 'absent' };
    const isDone = await isCordonDone(this.#cluster, node, use.remedy.isCordoned);
    return isDone ? { outcome: 'succeeded' } : { outcome: 'failed', message: 'somebody has changed it back' };
  }

  async begin({ node, memory, run, use }: RunContext & { use: RemedyUse }, mayBegin: () => void): Promise<void> {
    if (use.remedy.kind === 'cordon') await setCordon(this.#cluster, node, use.remedy.isCordoned, run.id, mayBegin);
    memory.begins(run);
  }

  /** It is done at once. */
  async cancel(): Promise<void> {
    await Promise.resolve();
  }
}

/** The pods that stood there when the run began are evicted, each once; it succeeds when none of them is left. */
export class EvictRuns implements RunKind {
  readonly #cluster: Nodes;
  readonly #evictions: Evictions;

  constructor(cluster: Nodes, evictions: Evictions) {
    this.#cluster = cluster;
    this.#evictions = evictions;
  }

  async observe({ node, memory, position, run }: RunContext): Promise<SeenRun> {
    if (position.phase === 'starting' && !memory.hasBegun(run) && !(await hasCordoned(this.#cluster, node, run.id))) return { outcome: 'absent' };
    const { phase, podsUntil } = position;
    const left = await this.#evictions.left(node, memory, position);
    // None stood there when it was seen to have begun.
    const hadNone = phase !== 'starting' && podsUntil === undefined;
    if (left.pods === 0 || hadNone) return { outcome: 'succeeded', message: left.come };
    return { outcome: memory.hasEnded(run) ? 'failed' : 'running', message: left.message, isKept: left.isKept, newestPod: left.newest };
  }

  async begin(context: RunContext & { use: RemedyUse }, mayBegin: () => void): Promise<void> {
    const { node, memory, run, use } = context;
    const isCordoning = use.remedy.kind === 'evict' && use.remedy.cordons;
    const hasAsked = isCordoning && (await setCordon(this.#cluster, node, true, run.id, mayBegin));
    // Evictions follow without asking storm policies again.
    if (!hasAsked) mayBegin();
    memory.begins(run);
  }

  async proceed({ node, memory, position }: RunContext, mayBegin: () => void): Promise<void> {
    await this.#evictions.evict(node, memory, position, mayBegin);
  }

  /** Nothing more is asked for. */
  async cancel(): Promise<void> {
    await Promise.resolve();
  }
}
