import { readyOf } from '../../controllers/fence/observation.ts';
import { Storm } from '../../controllers/fence/storm/storm.ts';
import type { FenceDependencies } from '../../controllers/fence/dependencies.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { PolicyName } from '../../domain/policies/policy.ts';
import type { StandingHold } from '../../domain/snapshot.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES, PODS } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { listed } from './listed-cluster.ts';

/** These rest on what the API shows; the others on what only the leader has seen or asked: of them a fence's own record tells. */
const JUDGED: readonly PolicyName[] = ['max-unhealthy', 'max-concurrent', 'failure-domain', 'control-plane', 'maintenance', 'windows'];
const ETCD_PODS = { namespace: 'kube-system', labelSelector: 'component=etcd' };

export interface StormPicture {
  access: Pick<ClusterAccess, 'cluster'>;
  node: string;
  status: NodeFenceStatus | undefined;
  nowMs: number;
  /** The shell's ports, of which none acts. */
  dependencies: FenceDependencies;
}

/** What storm policies say of one node now, judged as the leader would from what the API shows. Where that may not be read, what its fence records. */
export async function stormHolds({ access: { cluster }, node, status, nowMs, dependencies }: StormPicture): Promise<readonly StandingHold[]> {
  const { planner, listers } = dependencies;
  const policies = planner.stormPolicies();
  const judged = policies.filter(({ policy }) => JUDGED.includes(policy));
  const recorded = policies.some(({ name }) => name === status?.hold?.policy) ? status?.hold : undefined;
  const kept = recorded === undefined ? [] : [{ reason: recorded.reason, policy: recorded.policy, message: recorded.message }];
  try {
    const [nodes, leases, fences, pods] = await Promise.all([
      cluster.list(NODES),
      cluster.list(LEASES, { namespace: NODE_LEASE_NAMESPACE }),
      cluster.list(NODE_FENCES),
      cluster.list(PODS, ETCD_PODS),
    ]);
    const stamps = new Map([
      ...nodes.map((one) => [one.metadata.name, Date.parse(readyOf(one)?.lastHeartbeatTime ?? '')] as const),
      ...leases.map((lease) => [lease.metadata.name, Date.parse(lease.spec.renewTime ?? '')] as const),
    ]);
    const storm = new Storm(
      {
        ...dependencies,
        clock: new ManualClock({ monotonicMs: nowMs, wallMs: nowMs }),
        listers: { ...listers, nodes: listed(nodes), leases: listed(leases), fences: listed(fences), pods: listed(pods, { node: () => [] }) },
        planner: {
          planFor: (one) => planner.planFor(one),
          parametersFor: (name, method) => planner.parametersFor(name, method),
          stormPolicies: () => judged,
        },
      },
      (name) => stamps.get(name),
    );
    const holds = storm.standingOn(node);
    storm.close();
    const isTold = holds.some(({ policy }) => policy === recorded?.policy);
    const isOurs = judged.some(({ name, policy }) => name === recorded?.policy && policy !== 'maintenance');
    return isTold || isOurs ? holds : [...holds, ...kept];
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
    return kept;
  }
}
