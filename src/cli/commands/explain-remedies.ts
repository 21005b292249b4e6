import type { FenceDependencies } from '../../controllers/fence/dependencies.ts';
import { Stages } from '../../controllers/remedies/stages.ts';
import { isOfAnother, restoredStatus } from '../../controllers/remedies/status.ts';
import type { RemedyPosition } from '../../domain/remedy/position.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Node } from '../../ports/objects.ts';
import type { RemedySettings } from '../../ports/remedies.ts';
import { NODE_FENCE_REPORTS, NODE_LEASE_NAMESPACE } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { lastLifeMs } from './explanation.ts';
import type { ExplanationInput } from './explanation.ts';
import { picturedDecisions } from './remedy-picture.ts';
import { stormHolds } from './storm-picture.ts';

/** The row of the table that decides about one threshold of a node now. */
export interface RemedyLook {
  threshold: string;
  phase?: RemedyPosition['phase'] | undefined;
  /** Absent: not known. */
  row?: string | undefined;
  /** What is said with it, or why the row is not known. */
  message?: string | undefined;
  /** When time alone changes it; milliseconds since 1970. */
  dueMs?: number | undefined;
}

export interface RemedyExplanation extends Pick<ExplanationInput, 'listers' | 'planner' | 'leader' | 'nowMs'> {
  access: Pick<ClusterAccess, 'cluster' | 'random' | 'namespace'>;
  node: Node;
  dependencies: FenceDependencies;
  settings: Pick<RemedySettings, 'remediesOf'>;
}

/** Each threshold that is configured for the node, or written of it, by the table of remedies. */
export async function explainRemedies(explanation: RemedyExplanation): Promise<RemedyLook[]> {
  const { node, listers, settings } = explanation;
  const { thresholds } = settings.remediesOf(node);
  const report = listers.reports.get(node.metadata.name);
  const written = isOfAnother(report, node.metadata.uid) ? [] : (report?.status?.remedies?.positions ?? []);
  if (thresholds.length === 0 && written.length === 0) return [];
  try {
    const looks = await decided(explanation);
    return looks.map((look) => (thresholds.some(({ id }) => id === look.threshold) ? look : { ...look, ...ELSEWHERE }));
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
    const message = `not known, because you may not read it: ${error.message}`;
    return [...new Set([...thresholds.map(({ id }) => id), ...written.map(({ threshold }) => threshold)])].map((threshold) => ({
      threshold,
      message,
    }));
  }
}

/** Files of a controller are read here only where their folder is named. */
const ELSEWHERE = {
  row: undefined,
  dueMs: undefined,
  message: 'not known: no ConfigMap configures it; a file of the controller may (--remedies names its folder)',
} as const;

async function decided(explanation: RemedyExplanation): Promise<RemedyLook[]> {
  const { access, node, listers, planner, leader, nowMs, dependencies, settings } = explanation;
  const { name } = node.metadata;
  const storm = await stormHolds({ access, node: name, status: undefined, nowMs, dependencies, stages: await stagesNow(access, nowMs) });
  const { thresholds, isIncomplete } = settings.remediesOf(node);
  const { mode, ownNode } = dependencies.options;
  const decisions = await picturedDecisions({
    ...{ cluster: access.cluster, random: access.random, planner, node, thresholds, isIncomplete, storm, nowMs },
    report: listers.reports.get(name),
    lifeAtMs: lastLifeMs(node, listers.leases.get(`${NODE_LEASE_NAMESPACE}/${name}`), nowMs),
    leadsSinceMs: leader.isAlive ? Date.parse(leader.acquireTime ?? '') || 0 : 0,
    options: { namespace: access.namespace, mode, ownNode },
  });
  return decisions.map(({ decision: { threshold, row, dueMs }, message }) => ({
    ...{ threshold, row, message, dueMs },
    phase: listers.reports.get(name)?.status?.remedies?.positions?.find((one) => one.threshold === threshold)?.phase,
  }));
}

/** What remedies do to each node now, by what stands written. */
async function stagesNow({ cluster }: Pick<ClusterAccess, 'cluster'>, nowMs: number): Promise<Stages['all']> {
  const stages = new Stages();
  for (const report of await cluster.list(NODE_FENCE_REPORTS)) {
    const { states } = restoredStatus(report, { monotonicMs: nowMs, wallMs: nowMs }, undefined);
    stages.see(
      report.metadata.name,
      [...states.values()].map(({ position }) => position),
    );
  }
  return stages.all;
}
