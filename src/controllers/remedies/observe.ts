import { fenceName } from '../../domain/node-fence.ts';
import { decideRemedies } from '../../domain/remedy/decide.ts';
import type { RemedyDecision } from '../../domain/remedy/decide.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import { isOfEpisode, useOfRun } from '../../domain/remedy/position.ts';
import type { Presence, RemedyFacts, RemedyHold, RemedyPosition, RemedyRun } from '../../domain/remedy/position.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import { NODE_FENCES } from '../../ports/resources.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import type { Random } from '../../ports/random.ts';
import { ownerOf } from '../shared/claims/claim.ts';
import type { Evictions } from './evictions.ts';
import type { NodeMemory } from './memory.ts';
import type { RemedyPermission } from './permission.ts';
import type { RunContext, SeenRun } from './runs/run-kind.ts';
import type { Runs } from './runs/runs.ts';

export interface ObservationDependencies {
  cluster: Pick<Cluster, 'get'>;
  random: Pick<Random, 'uuid'>;
  runs: Runs;
  evictions: Evictions;
  presenceOf: (node: Node) => Promise<Presence>;
}

export interface ObservationRequest {
  node: Node;
  memory: NodeMemory;
  thresholds: readonly Threshold[];
  isIncomplete?: boolean | undefined;
  report: NodeFenceReport | undefined;
  permission: RemedyPermission;
  nowMs: number;
}

/** What consistent reads show of one node, and what is decided by it. */
export interface Observation {
  node: Node;
  decisions: readonly RemedyDecision[];
  /** By the id of the run. */
  seen: ReadonlyMap<string, SeenRun>;
  contexts: ReadonlyMap<string, RunContext>;
  fence: NodeFence | undefined;
  holds: readonly RemedyHold[];
  /** What `clean-resource` left, in words, by threshold. */
  leftMessages: ReadonlyMap<string, string>;
}

/** Devices are not read for an answer that decides nothing: no pods are left, or something holds, such as a fence that is after the node. */
const NOT_ASKED: Presence = { kind: 'unproven', waitsFor: 'nothing' };

/** Rejects when something could not be read: then nothing is decided. */
export async function observe(dependencies: ObservationDependencies, request: ObservationRequest): Promise<Observation> {
  const { node, memory, thresholds, permission, nowMs } = request;
  const { cluster, random } = dependencies;
  const contexts = new Map([...memory.states.values()].flatMap(({ position }) => contextOf(request, position)));
  const seenOf = async ([id, context]: [string, RunContext]): Promise<[string, SeenRun]> => [id, await runOf(dependencies, context)];
  const [seen, holds, fence] = await Promise.all([
    Promise.all([...contexts].map(seenOf)),
    permission.ask(),
    cluster.get(NODE_FENCES, fenceName(node.metadata.name)),
  ]);
  const { cleaned, leftMessages } = await cleaningOf(dependencies, request);
  const isAsked = leftMessages.size > 0 && holds.length === 0;
  const presence = isAsked ? (callUnderWay(fence) ?? (await dependencies.presenceOf(node))) : NOT_ASKED;
  const outcomes = new Map(seen);
  const decisions = decideRemedies({
    nowMs,
    thresholds,
    isIncomplete: request.isIncomplete,
    observed: memory.observed ?? { standings: {} },
    states: memory.states,
    outcomeOf: ({ id }: RemedyRun) => outcomes.get(id)?.outcome ?? 'unknown',
    holds,
    fence: openFence(fence),
    newestPodOf: ({ id }: RemedyRun) => outcomes.get(id)?.newestPod,
    presence,
    cleaned,
    resumed: resumedOf(request),
    bootID: node.status.nodeInfo?.bootID,
    uuid: random.uuid(),
  });
  return { node, decisions, seen: outcomes, contexts, fence, holds, leftMessages };
}

function contextOf({ node, memory, thresholds }: ObservationRequest, position: RemedyPosition): [string, RunContext][] {
  const { run } = position;
  if (run === undefined) return [];
  const threshold = thresholds.find(({ id }) => id === position.threshold);
  const use = threshold === undefined ? undefined : useOfRun(threshold, run);
  return [[run.id, { node, memory, position, run, threshold, use }]];
}

/** Which pods stand there is counted when it has succeeded, where they are to be let go then. */
async function runOf({ runs, evictions }: ObservationDependencies, context: RunContext): Promise<SeenRun> {
  const seen = await runs.of(context).observe(context);
  // What evicts has counted them already.
  if (seen.outcome !== 'succeeded' || context.run.kind === 'evict' || context.use?.cleansResources !== true) return seen;
  const { episode, serial } = context.position;
  return { ...seen, newestPod: (await evictions.left(context.node, context.memory, { episode, serial })).newest };
}

/** Only where a remedy is to let pods go. */
async function cleaningOf(
  { evictions }: ObservationDependencies,
  { node, memory, thresholds, nowMs }: ObservationRequest,
): Promise<{ cleaned: ReadonlySet<string>; leftMessages: ReadonlyMap<string, string> }> {
  const cleaned = new Set<string>();
  const leftMessages = new Map<string, string>();
  for (const threshold of thresholds) {
    const position = memory.states.get(threshold.id)?.position;
    if (position?.cleans === undefined || memory.viewOf(threshold, nowMs).phase !== 'standing') continue;
    const left = await evictions.left(node, memory, position);
    if (left.pods === 0) cleaned.add(threshold.id);
    else leftMessages.set(threshold.id, left.message);
  }
  return { cleaned, leftMessages };
}

/** P5: a call of a predecessor may still arrive until its deadline, and no device of the node is touched before the fence has closed it. */
function callUnderWay(fence: NodeFence | undefined): Presence | undefined {
  const entry = fence?.status?.journal.find(({ finishedAt, device }) => finishedAt === undefined && device !== '');
  return entry && { kind: 'unproven', waitsFor: `its fence has a call to ${entry.device} under way` };
}

/** Who asked for it stays known when the request is withdrawn. */
function openFence(fence: NodeFence | undefined): RemedyFacts['fence'] {
  if (fence === undefined || ownerOf(fence) === undefined) return undefined;
  return { byRun: fence.spec.requestedBy?.uid ?? fence.status?.trigger?.requestUID };
}

function resumedOf({ report, memory }: ObservationRequest): ReadonlySet<string> {
  const words = report?.spec?.resumedRemedies ?? [];
  const isResumed = ({ position }: { position: RemedyPosition }): boolean =>
    words.some(({ threshold, episode }) => threshold === position.threshold && episode === position.episode);
  return new Set([...memory.states].filter(([, state]) => isResumed(state)).map(([threshold]) => threshold));
}

/** A fence that some remedy of this node asked for, and none of its present ones that is not over: what waits only for a relapse isolates nothing. */
export function isOrphan({ requestedBy }: NodeFence['spec'], kind: string, memory: NodeMemory): boolean {
  if (requestedBy?.kind !== kind) return false;
  return ![...memory.states.values()].some(({ position }) => position.phase !== 'recovered' && isOfEpisode(requestedBy.uid, position));
}
