interface Manager {
  manager?: string;
  fieldsV1?: unknown;
}

interface MarkedNode {
  metadata: { managedFields?: readonly Manager[] };
  spec: { unschedulable?: boolean };
}

/**
 * Beside a mark of ours stands a cordon of somebody else: ours was taken away, and another set, by whom the API server tells. Where it tells nothing the mark
 * decides.
 */
export function isCordonOfAnother(node: MarkedNode, mark: string): boolean {
  const cordoner = managerOf(node, ['spec', 'unschedulable']);
  const marker = managerOf(node, ['metadata', 'annotations', mark]);
  return node.spec.unschedulable === true && cordoner !== undefined && marker !== undefined && cordoner !== marker;
}

/** Who set the field at `path` as it stands. */
function managerOf({ metadata: { managedFields = [] } }: MarkedNode, path: readonly string[]): string | undefined {
  return managedFields.find(({ fieldsV1 }) => {
    let fields: unknown = fieldsV1;
    for (const name of path) fields = (fields as Record<string, unknown> | undefined)?.[`f:${name}`];
    return fields !== undefined;
  })?.manager;
}
