import { canonical } from '../../domain/canonical.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Node } from '../../ports/objects.ts';
import { GROUP, NODE_FENCE_REPORTS, VERSION } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';

type Status = NonNullable<NodeFenceReport['status']>;

type Problems = NonNullable<Status['problems']>;

const PROBLEMS_MAX = 64;

/**
 * What must be known before a node fails: what its machine said of itself while it was healthy, the identity that a device must show before it
 * is switched (P10), and what is wrong with the configuration of its fence (P7). Written when it changes.
 */
export async function recordHealthy(dependencies: FenceDependencies, node: Node): Promise<void> {
  const { listers, planner, recorder } = dependencies;
  const known = listers.reports.get(node.metadata.name)?.status;
  const problems: Problems = planner
    .planFor(node)
    .problems.slice(0, PROBLEMS_MAX)
    .map(({ severity, where, message }) => ({ severity, where, message }));
  const sameProblems = canonical(problems) === canonical(known?.problems ?? []);
  if (isRecorded(known, node) && sameProblems) return;
  const identity = isRecorded(known, node) ? known?.identity : identityOf(dependencies, node);
  await update(dependencies, node.metadata.name, (status) => ({ ...status, problems, ...(identity === undefined ? {} : { identity }) }));
  const first = problems.find((problem) => problem.severity === 'error');
  if (first !== undefined && !sameProblems) {
    const words = `This node could not be fenced as it should: ${first.where}: ${first.message}`;
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'FenceConfigurationInvalid', words);
  }
}

function isRecorded(known: Status | undefined, node: Node): boolean {
  const info = node.status.nodeInfo;
  const identity = known?.identity;
  const sameMachine = identity?.systemUUID === info?.systemUUID && identity?.providerID === node.spec.providerID;
  return identity?.nodeUID === (node.metadata.uid ?? '') && identity.bootID === info?.bootID && sameMachine;
}

function identityOf({ clock }: FenceDependencies, node: Node): NonNullable<Status['identity']> {
  const info = node.status.nodeInfo;
  return {
    nodeUID: node.metadata.uid ?? '',
    recordedAt: timestamp(clock),
    ...(info?.systemUUID === undefined ? {} : { systemUUID: info.systemUUID }),
    ...(node.spec.providerID === undefined ? {} : { providerID: node.spec.providerID }),
    ...(info?.bootID === undefined ? {} : { bootID: info.bootID }),
  };
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
