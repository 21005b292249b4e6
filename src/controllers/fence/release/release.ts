import { bounded, LIMITS } from '../../../domain/node-fence.ts';
import type { Released } from '../../../domain/node-fence.ts';
import type { Plan } from '../../../domain/plan.ts';
import { inTotal, isPaced, podName, releasePlan } from '../../../domain/release-plan.ts';
import type { PodFacts, ReleaseChoice, ReleasePlan } from '../../../domain/release-plan.ts';
import { timestamp } from '../../../ports/clock.ts';
import { failureOf } from '../../../ports/jobs.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { attachmentsOf, podFactsOf } from '../workload.ts';
import { LifeSeen, silentNode } from './order.ts';
import type { ReleaseOrder, ReleaseReport } from './order.ts';
import { setTaint } from './out-of-service.ts';
import type { TaintOwner } from './out-of-service.ts';
import { detach, letGo } from './pods.ts';
import type { Course } from './pods.ts';
import { podsWithStorages } from './storage.ts';

/** What one operation came to. */
interface Act extends Course {
  taint: Exclude<TaintOwner, 'nobody'> | undefined;
  /** Pods that are left for later batches. */
  left: number;
}

/**
 * Frees the workload of a node within what its proof permits, or the next batch of it. Node and Lease are read from the quorum first, and again before
 * each handful of pods. What was done before it had to stop is told in the report, whatever stopped it.
 */
export async function release(dependencies: FenceDependencies, order: ReleaseOrder): Promise<ReleaseReport> {
  const plan = order.status.frozen?.plan;
  const choice = plan === undefined ? undefined : choiceOf(plan, dependencies.options.outOfService);
  if (plan === undefined || choice === undefined) return { result: 'voided', message: 'release=none' };
  const act: Act = { freed: [], kept: [], mayHaveDetached: false, taint: undefined, left: 0 };
  const isScoped = order.status.step === 'isolation';
  let what: ReleasePlan | undefined;
  try {
    const pods = isScoped ? await podsWithStorages(dependencies.cluster, order.node, plan) : podFactsOf(dependencies.listers, order.node);
    what = releasePlan(order.proof, choice, pods, attachmentsOf(dependencies.listers, order.node));
    act.left = what.batched.length;
    await carryOut(dependencies, order, { what, choice, act });
    return reportOf(dependencies, order, { what, choice, act });
  } catch (error) {
    const end = error instanceof LifeSeen ? { result: 'voided' as const, message: error.message } : failureOf(error);
    if (what === undefined || (act.freed.length === 0 && act.taint === undefined && !act.mayHaveDetached)) {
      if (error instanceof LifeSeen) return end;
      throw error;
    }
    const so = reportOf(dependencies, order, { what, choice, act: { ...act, left: Math.max(1, what.batched.length - act.freed.length) } });
    return { ...so, ...end, message: bounded(`${end.message}; before that, ${so.message}`) };
  }
}

/** What the plan chose, resolved by what the server knows; `undefined`: nothing is let go. */
export function choiceOf({ release: mode, podsPerMinute, priorityOrder }: Plan, hasOutOfService: boolean): ReleaseChoice | undefined {
  if (mode === 'none') return undefined;
  const resolved = mode === 'auto' ? (hasOutOfService ? 'out-of-service' : 'delete-pods') : mode;
  return { mode: resolved, podsPerMinute, priorityOrder };
}

interface Doing {
  what: ReleasePlan;
  choice: ReleaseChoice;
  act: Act;
}

async function carryOut(dependencies: FenceDependencies, order: ReleaseOrder, { what, choice, act }: Doing): Promise<void> {
  const isNothing = what.batched.length === 0 && !what.taint && what.attachments.length === 0;
  if (isNothing) await silentNode(dependencies, order);
  if (what.batched.length > 0) await letGo(dependencies, order, what, choice, act);
  act.left = what.batched.length - act.freed.length;
  if (act.left > 0) return;
  if (what.taint)
    act.taint = await setTaint(dependencies, order, () => {
      act.taint = 'ours';
    });
  await detach(dependencies, order, what.attachments, act);
}

function reportOf(dependencies: FenceDependencies, order: ReleaseOrder, doing: Doing): ReleaseReport {
  const { act } = doing;
  const { released, storageRelease, step } = order.status;
  const before = step === 'isolation' ? storageRelease : released;
  const freed = freedBy(doing, before);
  const message = words(order, doing, freed);
  if (step === 'isolation' && freed.length === 0 && before === undefined) return { result: 'succeeded', message };
  const common = {
    at: before?.at ?? timestamp(dependencies.clock),
    pods: (before?.pods ?? 0) + freed.length,
    evidence: order.proof.source,
    names: [...new Set([...(before?.names ?? []), ...freed.map(podName)])].slice(0, LIMITS.podNames),
    ...(act.left > 0 || before !== undefined ? { left: act.left, batch: (before?.batch ?? 0) + 1 } : {}),
  };
  if (step !== 'isolation') return { result: 'succeeded', message, released: { by: waysOf(doing), ...common } };
  const { bootID, storages = [] } = order.proof;
  const all = [...new Set([...(storageRelease?.storages ?? []), ...storages])];
  return { result: 'succeeded', message, storageRelease: { ...common, storages: all, ...(bootID === undefined ? {} : { bootID }) } };
}

/** The taint lets go whatever is there, and what batches let go before it is gone or kept by a finalizer only. One that may have stood before has counted them. */
function freedBy({ what, act }: Doing, before: Partial<Released> | undefined): readonly PodFacts[] {
  if (act.taint === undefined || before?.by === 'out-of-service') return act.freed;
  return before === undefined ? what.pods : [...act.freed, ...what.pods.filter(isUncounted(what, act))];
}

/** In the taint's own operation: what no batch has counted. */
function isUncounted({ batched }: ReleasePlan, { freed }: Act): (pod: PodFacts) => boolean {
  return (pod) => !freed.includes(pod) && !batched.includes(pod) && !pod.isForced;
}

function waysOf({ what, act }: Doing): Released['by'] {
  if (act.taint !== undefined) return 'out-of-service';
  return what.treatment === 'evict' || what.treatment === 'evict-force' ? 'evict' : 'delete-pods';
}

function words({ node, proof, status }: ReleaseOrder, { what, choice, act }: Doing, freed: readonly PodFacts[]): string {
  const scope = status.step === 'isolation' ? `, whose writable volumes are all on ${(proof.storages ?? []).join(', ')}` : '';
  const by = waysOf({ what, choice, act });
  const parts = [`${by}: ${inTotal(freed)}, of ${node} on ${proof.kind}${scope}`];
  if (act.taint === 'foreign')
    parts.push("somebody else's out-of-service taint stands on the Node already: it is left as it is, and it is theirs to take away");
  if (act.kept.length > 0)
    parts.push(
      `a PodDisruptionBudget keeps ${act.kept.length} more, until release_timeout: ${act.kept.slice(0, LIMITS.podNames).map(podName).join(', ')}`,
    );
  const waiting = act.left - act.kept.length;
  if (waiting > 0) parts.push(`${waiting} more follow${isPaced(choice) ? ' at the pace of pods_per_minute and priority_order' : ''}`);
  return bounded(parts.join('; '));
}
