import { managerOf } from './managed-fields.ts';
import type { ManagedEntry } from './managed-fields.ts';

interface MarkedNode {
  metadata: { managedFields?: readonly ManagedEntry[] };
  spec: { unschedulable?: boolean };
}

/**
 * Beside a mark of ours stands a cordon of somebody else: ours was taken away, and another set, by whom the API server tells. Where it tells nothing the mark
 * decides.
 */
export function isCordonOfAnother(node: MarkedNode, mark: string): boolean {
  const cordoner = managerOf(node.metadata.managedFields ?? [], ['spec', 'unschedulable'])?.manager;
  const marker = managerOf(node.metadata.managedFields ?? [], ['metadata', 'annotations', mark])?.manager;
  return node.spec.unschedulable === true && cordoner !== undefined && marker !== undefined && cordoner !== marker;
}
