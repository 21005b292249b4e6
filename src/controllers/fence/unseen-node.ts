import { NODES } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';

/** Before a Node is looked for again that the watch has not shown yet. */
const SEEN_AGAIN_MS = 5_000;

/**
 * A request may name a Node that this process has not seen yet, behind an outage of its watch alone: its NodeFence is not removed for that, to be asked for
 * again at once, and removed again, until the watch delivers.
 */
export async function isUnseen({ cluster, queue }: Pick<FenceDependencies, 'cluster' | 'queue'>, name: string): Promise<boolean> {
  if ((await cluster.get(NODES, name)) === undefined) return false;
  queue.add(name, SEEN_AGAIN_MS);
  return true;
}
