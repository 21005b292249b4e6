import { internalAddresses } from '../../domain/addresses.ts';
import { askedMethodsOf } from '../../domain/asked-plan.ts';
import { sameContent } from '../../domain/canonical.ts';
import { signsOf, staleHold } from '../../domain/health.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { NodeFenceSpec, NodeFenceStatus } from '../../domain/node-fence.ts';
import { EMPTY_PLAN } from '../../domain/plan.ts';
import type { Plan } from '../../domain/plan.ts';
import { newRequest } from '../../domain/request.ts';
import { isRestored } from '../../domain/restored.ts';
import type { JobReport, NodeFacts, Snapshot, ActiveHold } from '../../domain/snapshot.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';
import { guardOf } from './guard.ts';
import type { NodeObservation } from './observation.ts';
import { readyOf } from './observation.ts';
import { FINALIZER } from './ownership.ts';
import { fenceRecord } from './report.ts';
import { isWorkloadUnsure, releasablePods, workloadOf } from './workload.ts';

/** One immutable picture of one node, taken in one synchronous turn. */
export function takeSnapshot(
  dependencies: FenceDependencies,
  name: string,
  fence: NodeFence | undefined,
  observation: NodeObservation,
  runs: { inFlight: ReadonlySet<string>; reports: readonly JobReport[] },
  acknowledgement: Snapshot['acknowledgement'],
  storm: readonly ActiveHold[] = [],
): Snapshot {
  const { clock, listers, leadership, planner, random } = dependencies;
  const nowMs = clock.monotonicMs();
  const node = listers.nodes.get(name);
  // The schema's defaults give a new object a status; it has begun only when its plan is frozen.
  const restored = fence !== undefined && isRestored(fence) ? { status: fence.status } : undefined;
  const status = fence?.status?.frozen === undefined || restored !== undefined ? undefined : fence.status;
  const isOfRequest = status?.frozen?.asked !== undefined;
  const live = status === undefined || status.state === 'final' || status.state === 'error' || isOfRequest;
  const plan = live && node !== undefined ? planner.planFor(node) : (status?.frozen?.plan ?? EMPTY_PLAN);
  const askedPlan = node === undefined || fence === undefined ? undefined : askedPlanOf(planner, node, fence.spec, status);
  const facts = node === undefined ? undefined : nodeFactsOf(dependencies, node, observation);
  if (status !== undefined) observation.seeStatus(status, nowMs);
  observation.keep(signsOf(facts, status, plan, observation.since(status), nowMs));
  const report = listers.reports.get(name)?.status;
  const holds = [...holdsOn(dependencies, name), ...storm];
  const guard = guardOf(dependencies, name);
  const dump = dependencies.kdump?.factsOf(name);
  return {
    nowMs,
    wall: timestamp(clock),
    node: facts,
    fence:
      fence === undefined
        ? undefined
        : {
            uid: fence.metadata.uid ?? '',
            spec: fence.spec,
            status,
            ...(restored === undefined ? {} : { restored }),
            deleting: fence.metadata.deletionTimestamp !== undefined,
            finalized: fence.metadata.finalizers?.includes(FINALIZER) === true,
          },
    since: observation.since(status),
    holds,
    ...(guard === undefined ? {} : { preservation: guard }),
    ...(dump === undefined ? {} : { dump }),
    ...(holds.length === 0 && guard === undefined && dump?.heard === undefined ? {} : { waitingPods: waitingPods(dependencies, name) }),
    stop: stopOn(dependencies, name),
    inFlight: runs.inFlight,
    reports: runs.reports,
    plan,
    ...(askedPlan === undefined ? {} : { askedPlan }),
    identity: [report?.identity, observation.machine].find((machine) => machine !== undefined && machine.nodeUID === node?.metadata.uid),
    ...(report?.incidents === undefined ? {} : { record: fenceRecord(listers.reports.get(name)) }),
    lastIncident: report?.incident ?? 0,
    acknowledgement,
    workload: { ...workloadOf(listers, name), ...(isWorkloadUnsure(dependencies) && { isUnsure: true as const }) },
    epoch: leadership.epoch,
    actsFromMs: leadership.actsFromMs,
    uuid: random.uuid(),
  };
}

/** Made only where it may be frozen in this pass. */
function askedPlanOf(planner: FenceDependencies['planner'], node: Node, spec: NodeFenceSpec, status: NodeFenceStatus | undefined): Plan | undefined {
  const asked = askedMethodsOf(spec);
  if (asked === undefined) return undefined;
  const isFrozen = status?.frozen?.asked !== undefined && sameContent(status.frozen.asked, asked) && status.state !== 'error';
  const isServed = status?.state === 'final' && newRequest({ spec, status }) === undefined;
  return isServed || (isFrozen && newRequest({ spec, status }) === undefined) ? undefined : planner.planFor(node, asked);
}

export function nodeFactsOf({ listers, fastDetection, unfencing }: FenceDependencies, node: Node, observation: NodeObservation): NodeFacts {
  const { name } = node.metadata;
  const ready = readyOf(node);
  const { freshSinceMs } = listers.leases;
  return {
    name,
    uid: node.metadata.uid ?? '',
    ready: ready?.status ?? 'missing',
    readyReason: ready?.reason ?? 'NoReadyCondition',
    readySince: ready?.lastTransitionTime,
    bootID: node.status.nodeInfo?.bootID,
    systemUUID: node.status.nodeInfo?.systemUUID,
    providerID: node.spec.providerID,
    addresses: internalAddresses(node.status.addresses),
    lifeAtMs: observation.lifeAtMs,
    ...(!observation.hasSpoken && { isOnlySeen: true }),
    ...(freshSinceMs === undefined ? {} : { freshSinceMs }),
    silence: fastDetection?.failureOf(name),
    heardAtMs: fastDetection?.heardAtMs(name),
    unfences: unfencing?.of(name),
  };
}

/** An alarm names so many of the pods that wait. */
const NAMED_PODS = 8;

function waitingPods({ listers }: FenceDependencies, name: string): string[] {
  const pods = releasablePods(listers, name);
  const named = pods.slice(0, NAMED_PODS).map(({ metadata }) => `${metadata.namespace ?? 'default'}/${metadata.name}`);
  return pods.length > NAMED_PODS ? [...named, `${pods.length - NAMED_PODS} more`] : named;
}

/** Reasons not to act that stand whatever policies are configured: storm policies come after them. */
export function holdsOn({ options, listers, clock, nodeLeases, successor }: FenceDependencies, name: string): ActiveHold[] {
  const holds: ActiveHold[] = [];
  if (options.mode === 'observe') holds.push({ reason: 'observe', policy: 'observe', message: '--mode observe: nothing is changed' });
  if (options.ownNode === name) {
    holds.push({
      reason: 'own-node',
      policy: 'own-node',
      message: `the controller runs on this node; ${successor?.() ?? 'another replica must lead before it is fenced'}`,
    });
  }
  const lease = nodeLeases?.holdOn(name, listers.fences.get(fenceName(name))?.spec.requestedBy);
  if (lease !== undefined) holds.push(lease);
  const stale = staleHold(Math.min(listers.nodes.freshAtMs, listers.leases.freshAtMs), options.staleAfterMs, clock.monotonicMs());
  if (stale !== undefined) holds.push(stale);
  return holds;
}

export function stopOn({ listers }: FenceDependencies, name: string): Snapshot['stop'] {
  for (const stop of listers.stops.all()) {
    if (stop.spec.all === true || stop.spec.node === name) return { by: `NodeFenceStop ${stop.metadata.name}`, reason: stop.spec.reason };
  }
  return undefined;
}
