import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import { readyOf } from '../../controllers/fence/observation.ts';
import { holdsOnRemedy } from '../../controllers/fence/holds-for-other-controllers.ts';
import { ForeignObjects } from '../../controllers/fence/storm/foreign-objects.ts';
import { OPENSHIFT_NAMESPACE } from '../../controllers/fence/storm/etcd-members.ts';
import { Storm } from '../../controllers/fence/storm/storm.ts';
import type { FenceDependencies } from '../../controllers/fence/dependencies.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { PolicyName } from '../../domain/policies/policy.ts';
import type { RemedyStage } from '../../domain/policies/remedied.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Pod } from '../../ports/objects.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES, PODS } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { listed } from './listed-cluster.ts';

/** These rest on what the API shows; the others on what only the leader has seen or asked: of them a fence's own record tells. */
const JUDGED: readonly PolicyName[] = ['max-unhealthy', 'max-concurrent', 'failure-domain', 'control-plane', 'maintenance', 'windows'];
/** Members of etcd; OpenShift has them in a namespace of their own, with the pods that guard them. */
const ETCD_PODS = [{ namespace: 'kube-system', labelSelector: 'component=etcd' }, { namespace: OPENSHIFT_NAMESPACE }];
const DEFAULT_GRACE_SECONDS = 30;

export interface StormPicture {
  access: Pick<ClusterAccess, 'cluster'>;
  node: string;
  status: NodeFenceStatus | undefined;
  nowMs: number;
  /** The shell's ports, of which none acts. */
  dependencies: FenceDependencies;
  /** What remedies do to nodes now: asked is for a remedy. Absent: for a fence. */
  stages?: ReadonlyMap<string, RemedyStage>;
}

/** What storm policies say of one node now, judged as the leader would from what the API shows. Where that may not be read, what its fence records. */
export async function stormHolds({ access: { cluster }, node, status, nowMs, dependencies, stages }: StormPicture): Promise<readonly ActiveHold[]> {
  const { planner, listers } = dependencies;
  const policies = planner.stormPolicies();
  const judged = policies.filter(({ policy }) => JUDGED.includes(policy));
  const recorded = recordedHolds(status).filter(
    ({ policy, untilMs }) => policies.some(({ name }) => name === policy) && !(untilMs !== undefined && untilMs <= nowMs),
  );
  try {
    const [nodes, leases, fences, ...members] = await Promise.all([
      cluster.list(NODES),
      cluster.list(LEASES, { namespace: NODE_LEASE_NAMESPACE }),
      cluster.list(NODE_FENCES),
      ...ETCD_PODS.map((query) => cluster.list(PODS, query)),
    ]);
    // Those of the node itself say whether it has anything left to lose.
    const pods = listed([...members.flat(), ...listers.pods.all()], {
      [BY_NODE]: (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]),
    });
    const stamps = new Map([
      ...nodes.map((one) => [one.metadata.name, Date.parse(readyOf(one)?.lastHeartbeatTime ?? '')] as const),
      ...leases.map((lease) => [lease.metadata.name, Date.parse(lease.spec.renewTime ?? '')] as const),
    ]);
    const clock = new ManualClock({ monotonicMs: nowMs, wallMs: nowMs });
    const foreignMarks = new ForeignObjects({ cluster, clock, log: dependencies.log });
    if (judged.some(({ policy }) => policy === 'maintenance')) await foreignMarks.prepare();
    const storm = new Storm(
      {
        ...dependencies,
        clock,
        foreignMarks,
        listers: { ...listers, nodes: listed(nodes), leases: listed(leases), fences: listed(fences), pods },
        planner: {
          planFor: (one) => planner.planFor(one),
          parametersFor: (name, method) => planner.parametersFor(name, method),
          stormPolicies: () => judged,
        },
      },
      (name) => stamps.get(name),
      { terminatingSinceMs },
    );
    const holds = stages === undefined ? storm.activeHoldsOn(node) : holdsOnRemedy(dependencies, storm, node, stages);
    storm.close();
    const isJudged = ({ policy: own }: ActiveHold): boolean => judged.some(({ name, policy }) => name === own && policy !== 'maintenance');
    const isTold = ({ policy }: ActiveHold): boolean => holds.some((hold) => hold.policy === policy);
    return [...holds, ...recorded.filter((hold) => !isTold(hold) && !isJudged(hold))];
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 403) throw error;
    return recorded;
  }
}

/** Its deletion falls due when its grace is over. */
function terminatingSinceMs({ metadata: { deletionTimestamp = '', deletionGracePeriodSeconds = DEFAULT_GRACE_SECONDS } }: Pod): number | undefined {
  const dueMs = Date.parse(deletionTimestamp);
  return Number.isNaN(dueMs) ? undefined : dueMs - deletionGracePeriodSeconds * 1_000;
}

/** All that the leader says holds it: the recorded one and what stands beside it. The clock of a picture is the one on the wall. */
function recordedHolds(status: NodeFenceStatus | undefined): ActiveHold[] {
  const hold = status?.hold;
  if (hold === undefined) return [];
  return [hold, ...(hold.besides ?? [])].map(({ reason, policy, message, until }) => {
    const untilMs = Date.parse(until ?? '');
    return { reason, policy, message, ...(!Number.isNaN(untilMs) && { untilMs }) };
  });
}
