import { BY_NODE } from '../../../controllers/fence/dependencies.ts';
import type { FenceListers } from '../../../controllers/fence/dependencies.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { Lease, Node, NodeCondition } from '../../../ports/objects.ts';
import type { NodeFence, NodeFenceAcknowledgement, NodeFenceReport, NodeFenceStop } from '../../../ports/resources.ts';
import { leaderOf } from '../leader.ts';
import type { Leader } from '../leader.ts';
import { listed } from '../listed-cluster.ts';

/** Now, in every picture. */
export const NOW_MS = Date.UTC(2026, 2, 29, 2, 15, 0);

/** A time stamp so many seconds ago. */
export function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1_000).toISOString();
}

export function node(name: string, status: NodeCondition['status'], sinceSeconds: number, more: Partial<Node['spec']> = {}): Node {
  const reason = status === 'Unknown' ? 'NodeStatusUnknown' : status === 'True' ? 'KubeletReady' : 'KubeletNotReady';
  const conditions = [
    { type: 'Ready', status, reason, lastTransitionTime: ago(sinceSeconds), lastHeartbeatTime: ago(status === 'Unknown' ? sinceSeconds + 40 : 10) },
  ];
  return { metadata: { name, uid: `uid-${name}` }, spec: more, status: { conditions, nodeInfo: { bootID: `boot-${name}` } } };
}

export function kubeletLease(name: string, renewedSeconds: number): Lease {
  return { metadata: { name, namespace: 'kube-node-lease' }, spec: { holderIdentity: name, renewTime: ago(renewedSeconds) } };
}

export function leader(renewedSeconds = 1): Leader {
  const spec = {
    holderIdentity: 'node-7_0b1e5c3a-6f5e-4b0e-9d57-7a3f3a8a9c11',
    leaseDurationSeconds: 15,
    renewTime: ago(renewedSeconds),
    acquireTime: ago(7_500),
    leaseTransitions: 4,
  };
  return leaderOf({ metadata: { name: 'nodefence-controller' }, spec }, NOW_MS);
}

export function run(operation: string, startedSeconds: number, more: Partial<JournalEntry> = {}): JournalEntry {
  const [action = 'run', method = ''] = operation.split(':');
  return {
    id: `${operation}-${startedSeconds}`,
    step: action === 'run' ? 'isolation' : 'power-management',
    level: 1,
    operation,
    method,
    agent: action === 'run' ? method : 'redfish',
    device: action === 'run' ? '' : 'bmc',
    plug: '',
    action: action as JournalEntry['action'],
    attempt: 1,
    restart: 0,
    runner: 'in-process',
    epoch: 4,
    startedAt: ago(startedSeconds),
    deadlineMs: 18_000,
    ...more,
  };
}

export function fence(name: string, more: Partial<NodeFenceStatus>): NodeFence {
  const status: NodeFenceStatus = {
    state: 'running',
    step: 'power-management',
    level: 1,
    incident: 3,
    epoch: 4,
    frozen: { nodeUID: `uid-${name}`, bootID: `boot-${name}`, plan: planOf() },
    retries: 0,
    restarts: 0,
    trigger: { kind: 'node-condition', conditionType: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', since: ago(60) },
    jobs: [],
    journal: [run('run:cordon', 54, { finishedAt: ago(53), result: 'succeeded', message: 'cordoned' })],
    evidence: [],
    timeline: { failedAt: ago(60), noticedAt: ago(60), isolatedAt: ago(53) },
    conditions: [],
    history: [],
    message: 'The node is isolated; power-management follows after its delay.',
    restore: { cordoned: true },
    ...more,
  };
  return { metadata: { name: fenceName(name), uid: `fence-${name}` }, spec: { node: name }, status };
}

export interface Picture {
  nodes?: readonly Node[];
  leases?: readonly Lease[];
  fences?: readonly NodeFence[];
  stops?: readonly NodeFenceStop[];
  reports?: readonly NodeFenceReport[];
  acknowledgements?: readonly NodeFenceAcknowledgement[];
}

export function listersOf({ nodes = [], leases = [], fences = [], stops = [], reports = [], acknowledgements = [] }: Picture): FenceListers {
  return {
    nodes: listed(nodes),
    leases: listed(leases),
    pods: listed([], { [BY_NODE]: () => [] }),
    volumeAttachments: listed([], { [BY_NODE]: () => [] }),
    fences: listed(fences),
    stops: listed(stops),
    acknowledgements: listed(acknowledgements),
    reports: listed(reports),
  };
}
