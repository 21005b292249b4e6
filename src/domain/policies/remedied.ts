import type { StormFence, StormNode, StormView } from './view.ts';

/** What remedies do to a node now. `asked`: one is written down. `begun`: one runs. `acted`: one has run, and its condition is not over. `over`: only its begin counts. */
export interface RemedyStage {
  readonly kind: 'asked' | 'begun' | 'acted' | 'over';
  /** When its last remedy began, monotonic. */
  readonly beganAtMs?: number;
}

/**
 * The picture by which remedies are judged: a node that one was begun on counts as unhealthy, and holds a slot while it runs, so that no fault of a monitor
 * takes the whole cluster. Fences are judged without it: no remedy keeps a failed node from its fence.
 */
export function withRemedies(view: StormView, stages: ReadonlyMap<string, RemedyStage>): StormView {
  const nodes = new Map(view.nodes);
  const starts = [...view.starts];
  for (const [name, stage] of stages) {
    const node = nodes.get(name);
    if (node === undefined) continue;
    nodes.set(name, remedied(node, stage));
    if (stage.beganAtMs !== undefined) starts.push({ node: name, atMs: stage.beganAtMs });
  }
  return { ...view, nodes, starts: starts.sort((one, other) => one.atMs - other.atMs) };
}

/** One that somebody asks for without a NodeFence, which would say so. */
export function askedFor(node: StormNode): StormNode {
  return remedied(node, { kind: 'asked' });
}

function remedied(node: StormNode, { kind }: RemedyStage): StormNode {
  // One that has ended asks for nothing, and hides no remedy.
  const open = node.fence?.state === 'final' ? undefined : node.fence;
  const fence: StormFence = { state: 'new', holdsSlot: false, ...open, isRequested: true, isRemedy: true };
  switch (kind) {
    case 'asked':
      return { ...node, fence };
    case 'begun':
      return { ...node, health: 'failed', fence: { ...fence, holdsSlot: true } };
    case 'acted':
      return { ...node, health: 'failed' };
    case 'over':
      return node;
  }
}
