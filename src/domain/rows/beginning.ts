import { planToFreeze } from '../asked-plan.ts';
import { mayWriteThere } from '../health.ts';
import type { Frozen, HistoryEntry, NodeFenceSpec, NodeFenceStatus, StorageRelease, Trigger } from '../node-fence.ts';
import { kindOf, newRequest } from '../request.ts';
import type { NodeFacts, Snapshot } from '../snapshot.ts';
import { event } from '../transition.ts';
import type { DecisionEvent } from '../transition.ts';

/** The status with which an incident begins: plan and identity frozen (P7, P10). `undefined` without a Node. */
export function beginning(snapshot: Snapshot, history: HistoryEntry[], incident: number): NodeFenceStatus | undefined {
  const { node, identity, wall, epoch } = snapshot;
  if (node === undefined) return undefined;
  const systemUUID = identity?.systemUUID ?? node.systemUUID;
  const providerID = identity?.providerID ?? node.providerID;
  const addresses = identity?.addresses ?? node.addresses ?? [];
  const asked = snapshot.fence === undefined ? undefined : newRequest(snapshot.fence);
  const storageRelease = standingRelease(snapshot, node);
  const frozen: Frozen = {
    nodeUID: node.uid,
    ...(systemUUID === undefined ? {} : { systemUUID }),
    ...(providerID === undefined ? {} : { providerID }),
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(node.bootID === undefined ? {} : { bootID: node.bootID }),
    ...planToFreeze(snapshot, asked !== undefined),
  };
  return {
    state: 'new',
    step: 'isolation',
    level: 1,
    incident,
    epoch,
    frozen,
    ...(asked !== undefined && snapshot.fence?.spec.ending !== undefined ? { ending: snapshot.fence.spec.ending } : {}),
    ...(asked !== undefined && snapshot.fence?.spec.lastStep !== undefined ? { lastStep: snapshot.fence.spec.lastStep } : {}),
    retries: 0,
    restarts: 0,
    trigger: triggerOf(snapshot, node, asked),
    jobs: [],
    journal: [],
    evidence: [],
    timeline: { failedAt: asked === undefined ? (failedSince(node) ?? wall) : wall, noticedAt: wall },
    conditions: [],
    history,
    ...(storageRelease === undefined ? {} : { storageRelease }),
    message: firstWords(snapshot, node, asked),
  };
}

/**
 * Of an earlier fence whose NodeFence is gone, such as one that was removed by force: on the boot whose pods were let go because their storage was closed, the node is
 * not healthy, and nothing is opened to it (P1).
 */
function standingRelease({ record, wall }: Snapshot, node: NodeFacts): StorageRelease | undefined {
  const of = record?.incidents.findLast(({ revoked }) => revoked !== undefined && mayWriteThere(node, { storageRelease: revoked }));
  return of?.revoked === undefined ? undefined : { at: wall, pods: 0, evidence: `incident-${of.incident}`, ...of.revoked };
}

function firstWords(snapshot: Snapshot, node: NodeFacts, asked: Request | undefined): string {
  const { silence, ready, readyReason } = node;
  const who = `${asked === undefined ? '' : `Asked for by ${nameOf(asked)}. `}${silence === undefined ? '' : `${silence.message} `}`;
  const isWell = ready === 'True' && silence === undefined && asked === undefined;
  const next = isWell ? NOTHING_FOLLOWS : isObserved(snapshot) ? 'mode observe: nothing is changed' : 'isolation follows after isolation_delay';
  return `${who}Ready is ${ready} (${readyReason}); ${next}.`;
}

/** Somebody made a NodeFence by hand, or its node was well again at once. */
const NOTHING_FOLLOWS =
  'nothing is done while it is healthy. A NodeFence asks for nothing: to have a healthy node fenced, create a NodeFenceRemediation';

function isObserved({ holds }: Snapshot): boolean {
  return holds.some(({ policy }) => policy === 'observe');
}

/** A failure was seen: in mode observe nothing more than that has begun. */
export function begun(snapshot: Snapshot, { message = '' }: NodeFenceStatus): DecisionEvent {
  return event('Warning', isObserved(snapshot) ? 'FailureObserved' : 'FencingStarted', message);
}

type Request = NonNullable<NodeFenceSpec['requestedBy']>;

/** A request that was served before stays on record, so that it is not taken up twice. */
function triggerOf({ fence, wall }: Snapshot, node: NodeFacts, asked: Request | undefined): Trigger {
  const served = asked?.uid ?? fence?.status?.trigger?.requestUID;
  return {
    kind: asked === undefined ? (isFoundFirst(node) ? 'heartbeat' : 'node-condition') : kindOf(asked),
    conditionType: 'Ready',
    status: node.ready,
    reason: node.readyReason,
    since: asked === undefined ? (failedSince(node) ?? wall) : wall,
    ...(node.bootID === undefined ? {} : { bootID: node.bootID }),
    ...(served === undefined ? {} : { requestUID: served }),
  };
}

/** Its daemon fell silent, and Kubernetes does not know yet that it failed. */
function isFoundFirst({ silence, ready }: NodeFacts): boolean {
  return silence !== undefined && ready === 'True';
}

function failedSince(node: NodeFacts): string | undefined {
  return isFoundFirst(node) ? node.silence?.since : node.readySince;
}

function nameOf({ kind, namespace, name }: Request): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
