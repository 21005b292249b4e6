import type { Metal3Remediation } from '../../ports/metal3.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { isPassing, Conflict } from '../shared/conflict.ts';
import type { ReconciledKind } from '../shared/reconciler/kind.ts';
import { AFTER_CONFLICT_MS, Reconciler } from '../shared/reconciler/reconciler.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Action } from './actions.ts';
import type { FenceAction } from './by-fence.ts';
import type { Metal3RemediationDependencies, NodeCluster } from './dependencies.ts';
import { CONTROLLER, holdKeyOf, offOf } from './names.ts';
import { InFlight } from './in-flight.ts';
import { enqueueAllLeft, enqueueLeft, isHeldByAny, leftHoldKind } from './left-holds.ts';
import { isOff, LockedDecisions } from './locked-decisions.ts';
import { Memory } from './memory.ts';
import { observe } from './observe.ts';
import { perform } from './perform.ts';
import { templateKind } from './template.ts';

/** After a write: what it has changed is looked at. */
const AFTER_ACTIONS_MS = 100;
/** What a release waits for: silence. */
const SILENCE_POLL_MS = 2_000;

/** Metal3Remediation (docs/metal3-remediation.md). Nothing is kept that is not in the objects but what this process has seen first. */
export function metal3RemediationController(given: Metal3RemediationDependencies): Reconciler {
  const { clock, leadership, remediations, hosts, nodes, options } = given;
  const watches = [remediations.lister, hosts, nodes];
  const gate = new WriteGate({ clock, leadership, enforce: () => options.enforce, watches: () => watches });
  const gatedCluster = gatedWrites(conflictUnless(() => gate.mayWrite()));
  const gated = (found: NodeCluster): NodeCluster => ({ ...found, cluster: gatedCluster(found.cluster) });
  const workloads: Metal3RemediationDependencies['workloads'] = async (secret) => {
    const found = await given.workloads(secret);
    return found && gated(found);
  };
  const dependencies = { ...given, own: gated(given.own), workloads };
  /** By key of the queue. */
  const memories = new Map<string, Memory>();
  return new Reconciler({
    ...{ ...dependencies, gate, name: 'Metal3Remediation' },
    kinds: [remediationKind(dependencies, gate, memories), templateKind(dependencies), leftHoldKind(dependencies)],
    enqueueAll: () => enqueueAllLeft(dependencies),
    // What counts down is the same problem all the while.
    identityOf: (problem) => problem.replaceAll(/\d+/gu, '#'),
    subscribe: () => [...subscribe(dependencies, memories), () => dependencies.offsOnRequest.forget(CONTROLLER)],
  });
}

/** Each is enqueued when its host or its Node changes. */
function subscribe(dependencies: Metal3RemediationDependencies, memories: ReadonlyMap<string, Memory>): readonly (() => void)[] {
  const { served, hosts, nodes, remediations, queue } = dependencies;
  return [
    remediations.lister.onChange((_before, after) => {
      if (after === undefined) enqueueAllLeft(dependencies);
    }),
    hosts.onChange((before, after) => {
      if (after !== undefined) served.see(after);
      else if (before !== undefined) served.forget(before);
      if (after !== undefined && isHeldByAny(after)) enqueueLeft(dependencies, after);
      const { namespace = '', name } = (after ?? before)?.metadata ?? { name: '' };
      for (const [key, memory] of memories) {
        if (memory.hostKey !== `${namespace}/${name}`) continue;
        if (after !== undefined) memory.watched(after);
        queue.add(key);
      }
    }),
    nodes.onChange((before, after) => {
      for (const [key, { nodeName }] of memories) if (nodeName === (after ?? before)?.metadata.name) queue.add(key);
    }),
  ];
}

function remediationKind(
  dependencies: Metal3RemediationDependencies,
  gate: WriteGate,
  memories: Map<string, Memory>,
): ReconciledKind<Metal3Remediation, Action | FenceAction> {
  const { own, clock, recorder, offsOnRequest } = dependencies;
  const { resource, lister } = dependencies.remediations;
  const inFlight = new InFlight(dependencies, (uid) => [...memories.values()].some((memory) => memory.uid === uid && memory.isSeen));
  const decisions = new LockedDecisions(dependencies, gate, inFlight);
  /** What was locked for one that is gone is given back. */
  const forget = async (key: string): Promise<void> => {
    const known = memories.get(key);
    if (known === undefined) return;
    await decisions.unlock(known);
    inFlight.forget(known.uid);
    offsOnRequest.see(offOf(known.uid), undefined);
    memories.delete(key);
  };
  return {
    kind: resource.kind,
    lister,
    known: (key) => lister.get(key),
    get: (namespace, name) => own.cluster.get(resource, name, namespace),
    reconcile: async (key, object) => {
      const { uid = '' } = object.metadata;
      // A remediation of another uid under its name is another.
      if (memories.get(key)?.uid !== uid) await forget(key);
      const memory = memories.get(key) ?? new Memory(clock, uid);
      memories.set(key, memory);
      const observation = await observe(dependencies, object, memory, inFlight.hold(uid) !== undefined).finally(() => (memory.isSeen = true));
      offsOnRequest.see(offOf(uid), observation.snapshot.host?.annotations[holdKeyOf(uid)] === undefined ? undefined : memory.nodeName);
      const decision = await decisions.decide(observation, memory);
      memory.failing.over();
      const { actions, problems, nextDueMs = Infinity } = decision;
      return {
        ...{ actions, problems, dueInMs: nextDueMs - observation.snapshot.nowMs, afterActionsMs: AFTER_ACTIONS_MS },
        perform: (action) => perform(dependencies, memory, observation, action),
        failed: (action) => {
          if (isOff(action, uid)) inFlight.forget(uid);
        },
        afterConflictMs: (action, error) => ('proof' in action && error instanceof Conflict ? SILENCE_POLL_MS : AFTER_CONFLICT_MS),
        settle: () => decisions.settle(observation, memory, decision),
      };
    },
    forget,
    // The queue tells the log of each; whoever looks at the remediation need not know of a call that succeeds at the next try.
    isReported: (key, error) => !isPassing(error) || memories.get(key)?.failing.isToBeReported() === true,
    // On the remediation too: nothing else shows there.
    record: (key, { metadata }, problem) => {
      const about = { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, metadata };
      recorder.event(about, 'Warning', 'RemediationBlocked', problem.replace(`${key}: `, ''));
    },
  };
}
