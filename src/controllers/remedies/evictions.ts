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
import type { NodeMemory } from './memory.ts';

/** What is left on a node that lives. */
export interface Left {
  pods: number;
  /** How many there are, and why some stay. */
  message: string;
  /** Something keeps some of them. */
  isKept: boolean;
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

  async left(node: Node, memory: NodeMemory): Promise<Left> {
    const { pods } = await this.#read(node);
    return this.#leftOf(pods, memory);
  }

  /** Asks for those that are due. `mayBegin`: throws where a stop or a hold keeps them; asked in the turn of each. */
  async evict(node: Node, memory: NodeMemory, mayBegin: () => void): Promise<Left> {
    const { name, uid } = node.metadata;
    const { pods, choice } = await this.#read(node);
    const nowMs = this.#clock.monotonicMs();
    memory.asked.keepOnly(pods);
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
    await letGo({ cluster: this.#cluster, clock: this.#clock }, order, batch, 'evict', course);
    if (choice.podsPerMinute !== undefined) this.#paced.set(name, [...(this.#paced.get(name) ?? []), ...course.freed.map(() => nowMs)]);
    return this.#leftOf(
      pods.filter((pod) => !course.gone.includes(pod)),
      memory,
    );
  }

  forget(node: string): void {
    this.#paced.delete(node);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#outliving);
  }

  async #read(node: Node): Promise<{ pods: readonly PodFacts[]; choice: Parameters<typeof releasePlan>[1] }> {
    const { podsPerMinute, priorityOrder } = this.#planOf(node);
    const choice = { mode: 'evict' as const, podsPerMinute, priorityOrder };
    const listed = await this.#cluster.list(PODS, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
    return { pods: releasePlan({ kind: 'alive' }, choice, listed.filter(runs).map(factsOf), []).pods, choice };
  }

  /** How many may still go within this minute. */
  #room(node: string, podsPerMinute: number | undefined, nowMs: number): number {
    if (podsPerMinute === undefined) return Infinity;
    const recent = (this.#paced.get(node) ?? []).filter((atMs) => nowMs < atMs + PACE_WINDOW_MS);
    this.#paced.set(node, recent);
    return Math.max(0, podsPerMinute - recent.length);
  }

  #leftOf(pods: readonly PodFacts[], memory: NodeMemory): Left {
    const kept = memory.asked.keptOf(pods);
    if (pods.length === 0) return { pods: 0, message: '', isKept: false };
    const named = kept.slice(0, NAMED_MAX).map(({ pod, by }) => `${pod}: ${by}`);
    const more = kept.length > NAMED_MAX ? `, and ${kept.length - NAMED_MAX} more` : '';
    if (kept.length > 0) {
      const message = `incomplete, ${kept.length} of ${pods.length} pods are kept: ${named.join('; ')}${more}`;
      return { pods: pods.length, message, isKept: true };
    }
    return { pods: pods.length, message: `${pods.length} pods are left, such as ${pods[0] === undefined ? '' : podName(pods[0])}`, isKept: false };
  }
}

/** Those that have ended are in nobody's way. */
function runs({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}
