import type { NodeFenceRemediation, NodeFenceRemediationStatus } from '../../ports/remediation.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { Conflict } from '../shared/conflict.ts';
import { FirstSeenPhase } from '../shared/first-seen-phase.ts';
import { keyOf } from '../shared/reconciler/kind.ts';
import type { ReconciledKind } from '../shared/reconciler/kind.ts';
import { AFTER_CONFLICT_MS, Reconciler, RESYNC_PERIOD_MS } from '../shared/reconciler/reconciler.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Action } from './actions.ts';
import { decide } from './decide.ts';
import type { RemediationDependencies, WatchedKind } from './dependencies.ts';
import { InFlight } from './in-flight.ts';
import type { LeaseObservations } from './node-removal.ts';
import { observe } from './observe.ts';
import { perform } from './perform.ts';
import { remediationEvent } from './status.ts';
import { templateKind } from './template.ts';

/** NodeFenceRemediation (docs/node-fence-remediation.md). Nothing is kept that is not in the objects but what this process has seen first. */
export function nodeRemediationController(given: RemediationDependencies): Reconciler {
  const { clock, leadership, kinds, fences, options, metrics, queue } = given;
  const watches = [fences, ...kinds.map(({ listers }) => listers.requests)];
  const gate = new WriteGate({ clock, leadership, enforce: () => options.enforce, watches: () => watches });
  const gated = gatedWrites(conflictUnless(() => gate.mayWrite()));
  const workloadClusters: RemediationDependencies['workloadClusters'] = async (secret) => {
    const found = await given.workloadClusters(secret);
    return found && gated(found);
  };
  const dependencies = { ...given, cluster: gated(given.cluster), workloadClusters };
  const inFlight = new InFlight(given);
  return new Reconciler({
    ...{ ...dependencies, gate, name: 'remediation' },
    kinds: kinds.flatMap((kind) => [requestKind(kind, dependencies, gate, inFlight), templateKind(kind, dependencies, gate)]),
    metrics: {
      acted: (kind, result) => metrics.acted(kind, result),
      problems: (count) => {
        metrics.problems(count);
        metrics.requests(phasesOf(kinds));
      },
    },
    subscribe: () => [
      ...kinds.map(({ listers }) =>
        listers.requests.onChange((before, after) => {
          if ((after?.status?.phase ?? '') !== '' || after === undefined) inFlight.forget((after ?? before)?.metadata.uid ?? '');
        }),
      ),
      fences.onChange((before, after) => {
        for (const by of [before?.spec.requestedBy, after?.spec.requestedBy]) {
          if (by !== undefined && kinds.some(({ requests }) => requests.kind === by.kind)) queue.add(keyOf(by.kind, { metadata: by }));
        }
      }),
    ],
  });
}

function requestKind(
  { requests, listers }: WatchedKind,
  dependencies: RemediationDependencies,
  gate: WriteGate,
  inFlight: InFlight,
): ReconciledKind<NodeFenceRemediation, Action> {
  const { clock, cluster, recorder } = dependencies;
  const identity = { apiVersion: `${requests.group}/${requests.version}`, kind: requests.kind };
  /** Since when this process has seen each as it is, and the Node that it names. */
  const sights = new Map<string, { phase: FirstSeenPhase; nodeSight: FirstSeenPhase }>();
  const leases: LeaseObservations = new Map();
  return {
    kind: requests.kind,
    lister: listers.requests,
    known: (key) => listers.requests.get(key),
    get: (namespace, name) => cluster.get(requests, name, namespace),
    reconcile: async (key, object) => {
      const sight = sights.get(key) ?? { phase: new FirstSeenPhase(clock), nodeSight: new FirstSeenPhase(clock) };
      sights.set(key, sight);
      const { phase, nodeSight } = sight;
      const mark = markOf(object);
      const seen = await observe(dependencies, object, identity, phase.sinceMs(mark));
      const nodeMark = seen.snapshot.node?.uid ?? '';
      nodeSight.sinceMs(nodeMark);
      if (seen.snapshot.lostNode === undefined) for (const each of [phase, nodeSight]) each.answered();
      phase.held(seen.snapshot.fence?.heldBecause !== undefined);
      const request = { ...seen.snapshot.request, phaseSeenMs: phase.sinceMs(mark) };
      const observation = { ...seen, snapshot: { ...seen.snapshot, request } };
      // Counted in the turn in which it is decided, so that two side by side do not both take the last place.
      const counted = { nodeSeenMs: nodeSight.sinceMs(nodeMark), inFlight: inFlight.beside(request.uid) };
      const { actions, problems, nextDueMs = Infinity } = decide({ ...observation.snapshot, ...counted });
      if (actions.some((action) => action.kind === 'request-fence') && gate.mayWrite()) inFlight.begin(request.uid);
      // The fence of another cluster is not watched from here.
      const isFar = actions.length > 0 && observation.place?.isOwn === false;
      return {
        ...{ actions, problems },
        dueInMs: Math.min(nextDueMs - observation.snapshot.nowMs, isFar ? AFTER_CONFLICT_MS : RESYNC_PERIOD_MS),
        perform: (action) => perform(dependencies, leases, observation, action),
        failed: () => inFlight.forget(request.uid),
        mayBeRefused: (action) => action.kind === 'machine-conditions' && action.mayBeRefused === true,
        // What has to wait for the node is not asked for again and again.
        afterConflictMs: ({ kind }, error) => (kind === 'delete-node' && error instanceof Conflict ? undefined : AFTER_CONFLICT_MS),
      };
    },
    forget: (key) => void sights.delete(key),
    // One alone is reported to nobody: any API server has one now and then.
    isReported: (_key, _error, failures) => failures > 1,
    record: (key, { metadata: { name, namespace = '', uid = '' }, status }, problem, isFailure) => {
      // A failure is on the request too, for nothing else shows there.
      if (!isFailure) return;
      const { type, reason, message } = remediationEvent((status?.phase ?? '') === '' ? 'CannotStart' : 'Stalled', problem.replace(`${key}: `, ''));
      recorder.event({ ...identity, metadata: { name, namespace, uid } }, type, reason, message);
    },
  };
}

/** Another phase, another retry, or another request under its name. */
function markOf({ metadata, status }: NodeFenceRemediation): string {
  return [metadata.uid ?? '', status?.phase ?? '', status?.retryCount ?? 0, metadata.deletionTimestamp ?? ''].join(' ');
}

function phasesOf(kinds: readonly WatchedKind[]): Record<string, number> {
  const counts: { [K in NonNullable<NodeFenceRemediationStatus['phase']> | 'Waiting']?: number } = {};
  for (const { listers } of kinds) {
    for (const { status } of listers.requests.all()) {
      const phase = status?.phase ?? 'Waiting';
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
  }
  return counts;
}
