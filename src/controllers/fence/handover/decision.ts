import type { NodeFence } from '../../../ports/resources.ts';

/** Another replica that stands for election, as it announced itself. */
export interface Candidate {
  id: string;
  /** Absent: it runs on no node of this cluster. */
  node?: string;
  mode: 'observe' | 'enforce';
  isAlive: boolean;
}

/** The class of a node, as seen from here. `target`: its fence is open and it is to be fenced. */
export type NodeClass = 'well' | 'failed' | 'target';

export interface HandOverView {
  ownNode: string | undefined;
  mode: 'observe' | 'enforce';
  candidates: readonly Candidate[];
  classOf: (node: string) => NodeClass;
  /** Candidates that had time enough to take a free Lease and did not: nothing is handed to them again. */
  declined: ReadonlySet<string>;
}

export type HandOver = { kind: 'none' } | { kind: 'hand-over'; to: Candidate } | { kind: 'keep' };

/** A candidate takes a free Lease within seconds; one that does not for so long is no use. */
const DEFER_MS = 60_000;

/**
 * P10: the leader whose own node is the target hands over to a replica on a well node, for it may not fence that node itself. Without one it keeps leading, and a
 * person must hear of it. Who takes over looks at nodes in the same way, so that nothing is handed back and forth: not both of two nodes are well and a target.
 */
export function decideHandOver(view: HandOverView): HandOver {
  const { ownNode, mode, classOf } = view;
  if (ownNode === undefined || mode === 'observe' || classOf(ownNode) !== 'target') return { kind: 'none' };
  const to = successor(view);
  return to === undefined ? { kind: 'keep' } : { kind: 'hand-over', to };
}

/**
 * May this replica take a Lease that has been free for so long? On a failed node, or blind, it would only hold what another could fence: it lets a replica on a
 * well node go first, but not for ever.
 */
export function mayLead(view: HandOverView, freeForMs: number, isBlind: boolean): boolean {
  const { ownNode, classOf } = view;
  const isWell = ownNode === undefined || classOf(ownNode) === 'well';
  return (isWell && !isBlind) || freeForMs >= DEFER_MS || successor(view) === undefined;
}

/** Who could lead in our place. */
export function successor({ ownNode, mode, candidates, classOf, declined }: HandOverView): Candidate | undefined {
  return candidates.find(
    (candidate) =>
      candidate.isAlive &&
      candidate.mode === mode &&
      !declined.has(candidate.id) &&
      (candidate.node === undefined || (candidate.node !== ownNode && classOf(candidate.node) === 'well')),
  );
}

/**
 * A fence that only waits for its node to be healthy again, or has ended, makes no target of it; one that says of a Ready node that another replica must lead does:
 * its storage was revoked on this boot, or its daemon is silent.
 */
export function classify(ready: string | undefined, fence: NodeFence | undefined): NodeClass {
  const { state, hold } = fence?.status ?? {};
  const isOpen = fence !== undefined && fence.metadata.deletionTimestamp === undefined && state !== 'done' && state !== 'final';
  const isMeant =
    ready !== 'True' || (state !== undefined && state !== 'new') || hold?.reason === 'own-node' || fence?.spec.requestedBy !== undefined;
  if (isOpen && isMeant) return 'target';
  return ready === 'True' ? 'well' : 'failed';
}
