import { RemedyNodes } from './nodes.ts';
import { withoutCounts } from './status.ts';
import type { Action } from './actions.ts';
import type { RemedyDependencies } from './dependencies.ts';
import { nodeOfJob } from './runs/job-runs.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { keyOf } from '../shared/reconciler/kind.ts';
import type { ReconciledKind } from '../shared/reconciler/kind.ts';
import { Reconciler } from '../shared/reconciler/reconciler.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Node } from '../../ports/objects.ts';

/** As the manager handles it. */
export interface RemediesController {
  start(): void;
  wake(): void;
  problems(): string[];
  reconcile(key: string): Promise<{ afterMs: number } | undefined>;
  close(): void;
  /** Resolves when nothing is under way. */
  closed(): Promise<void>;
}

const KIND = 'node';
/** Jobs that cannot be watched by then are a lacking right. */
const JOBS_WITHIN_MS = 30_000;
/** What holds several thresholds of a node takes turns, as other nodes fail and recover: each of them is one Event within so long. */
const WAITS_RECORDED_AGAIN_MS = 10 * 60_000;

/** Remedies (docs/remedies.md): what follows a condition of a node that stands. Whatever it must not forget stands in the NodeFenceReport. */
export function remediesController(given: RemedyDependencies): RemediesController {
  const { clock, leadership, listers, settings, metrics, queue, log } = given;
  const watches = [listers.nodes, listers.reports, listers.fences, listers.stops];
  const gate = new WriteGate({ clock, leadership, enforce: () => true, watches: () => watches });
  const dependencies = { ...given, cluster: gatedWrites(conflictUnless(() => gate.mayWrite()))(given.cluster) };
  const nodes = new RemedyNodes(dependencies);
  const enqueue = (node: string): void => queue.add(keyOf(KIND, { metadata: { name: node } }));
  const enqueueConcerned = (): void => {
    for (const node of nodes.concerned()) enqueue(node);
  };
  const startedAtMs = clock.monotonicMs();
  const reconciler = new Reconciler({
    ...{ name: 'remedies', gate, leadership, clock, queue, log },
    kinds: [nodeKind(nodes, listers.nodes)],
    metrics: {
      acted: (kind, result) => metrics.acted(kind, result),
      problems: (count) => metrics.problems(count),
    },
    isSynced: () => watches.every(({ synced }) => synced),
    ...{ identityOf: withoutCounts, recordedAgainMs: WAITS_RECORDED_AGAIN_MS },
    subscribe: () => [
      listers.nodes.onChange((before, after) => {
        const { name } = ((after ?? before) as Node).metadata;
        const afterMs = leadership.isLeading ? nodes.nodeChanged(name, before, after) : undefined;
        if (afterMs !== undefined) queue.add(keyOf(KIND, { metadata: { name } }), afterMs);
      }),
      listers.fences.onChange((before, after) => {
        const node = (after ?? before)?.spec.node;
        if (node !== undefined && nodes.isConcerned(node)) enqueue(node);
      }),
      listers.reports.onChange((before, after) => {
        const name = (after ?? before)?.metadata.name;
        if (name !== undefined && after?.status?.remedies !== undefined && !nodes.isConcerned(name)) enqueue(name);
        if (name !== undefined && before?.spec?.resumedRemedies !== after?.spec?.resumedRemedies) enqueue(name);
      }),
      listers.stops.onChange(enqueueConcerned),
      listers.jobs.onChange((before, after) => {
        const job = after ?? before;
        const node = job === undefined ? undefined : nodes.concernedByUid(nodeOfJob(job));
        if (node !== undefined) enqueue(node);
      }),
      settings.onChange(() => {
        nodes.configurationChanged();
        for (const node of listers.nodes.all()) enqueue(node.metadata.name);
      }),
    ],
    enqueueAll: () => {
      nodes.restoreStages();
      for (const node of listers.nodes.all()) enqueue(node.metadata.name);
    },
  });
  /** Asked now and then: what goes through all nodes is not done with each of them. */
  const problems = (): string[] => {
    metrics.positions(nodes.phases());
    const isLate = !listers.jobs.synced && clock.monotonicMs() - startedAtMs > JOBS_WITHIN_MS;
    const unwatched = isLate ? ['Jobs of remedies cannot be watched: kubectl apply -k config/remedies gives the right'] : [];
    return [...settings.problems(), ...unwatched, ...reconciler.problems()];
  };
  return {
    start: () => reconciler.start(),
    wake: () => reconciler.wake(),
    problems,
    reconcile: (key) => reconciler.reconcile(key),
    close: () => {
      reconciler.close();
      nodes.stop();
    },
    closed: () => nodes.close(),
  };
}

function nodeKind(nodes: RemedyNodes, lister: RemedyDependencies['listers']['nodes']): ReconciledKind<Node, Action> {
  return {
    kind: KIND,
    get: async (_namespace, name) => Promise.resolve(lister.get(name)),
    reconcile: (_key, node) => nodes.reconcile(node),
    forget: (key) => nodes.settleForgotten(key.split('/')[1] ?? ''),
    // One alone is reported to nobody: any API server has one now and then.
    isReported: (_key, _error, failures) => failures > 1,
    record: (_key, node, problem) => nodes.record(node, problem),
  };
}
