import { RemedyNodes } from './nodes.ts';
import { withoutCounts } from './status.ts';
import type { Action } from './actions.ts';
import type { RemedyDependencies } from './dependencies.ts';
import { nodeOfJob } from './runs/job-runs.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { REMEDY_PHASES } from '../../domain/remedy/position.ts';
import type { RemedyPhase } from '../../domain/remedy/position.ts';
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
const NO_POSITIONS = Object.fromEntries(REMEDY_PHASES.map((phase) => [phase, 0])) as Record<RemedyPhase, number>;
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
  const startedAtMs = clock.monotonicMs();
  const reconciler = new Reconciler({
    ...{ name: 'remedies', gate, leadership, clock, queue, log },
    kinds: [nodeKind(nodes, listers.nodes)],
    metrics: {
      acted: (kind, result) => metrics.acted(kind, result),
      problems: () => void counted(),
    },
    isSynced: () => watches.every(({ synced }) => synced),
    ...{ identityOf: withoutCounts, recordedAgainMs: WAITS_RECORDED_AGAIN_MS },
    subscribe: () => subscriptions(given, nodes, enqueue),
    enqueueAll: () => {
      nodes.restoreStages();
      for (const node of listers.nodes.all()) enqueue(node.metadata.name);
    },
  });
  /** All of them are shown, whatever tells of a change. */
  const counted = (): string[] => {
    const all = [...settings.problems(), ...unwatchedJobs(given, startedAtMs), ...reconciler.problems()];
    metrics.problems(leadership.isLeading ? all.length : 0);
    return all;
  };
  /** Asked now and then: what goes through all nodes is not done with each of them. */
  const problems = (): string[] => {
    metrics.positions(nodes.phases());
    return counted();
  };
  return {
    start: () => reconciler.start(),
    wake: () => reconciler.wake(),
    problems,
    reconcile: (key) => reconciler.reconcile(key),
    close: () => {
      reconciler.close();
      nodes.stop();
      // They may be configured no more while the process goes on: what was shown last would stand for ever.
      metrics.problems(0);
      metrics.positions(NO_POSITIONS);
    },
    closed: () => nodes.close(),
  };
}

/** What is reconciled by which change. */
function subscriptions(
  { listers, leadership, queue, settings }: RemedyDependencies,
  nodes: RemedyNodes,
  enqueue: (node: string) => void,
): readonly (() => void)[] {
  return [
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
    listers.stops.onChange(() => {
      for (const node of nodes.concerned()) enqueue(node);
    }),
    listers.jobs.onChange((before, after) => {
      const job = after ?? before;
      const node = job === undefined ? undefined : nodes.concernedByUid(nodeOfJob(job));
      if (node !== undefined) enqueue(node);
    }),
    settings.onChange(() => {
      nodes.configurationChanged();
      for (const node of listers.nodes.all()) enqueue(node.metadata.name);
    }),
  ];
}

function unwatchedJobs({ clock, listers }: Pick<RemedyDependencies, 'clock' | 'listers'>, startedAtMs: number): string[] {
  const isLate = !listers.jobs.synced && clock.monotonicMs() - startedAtMs > JOBS_WITHIN_MS;
  return isLate ? ['Jobs of remedies cannot be watched: kubectl apply -k config/remedies gives the right'] : [];
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
