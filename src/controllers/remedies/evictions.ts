import { nextBatch, podName, releasePlan } from '../../domain/release-plan.ts';
import type { PodFacts } from '../../domain/release-plan.ts';
import type { Plan } from '../../domain/plan.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import { NODES, PODS } from '../../ports/resources.ts';
import { Conflict } from '../shared/conflict.ts';
import { factsOf } from '../shared/release/pod-facts.ts';
import { letGo } from '../shared/release/pods.ts';
import type { Going, NodeMemory } from './memory.ts';

/** What is left on a node that lives of the pods that are to go. */
export interface Left {
  pods: number;
  /** Creation of the newest of them. */
  newest?: string | undefined;
  /** Pods that have come since and stay, in words. */
  come?: string | undefined;
  /** How many there are, and why some stay. */
  message: string;
  /** Something keeps some of them. */
  isKept: boolean;
}

interface Pods {
  /** To go. */
  pods: readonly PodFacts[];
  /** They have come since. */
  come: readonly PodFacts[];
  /** Creation of the newest of all. */
  newest: string;
}

const PACE_WINDOW_MS = 60_000;
const NAMED_MAX = 3;

/** Pods of a node that lives, evicted under their PodDisruptionBudgets, never by force. */
export class Evictions {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #planOf: (node: Node) => Plan;
  /** Evictions of the last minute by node, for `pods_per_minute`. */
  readonly #paced = new Map<string, number[]>();
  readonly #outliving = new Set<Promise<unknown>>();

  constructor(cluster: Cluster, clock: Clock, planOf: (node: Node) => Plan) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#planOf = planOf;
  }

  /** Those that have come since stay, or who comes back to the same node would go again for ever. */
  async left(node: Node, memory: NodeMemory, of: Going): Promise<Left> {
    return this.#leftOf(await this.#read(node, memory, of), memory);
  }

  /** Asks for those that are due. `mayBegin`: throws where a stop or a hold keeps them; asked in the turn of each. */
  async evict(node: Node, memory: NodeMemory, of: Going, mayBegin: () => void): Promise<void> {
    const { name, uid } = node.metadata;
    const { pods, come, choice } = await this.#read(node, memory, of);
    const nowMs = this.#clock.monotonicMs();
    memory.asked.keepOnly([...pods, ...come]);
    const due = pods.filter((pod) => !pod.isTerminating && memory.asked.mayAsk(pod, nowMs));
    const batch = nextBatch({ batched: due }, choice).slice(0, this.#room(name, choice.podsPerMinute, nowMs));
    const course = { freed: [] as PodFacts[], gone: [] as PodFacts[] };
    const order = {
      asked: memory.asked,
      mayGoOn: mayBegin,
      verify: async () => {
        const now = await this.#cluster.get(NODES, name);
        if (now?.metadata.uid !== uid) throw new Conflict(`Node ${name} is another one`);
      },
      outlives: (call: Promise<unknown>) => {
        const ended = call.finally(() => this.#outliving.delete(ended));
        this.#outliving.add(ended);
      },
    };
    try {
      await letGo({ cluster: this.#cluster, clock: this.#clock }, order, batch, 'evict', course);
    } finally {
      // What is not answered yet may go as well.
      const gone = batch.filter((pod) => course.freed.includes(pod) || memory.asked.isAwaited(pod));
      if (choice.podsPerMinute !== undefined) this.#paced.set(name, [...(this.#paced.get(name) ?? []), ...gone.map(() => nowMs)]);
    }
  }

  forget(node: string): void {
    this.#paced.delete(node);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#outliving);
  }

  async #read(node: Node, memory: NodeMemory, of: Going): Promise<Pods & { choice: Parameters<typeof releasePlan>[1] }> {
    const { podsPerMinute, priorityOrder } = this.#planOf(node);
    const choice = { mode: 'evict' as const, podsPerMinute, priorityOrder };
    const listed = await this.#cluster.list(PODS, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
    const created = new Map(listed.map(({ metadata }) => [metadata.uid, metadata.creationTimestamp]));
    const { pods } = releasePlan({ kind: 'alive' }, choice, listed.filter(runs).map(factsOf), []);
    const standing = memory.standing(
      of,
      pods.map(({ uid }) => ({ uid, created: created.get(uid) })),
    );
    const stood = ({ uid }: PodFacts): boolean => standing.has(uid);
    const newest = pods.map(({ uid }) => created.get(uid) ?? '').reduce((one, other) => (one > other ? one : other), '');
    return { pods: pods.filter(stood), come: pods.filter((pod) => !stood(pod)), newest, choice };
  }

  /** How many may still go within this minute. */
  #room(node: string, podsPerMinute: number | undefined, nowMs: number): number {
    if (podsPerMinute === undefined) return Infinity;
    const recent = (this.#paced.get(node) ?? []).filter((atMs) => nowMs < atMs + PACE_WINDOW_MS);
    this.#paced.set(node, recent);
    return Math.max(0, podsPerMinute - recent.length);
  }

  #leftOf({ pods, come, newest }: Pods, memory: NodeMemory): Left {
    const [first] = come;
    const more = come.length === 1 ? 'has' : `and ${come.length - 1} more have`;
    const told = first === undefined ? {} : { come: `${podName(first)} ${more} come since, and stay${come.length === 1 ? 's' : ''}` };
    const [left] = pods;
    if (left === undefined) return { pods: 0, message: '', isKept: false, ...told };
    const kept = memory.asked.keptOf(pods);
    const named = kept.slice(0, NAMED_MAX).map(({ pod, by }) => `${pod}: ${by}`);
    const others = kept.length > NAMED_MAX ? `, and ${kept.length - NAMED_MAX} more` : '';
    const message =
      kept.length > 0
        ? `incomplete, ${kept.length} of ${pods.length} pods are kept: ${named.join('; ')}${others}`
        : pods.length === 1
          ? `1 pod is left: ${podName(left)}`
          : `${pods.length} pods are left, such as ${podName(left)}`;
    return { pods: pods.length, message, isKept: kept.length > 0, newest, ...told };
  }
}

/** Those that have ended are in nobody's way. */
function runs({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}
