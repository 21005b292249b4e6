import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { NODE_FENCE_REMEDIATION } from '../../src/ports/remediation.ts';
import type { NodeFenceRemediation, NodeFenceRemediationSpec } from '../../src/ports/remediation.ts';
import { until } from './waiting.ts';
import type { World } from './world.ts';

const { requests: REQUESTS } = NODE_FENCE_REMEDIATION;
const NAMESPACE = 'default';

/** As `kubectl apply -k config/remediation`. */
export function installRemediation({ transport }: Pick<World, 'transport'>): Promise<void> {
  return sendShipped(transport, ['remediation']);
}

/** A NodeHealthCheck of medik8s, as far as a remediator can tell. */
export class HealthCheck {
  readonly #world: Pick<World, 'cluster'>;
  readonly #name: string;

  constructor(world: Pick<World, 'cluster'>, node: string) {
    this.#world = world;
    this.#name = `${node}-x7k2p`;
  }

  /** The node is unhealthy. */
  async asks(node: string, spec: NodeFenceRemediationSpec = {}): Promise<void> {
    const annotations = { 'remediation.medik8s.io/node-name': node, 'remediation.medik8s.io/template-name': 'gentle' };
    await this.#world.cluster.create(REQUESTS, { metadata: { name: this.#name, namespace: NAMESPACE, annotations }, spec });
  }

  /** The node is healthy, or somebody has given up. */
  async deletes(): Promise<void> {
    await this.#world.cluster.remove(REQUESTS, this.#name, { namespace: NAMESPACE });
  }

  /** Escalates to another remediator. */
  async timesOut(at: string): Promise<void> {
    const metadata = { annotations: { 'remediation.medik8s.io/nhc-timed-out': at } };
    await this.#world.cluster.mergePatch(REQUESTS, this.#name, { metadata }, { namespace: NAMESPACE });
  }

  found(): Promise<NodeFenceRemediation | undefined> {
    return this.#world.cluster.get(REQUESTS, this.#name, NAMESPACE);
  }

  /** Waits until the conditions say so: `True Unknown` is Processing and Succeeded. */
  reads(words: string, withinMs = 30_000): Promise<true> {
    const now = async (): Promise<string> => {
      const conditions = (await this.found())?.status?.conditions ?? [];
      return ['Processing', 'Succeeded'].map((type) => conditions.find((each) => each.type === type)?.status ?? 'absent').join(' ');
    };
    return until(`Processing and Succeeded are ${words}`, async () => ((await now()) === words ? true : undefined), withinMs, now);
  }

  isGone(withinMs = 30_000): Promise<true> {
    return until('the request is gone', async () => ((await this.found()) === undefined ? true : undefined), withinMs);
  }
}
