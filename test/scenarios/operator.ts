import { fenceName } from '../../src/domain/node-fence.ts';
import type { FenceCondition, FenceState, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { KubeObject, Node } from '../../src/ports/objects.ts';
import { EVENTS, NODE_FENCE_STOPS, NODE_FENCES, NODES, SECRETS } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { FENCE_NAMESPACE, secretObject } from './configuration.ts';
import { until } from './waiting.ts';
import type { World } from './world.ts';

interface EventObject extends KubeObject {
  involvedObject: { kind: string; name: string };
  reason: string;
  message: string;
}

/** A person with kubectl: what he sees of a fence, and what he does. */
export class Operator {
  readonly #world: Pick<World, 'cluster'>;

  constructor(world: Pick<World, 'cluster'>) {
    this.#world = world;
  }

  fence(node: string): Promise<NodeFence | undefined> {
    return this.#world.cluster.get(NODE_FENCES, fenceName(node));
  }

  async status(node: string): Promise<NodeFenceStatus | undefined> {
    return (await this.fence(node))?.status;
  }

  /** Waits until the status of the node's fence is as asked, and returns it. */
  sees(node: string, what: string, holds: (status: NodeFenceStatus) => boolean, withinMs = 25_000): Promise<NodeFenceStatus> {
    const ask = async (): Promise<NodeFenceStatus | undefined> => {
      const status = await this.status(node);
      return status !== undefined && holds(status) ? status : undefined;
    };
    return until(`the fence of ${node} is ${what}`, ask, withinMs, async () => summary(await this.status(node)));
  }

  seesState(node: string, state: FenceState): Promise<NodeFenceStatus> {
    return this.sees(node, state, (status) => status.state === state);
  }

  /** The fence has given up: what it says then is for this person. */
  seesFailure(node: string): Promise<NodeFenceStatus> {
    return this.sees(node, 'failed for good', (status) => status.state === 'error' && status.outcome === 'failed');
  }

  seesRecovery(node: string): Promise<NodeFenceStatus> {
    return this.sees(node, 'recovered', (status) => status.state === 'final' && status.outcome === 'recovered');
  }

  async node(name: string): Promise<Node> {
    const node = await this.#world.cluster.get(NODES, name);
    if (node === undefined) throw new Error(`there is no Node ${name}`);
    return node;
  }

  /** Changes a Node as `kubectl taint`, `label` and `cordon` do: from what stands. */
  async changeNode(name: string, change: (node: Node) => object): Promise<void> {
    await this.#world.cluster.mergePatch(NODES, name, change(await this.node(name)));
  }

  async stop(node: string, name: string, reason: string): Promise<void> {
    await this.#world.cluster.create(NODE_FENCE_STOPS, { metadata: { name }, spec: { node, reason } });
  }

  async removeStop(name: string): Promise<void> {
    await this.#world.cluster.remove(NODE_FENCE_STOPS, name);
  }

  /** Creates the Secret, or writes it anew as a rotation does. */
  async writeSecret(name: string, values: Readonly<Record<string, string>>): Promise<void> {
    const { cluster } = this.#world;
    const secret = secretObject(name, values);
    if ((await cluster.get(SECRETS, name, FENCE_NAMESPACE)) === undefined) await cluster.create(SECRETS, secret);
    else await cluster.mergePatch(SECRETS, name, { data: secret.data }, { namespace: FENCE_NAMESPACE });
  }

  /** Waits for an Event about a NodeFence or Node, and returns its words. */
  async hears(kind: 'NodeFence' | 'Node', name: string, reason: string): Promise<string> {
    return until(`an Event ${reason} about ${kind} ${name}`, async () => {
      const events = (await this.#world.cluster.list(EVENTS)) as EventObject[];
      return events.find((event) => event.involvedObject.kind === kind && event.involvedObject.name === name && event.reason === reason)?.message;
    });
  }
}

export function condition(status: NodeFenceStatus, type: FenceCondition['type']): string {
  const found = status.conditions.find((candidate) => candidate.type === type);
  return found === undefined ? 'absent' : `${found.status} ${found.reason}`;
}

/** Every run of the journal in the order of its beginning: `redfish-off off refused`. */
export function journal(status: NodeFenceStatus): string[] {
  return status.journal.map(({ method, action, result }) => `${method} ${action} ${result ?? 'open'}`);
}

/** Status of the Node's Ready condition. */
export function readiness(node: Node): string | undefined {
  return node.status.conditions?.find(({ type }) => type === 'Ready')?.status;
}

function summary(status: NodeFenceStatus | undefined): string {
  if (status === undefined) return 'there is none';
  return `${status.state}, step ${status.step}, ${status.message ?? ''}, journal: ${journal(status).join('; ')}`;
}
