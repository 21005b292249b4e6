import { ApiStatusError } from '../../ports/api-transport.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Node } from '../../ports/objects.ts';
import { GROUP, NODE_FENCE_REPORTS, VERSION } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';

type Status = NonNullable<NodeFenceReport['status']>;

/** Keeps what a machine said of itself while it was healthy: the identity that a device must show before it is switched (P10). */
export async function recordIdentity(dependencies: FenceDependencies, node: Node): Promise<void> {
  const info = node.status.nodeInfo;
  const known = dependencies.listers.reports.get(node.metadata.name)?.status?.identity;
  const uid = node.metadata.uid ?? '';
  if (dependencies.options.mode === 'observe' && info === undefined) return;
  if (known?.nodeUID === uid && known.bootID === info?.bootID && known.systemUUID === info?.systemUUID && known.providerID === node.spec.providerID)
    return;
  const identity: NonNullable<Status['identity']> = {
    nodeUID: uid,
    recordedAt: timestamp(dependencies.clock),
    ...(info?.systemUUID === undefined ? {} : { systemUUID: info.systemUUID }),
    ...(node.spec.providerID === undefined ? {} : { providerID: node.spec.providerID }),
    ...(info?.bootID === undefined ? {} : { bootID: info.bootID }),
  };
  await update(dependencies, node.metadata.name, (status) => ({ ...status, identity }));
}

/** The number of the node's incident outlives its NodeFence. */
export async function recordIncident(dependencies: FenceDependencies, node: string, incident: number): Promise<void> {
  await update(dependencies, node, (status) => ({ ...status, incident: Math.max(incident, status.incident ?? 0) }));
}

async function update(dependencies: FenceDependencies, name: string, change: (status: Status) => Status): Promise<void> {
  const { cluster, listers } = dependencies;
  for (let tries = 1; ; tries += 1) {
    const cached = tries === 1 ? listers.reports.get(name) : undefined;
    const report = cached ?? (await cluster.get(NODE_FENCE_REPORTS, name)) ?? (await create(dependencies, name));
    try {
      await cluster.replaceStatus(NODE_FENCE_REPORTS, { ...report, status: change(report.status ?? {}) });
      return;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 409 && error.status !== 404) || tries >= 3) throw error;
    }
  }
}

async function create({ cluster }: FenceDependencies, name: string): Promise<NodeFenceReport> {
  return cluster.create(NODE_FENCE_REPORTS, { apiVersion: `${GROUP}/${VERSION}`, kind: 'NodeFenceReport', metadata: { name } });
}
