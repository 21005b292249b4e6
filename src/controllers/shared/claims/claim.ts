import { fenceName } from '../../../domain/node-fence.ts';
import type { NodeFenceSpec } from '../../../domain/node-fence.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Recorder } from '../../../ports/recorder.ts';
import { GROUP, NODE_FENCES, VERSION } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { isWriteConflict } from '../conflict.ts';
import { FINALIZER, fenceLabels } from '../ownership.ts';

/** The object in whose name a node is claimed; its `uid` is its identity. */
export type Claimant = NonNullable<NodeFenceSpec['requestedBy']>;

/**
 * What the fence is to be besides the usual. `joinsHeld`: one that the fence controller began, and that is held by what holds no request, is asked for too.
 * `isOwn`: a fence of this requester was asked for by the same claimant under another uid, and is asked for anew.
 */
export type Asked = Pick<NodeFenceSpec, 'ending' | 'release' | 'lastStep' | 'methods'> & {
  joinsHeld?: true;
  isOwn?: (requester: Claimant) => boolean;
};

/** `taken`: somebody else has the node; `by` says who, in words. `fence` is what a consistent read shows. */
export type ClaimOutcome = { kind: 'claimed'; fence: NodeFence } | { kind: 'taken'; fence: NodeFence; by: string };

export interface ClaimDependencies {
  cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch' | 'remove'>;
  recorder: Recorder;
}

/** Somebody else may write between our read and our write: so often it is looked at afresh. */
const TRIES_MAX = 4;

/**
 * Takes the node for this claimant, to bring it back or for what else is asked: the NodeFence is the lock between all controllers of this program. Asking again changes nothing, also after a
 * crash between the write and its answer. Rejects when the API server could not be asked, or somebody else wrote each time.
 */
export async function claim({ cluster, recorder }: ClaimDependencies, node: string, claimant: Claimant, asked: Asked = {}): Promise<ClaimOutcome> {
  for (let tries = 1; ; tries += 1) {
    const standing = await cluster.get(NODE_FENCES, fenceName(node));
    if (standing !== undefined && hasClaimed(standing, claimant)) return { kind: 'claimed', fence: standing };
    const by = standing === undefined ? undefined : ownerOf(standing);
    const isJoined = standing !== undefined && ((asked.joinsHeld === true && isHeldUnasked(standing)) || isOfOwnOther(standing, claimant, asked));
    if (standing !== undefined && by !== undefined && !isJoined) return { kind: 'taken', fence: standing, by };
    try {
      const fence = standing === undefined ? await create(cluster, node, claimant, asked) : await takeUp(cluster, standing, claimant, asked);
      const about = { apiVersion: `${GROUP}/${VERSION}`, kind: 'NodeFence', metadata: fence.metadata };
      recorder.event(about, 'Normal', 'NodeClaimed', `${describeClaimant(claimant)} has node ${node}: every other controller leaves it alone.`);
      return { kind: 'claimed', fence };
    } catch (error) {
      if (!isWriteConflict(error) || tries >= TRIES_MAX) throw error;
    }
  }
}

/**
 * Gives the node back: the NodeFence is deleted, and the fence controller takes back what it did before it lets it go, also an off that this claimant had asked
 * to stay. `not-ours`: somebody else has it, nothing is touched. Rejects as `claim` does.
 */
export async function releaseClaim(
  { cluster }: Pick<ClaimDependencies, 'cluster'>,
  node: string,
  claimant: Claimant,
): Promise<'released' | 'gone' | 'not-ours'> {
  for (let tries = 1; ; tries += 1) {
    const standing = await cluster.get(NODE_FENCES, fenceName(node));
    if (standing === undefined) return 'gone';
    if (!hasClaimed(standing, claimant)) return 'not-ours';
    if (standing.metadata.deletionTimestamp !== undefined) return 'released';
    const { name, uid } = standing.metadata;
    try {
      const { resourceVersion } = (await withoutEnding(cluster, standing)).metadata;
      // Under its version too: a final fence that another claimant takes up keeps its uid.
      const precondition = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      return (await cluster.remove(NODE_FENCES, name, precondition)) ? 'released' : 'gone';
    } catch (error) {
      if (!isWriteConflict(error) || tries >= TRIES_MAX) throw error;
    }
  }
}

/**
 * Takes the request back, with all that it asked for, and leaves the fence to end by the health of its node. `not-ours`: somebody else has it, or it was taken back
 * before; nothing is touched. Rejects as `claim` does.
 */
export async function withdraw(
  { cluster }: Pick<ClaimDependencies, 'cluster'>,
  node: string,
  claimant: Claimant,
): Promise<'withdrawn' | 'gone' | 'not-ours'> {
  for (let tries = 1; ; tries += 1) {
    const standing = await cluster.get(NODE_FENCES, fenceName(node));
    if (standing === undefined) return 'gone';
    if (!hasClaimed(standing, claimant)) return 'not-ours';
    const { name, uid, resourceVersion } = standing.metadata;
    try {
      await cluster.mergePatch(NODE_FENCES, name, { metadata: { uid, resourceVersion }, spec: { requestedBy: null, ...NOTHING_ASKED } });
      return 'withdrawn';
    } catch (error) {
      if (!isWriteConflict(error) || tries >= TRIES_MAX) throw error;
    }
  }
}

/** First of all, and at its version: a fence that is deleted while it is asked to end in off leaves the machine off. */
async function withoutEnding(cluster: ClaimDependencies['cluster'], fence: NodeFence): Promise<NodeFence> {
  const { name, resourceVersion } = fence.metadata;
  return fence.spec.ending === undefined ? fence : cluster.mergePatch(NODE_FENCES, name, { metadata: { resourceVersion }, spec: { ending: null } });
}

/** Who has the node by this fence, in words; `undefined`: nobody, for the fence is final and not being let go. */
export function ownerOf(fence: NodeFence): string | undefined {
  const { requestedBy } = fence.spec;
  if (fence.metadata.deletionTimestamp !== undefined) return `the fence controller, which takes back what it did by ${fence.metadata.name}`;
  if (fence.status?.state === 'final' && (requestedBy === undefined || requestedBy.uid === fence.status.trigger?.requestUID)) return undefined;
  if (requestedBy !== undefined) return describeClaimant(requestedBy);
  const why = fence.status?.trigger;
  return why === undefined ? 'the fence controller' : `the fence controller, because ${why.conditionType ?? 'Ready'} is ${why.status ?? 'unknown'}`;
}

/**
 * It was begun by its Node's condition, and is held by what holds no fence that is asked for: another remediator's lease on the node, where each would wait for
 * the other, or the grace of a controller that has only just come up, which doubts what it sees and not what it is told.
 */
export function isHeldUnasked({ metadata, spec, status }: NodeFence): boolean {
  const isSo = status?.hold?.policy === 'medik8s-lease' || status?.hold?.reason === 'startup-grace';
  return isSo && status.state !== 'final' && spec.requestedBy === undefined && metadata.deletionTimestamp === undefined;
}

/** `NodeFenceRemediation default/a`. */
export function describeClaimant({ kind, namespace, name }: Claimant): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

function hasClaimed(fence: NodeFence, claimant: Claimant): boolean {
  return fence.spec.requestedBy?.uid === claimant.uid;
}

/** Everything that belongs to a request, as a patch that takes it out. */
const NOTHING_ASKED: Readonly<Record<Exclude<keyof NodeFenceSpec, 'node' | 'requestedBy'>, null>> = {
  ending: null,
  release: null,
  lastStep: null,
  methods: null,
};

/** The same claimant has asked for it before, under another uid, and may ask for something else now. */
function isOfOwnOther({ metadata, spec }: NodeFence, claimant: Claimant, { isOwn }: Asked): boolean {
  const { requestedBy } = spec;
  if (requestedBy === undefined || isOwn === undefined || metadata.deletionTimestamp !== undefined) return false;
  return (
    requestedBy.apiVersion === claimant.apiVersion && requestedBy.kind === claimant.kind && requestedBy.name === claimant.name && isOwn(requestedBy)
  );
}

function create(
  cluster: ClaimDependencies['cluster'],
  node: string,
  claimant: Claimant,
  { joinsHeld: _joinsHeld, isOwn: _isOwn, ...asked }: Asked,
): Promise<NodeFence> {
  return cluster.create(NODE_FENCES, {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'NodeFence',
    metadata: { name: fenceName(node), finalizers: [FINALIZER], labels: fenceLabels(node, 'remediation') },
    spec: { node, requestedBy: claimant, ...asked },
  });
}

/** A final fence keeps its history, and its next incident serves this claimant; an open one serves it from now on. */
function takeUp(
  cluster: ClaimDependencies['cluster'],
  { metadata, spec }: NodeFence,
  claimant: Claimant,
  { joinsHeld: _joinsHeld, isOwn: _isOwn, ...asked }: Asked,
): Promise<NodeFence> {
  const { uid, resourceVersion } = metadata;
  const requestedBy = { ...claimant, namespace: claimant.namespace ?? null };
  const patch = {
    metadata: { uid, resourceVersion, labels: fenceLabels(spec.node, 'remediation') },
    spec: { requestedBy, ...NOTHING_ASKED, ...asked },
  };
  return cluster.mergePatch(NODE_FENCES, metadata.name, patch);
}
