import type { Lister } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { Chains } from './actions.ts';
import type { AttestedNodes } from './attested-nodes.ts';
import type { Heartbeats } from './heartbeats.ts';

export interface ForgottenNodesParts {
  nodes: Pick<AttestedNodes, 'all'>;
  clusterNodes: Pick<Lister<Node>, 'get' | 'synced'>;
  heartbeats: Pick<Heartbeats, 'last'>;
  chains: Chains;
}

/** Longer than anybody lives whose grants were ended: what stands in the Lease of that is needed by nobody then. */
const LEFT_MS = 3_600_000;

/** Leases of nodes whose Node is gone, and that nobody has written for long, as this leader saw it: else they pile up where nodes come and go. */
export class ForgottenNodes {
  readonly #parts: ForgottenNodesParts;
  /** Since when this version of the Lease stands, and the Node is gone. */
  readonly #since = new Map<string, { version: string; atMs: number }>();

  constructor(parts: ForgottenNodesParts) {
    this.#parts = parts;
  }

  reconcile(nowMs: number): void {
    const { nodes, clusterNodes, heartbeats, chains } = this.#parts;
    const left = new Set<string>();
    for (const { node, lease } of nodes.all()) {
      if (!clusterNodes.synced || clusterNodes.get(node) !== undefined) continue;
      left.add(node);
      const { uid, resourceVersion: version } = lease.metadata;
      if (uid === undefined || version === undefined) continue;
      const known = this.#since.get(node);
      const since = known?.version === version ? known : { version, atMs: nowMs };
      this.#since.set(node, since);
      const lastMs = Math.max(since.atMs, heartbeats.last(node)?.atMs ?? since.atMs);
      chains.want(keyOf(node), nowMs - lastMs >= LEFT_MS ? { kind: 'forget-node', node, uid, version } : undefined);
    }
    for (const node of [...this.#since.keys()]) {
      if (left.has(node)) continue;
      this.#since.delete(node);
      chains.want(keyOf(node), undefined);
    }
  }
}

function keyOf(node: string): string {
  return `lease of ${node}`;
}
