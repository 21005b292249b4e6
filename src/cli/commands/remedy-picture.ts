import type { RemedyDecision } from '../../domain/remedy/decide.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { Random } from '../../ports/random.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { messageOf } from '../../controllers/remedies/actions.ts';
import { Evictions } from '../../controllers/remedies/evictions.ts';
import { NodeMemory } from '../../controllers/remedies/memory.ts';
import { observe } from '../../controllers/remedies/observe.ts';
import { observedNode } from '../../controllers/remedies/observed.ts';
import { RemedyPermission } from '../../controllers/remedies/permission.ts';
import { isSilent, presenceOf } from '../../controllers/remedies/presence.ts';
import { isOwnIsolation } from '../../controllers/remedies/runs/fence-runs.ts';
import { Runs } from '../../controllers/remedies/runs/runs.ts';
import { restoredStatus } from '../../controllers/remedies/status.ts';

export interface RemedyPicture {
  /** Only read. */
  cluster: Cluster;
  random: Pick<Random, 'uuid'>;
  planner: Pick<Planner, 'planFor' | 'parametersFor'>;
  node: Node;
  report: NodeFenceReport | undefined;
  thresholds: readonly Threshold[];
  isIncomplete?: boolean | undefined;
  /** Of storm policies, against a remedy of this node. */
  storm: readonly ActiveHold[];
  /** The last sign of life of its kubelet. */
  lifeAtMs: number;
  nowMs: number;
  /** Since when the leader leads, which counts nothing from before; absent: nobody leads. */
  leadsSinceMs?: number | undefined;
  options: { namespace: string; mode: 'observe' | 'enforce'; ownNode?: string | undefined };
}

export interface PicturedDecision {
  decision: RemedyDecision;
  /** What is said with it. */
  message: string | undefined;
}

/**
 * What the table decides about one node now: the controller's own observation and decision, over what the API shows. When the leader itself saw things is
 * estimated from their time stamps. No device is asked.
 */
export async function picturedDecisions(picture: RemedyPicture): Promise<PicturedDecision[]> {
  const { cluster, random, planner, node, report, thresholds, isIncomplete, storm, lifeAtMs, nowMs, leadsSinceMs = 0, options } = picture;
  const clock = new ManualClock({ monotonicMs: nowMs, wallMs: nowMs });
  const memory = pictured(picture);
  const evictions = new Evictions(cluster, clock, (each) => planner.planFor(each));
  const runs = new Runs({ clock, cluster, evictions, planner, recorder: { event: () => undefined }, namespace: options.namespace });
  const { mode, ownNode } = options;
  const permission = new RemedyPermission(
    {
      ...{ cluster, clock, mode, stormHolds: () => storm },
      isOwnIsolation: (fence) => [...memory.states.values()].some(({ position }) => isOwnIsolation(fence, position)),
      ...(ownNode !== undefined && { ownNode }),
    },
    node.metadata.name,
  );
  const present = { clock, planner, prober: { probe: () => Promise.resolve(undefined) }, lifeAtMs: () => Math.max(lifeAtMs, leadsSinceMs) };
  const uuid = report?.status?.identity?.systemUUID;
  const found = await observe(
    { cluster, random, runs, evictions, presenceOf: (each) => presenceOf(present, each, uuid, new AbortController().signal) },
    { node, memory, thresholds, isIncomplete, report, permission, nowMs },
  );
  return found.decisions.map((decision) => ({ decision, message: messageOf(decision, found) }));
}

/** The node as the leader saw it come to be, from one time stamp to the next. */
function pictured({ node, report, thresholds, planner, lifeAtMs, nowMs, leadsSinceMs = 0 }: RemedyPicture): NodeMemory {
  const memory = new NodeMemory();
  const written = restoredStatus(report, { monotonicMs: nowMs, wallMs: nowMs }, node.metadata.uid);
  const sinceOf = (threshold: string): number => written.writtenAtMs.get(threshold) ?? nowMs;
  const states = new Map(
    [...written.states].map(([threshold, state]) => [threshold, { ...state, sinceMs: Math.min(nowMs, Math.max(sinceOf(threshold), leadsSinceMs)) }]),
  );
  memory.restore({ ...written, states }, (threshold) => leadsSinceMs > 0 && sinceOf(threshold) >= leadsSinceMs);
  const silentAtMs = Math.max(lifeAtMs, leadsSinceMs) + planner.planFor(node).timing.lifeWaitMs;
  const conditions = (node.status.conditions ?? []).map((condition) => {
    const heartbeatMs = stampOf(condition.lastHeartbeatTime);
    return { condition, heartbeatMs, sinceMs: Math.min(nowMs, stampOf(condition.lastTransitionTime) ?? heartbeatMs ?? nowMs) };
  });
  const moments = [nowMs, silentAtMs, ...conditions.flatMap(({ sinceMs, heartbeatMs = nowMs }) => [sinceMs, heartbeatMs])];
  for (const atMs of [...new Set(moments)].filter((each) => each <= nowMs).sort((one, other) => one - other)) {
    const standing = conditions.filter(({ sinceMs }) => sinceMs <= atMs);
    // Of heartbeats only the last is known: until then each moment had one.
    const heard = standing.map(({ condition, heartbeatMs = 0 }) =>
      heartbeatMs <= atMs ? condition : { ...condition, lastHeartbeatTime: new Date(atMs).toISOString() },
    );
    const then = { ...node, status: { ...node.status, conditions: heard } };
    const clock = new ManualClock({ monotonicMs: atMs, wallMs: atMs });
    const isQuiet = isSilent({ clock, planner, lifeAtMs: () => Math.max(lifeAtMs, leadsSinceMs) }, node);
    const now = { monotonicMs: atMs, wallMs: atMs, freshSinceMs: leadsSinceMs };
    memory.observe(observedNode(then, { isSilent: isQuiet, foundWell: undefined }, thresholds), thresholds, now);
  }
  return memory;
}

function stampOf(time: string | undefined): number | undefined {
  const stamp = Date.parse(time ?? '');
  return Number.isNaN(stamp) ? undefined : stamp;
}
