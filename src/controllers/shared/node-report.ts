import { sameContent } from '../../domain/canonical.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import { GROUP, NODE_FENCE_REPORTS, VERSION } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';

export type ReportStatus = NonNullable<NodeFenceReport['status']>;

interface Reports {
  cluster: Cluster;
  /** What is changed is what this shows; what it does not show is created, and looked up where it is there. */
  listers: { reports: Pick<Lister<NodeFenceReport>, 'get' | 'own'> };
}

const TRIES_MAX = 3;

/**
 * Changes what the report of a node says, which is created where it is missing; `change` is asked anew when somebody else wrote meanwhile. Several changes of one
 * report are made one after the other, each upon what the one before wrote.
 */
export async function updateReport(reports: Reports, name: string, change: (status: ReportStatus) => ReportStatus): Promise<void> {
  const { own } = reports.listers.reports;
  return own === undefined ? changed(reports, name, change) : own.inTurn(name, () => changed(reports, name, change));
}

async function changed({ cluster, listers }: Reports, name: string, change: (status: ReportStatus) => ReportStatus): Promise<void> {
  const { own } = listers.reports;
  for (let tries = 1; ; tries += 1) {
    const report = tries === 1 ? (listers.reports.get(name) ?? (await created(cluster, name))) : await lookedUp(cluster, name);
    const status = change(report.status ?? {});
    if (sameContent(status, report.status ?? {})) return;
    try {
      const written = await cluster.replaceStatus(NODE_FENCE_REPORTS, { ...report, status });
      own?.wrote(written);
      return;
    } catch (error) {
      own?.forget(name);
      if (!(error instanceof ApiStatusError) || (error.status !== 409 && error.status !== 404) || tries >= TRIES_MAX) throw error;
    }
  }
}

/** Of which the watch shows none: after an installation that is so of every node, and nobody asks before it is made. */
async function created(cluster: Cluster, name: string): Promise<NodeFenceReport> {
  try {
    return await create(cluster, name);
  } catch (error) {
    // Another controller's, of which the watch has not told yet.
    if (error instanceof ApiStatusError && error.status === 409) return lookedUp(cluster, name);
    throw error;
  }
}

async function lookedUp(cluster: Cluster, name: string): Promise<NodeFenceReport> {
  return (await cluster.get(NODE_FENCE_REPORTS, name)) ?? create(cluster, name);
}

function create(cluster: Cluster, name: string): Promise<NodeFenceReport> {
  return cluster.create(NODE_FENCE_REPORTS, { apiVersion: `${GROUP}/${VERSION}`, kind: 'NodeFenceReport', metadata: { name } });
}
