import { proofOf } from '../../src/domain/evidence.ts';
import type { JobResult } from '../../src/domain/node-fence.ts';
import { inTotal, nextBatch, paceOf, podName, releasePlan } from '../../src/domain/release-plan.ts';
import type { PodFacts, ReleaseChoice, ReleasePlan } from '../../src/domain/release-plan.ts';
import type { JobReport } from '../../src/domain/snapshot.ts';
import { Model } from '../../src/domain/testing/model.ts';

/** What one operation of a release did to the pods. */
const BUDGET_AGAIN_MS = 5_000;

interface Act {
  what: ReleasePlan;
  freed: readonly PodFacts[];
  /** Kept by a PodDisruptionBudget. */
  kept: readonly PodFacts[];
}

/** A model whose node has pods by name: the rules of a release say which of them go, in which order, how many at a time. */
export class SceneModel extends Model {
  #pods: readonly PodFacts[] = [];
  /** Pods that the last batch asked for in vain. */
  #kept = 0;
  /** How many pods of an owner may go before its budget is exhausted. */
  readonly #budgets = new Map<string, number>();

  /** `web/db-0 of StatefulSet db priority=1000 class=gold storages=san,nas`; `storages=unknown`: a writable volume on no declared storage. */
  addPod(words: string): void {
    const [, namespace = '', name = '', ownerKind = '', ownerName = '', rest = ''] = /^(\S+)\/(\S+)(?: of (\S+) (\S+))?(.*)$/.exec(words) ?? [];
    const settings = new Map(rest.split(' ').map((word): [string, string] => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']));
    const storages = (settings.get('storages') ?? '').split(',').filter((storage) => storage !== '' && storage !== 'unknown');
    const pod: PodFacts = {
      ...{ namespace, name, uid: `uid-${name}`, ownerKind, ownerName, storages },
      ...{ priority: Number(settings.get('priority') ?? 0), priorityClass: settings.get('class') },
      ...{ isMeantToStay: settings.has('tolerates'), staysForNow: false, isTerminating: false, isForced: false },
      hasUnknownVolume: rest.includes('unknown'),
    };
    this.#pods = [...this.#pods, pod];
    this.workload = { ...this.workload, pods: this.#pods.length };
  }

  override drained(): void {
    this.workload = { pods: this.#kept, terminating: 0, volumeAttachments: 0 };
  }

  budget(owner: string, allowed: number): void {
    this.#budgets.set(owner, allowed);
  }

  podWords(): string {
    return this.#pods.length === 0 ? 'no pods' : `pods: ${this.#pods.map(podName).join(', ')}`;
  }

  override finish(result: JobResult, more: Partial<JobReport> = {}): void {
    const action = this.dispatched.at(-1)?.entry.action;
    const isRelease = result === 'succeeded' && action === 'release' && this.#pods.length > 0;
    super.finish(result, { ...more, ...(isRelease ? this.#letGo(more) : {}) });
  }

  #letGo({ storageRelease }: Partial<JobReport>): Partial<JobReport> {
    const { status } = this;
    const plan = status.frozen?.plan ?? this.plan;
    const proof = proofOf(status.evidence, plan, status.step);
    if (proof === undefined) throw new Error('a release without a proof');
    const { release, podsPerMinute, priorityOrder } = plan;
    const choice: ReleaseChoice = { mode: release === 'auto' || release === 'none' ? 'out-of-service' : release, podsPerMinute, priorityOrder };
    const what = releasePlan(proof, choice, this.#pods, []);
    const act = what.treatment.startsWith('evict') ? this.#evicted(what, paceOf(choice).size) : { what, freed: nextBatch(what, choice), kept: [] };
    const left = what.batched.length - act.freed.length;
    const gone = what.taint && left === 0 ? what.pods : act.freed;
    // Those that go are terminating until the world has taken them away.
    this.workload = { ...this.workload, pods: this.#pods.length, terminating: gone.length };
    this.#pods = this.#pods.filter((pod) => !gone.includes(pod));
    const before = status.step === 'isolation' ? status.storageRelease : status.released;
    const common = {
      ...{ at: before?.at ?? new Date(1_700_000_000_000 + this.nowMs).toISOString(), evidence: proof.source },
      ...{
        pods: (before?.pods ?? 0) + gone.length,
        left,
        batch: (before?.batch ?? 0) + (gone.length > 0 || before === undefined ? 1 : 0),
        names: [...(before?.names ?? []), ...gone.map(podName)],
      },
    };
    this.#kept = act.kept.length;
    const kept = act.kept.map((pod) => ({ pod: podName(pod), by: 'a PodDisruptionBudget' }));
    if (kept.length > 0) Object.assign(common, { kept, againInMs: left === kept.length ? BUDGET_AGAIN_MS : 0 });
    const message = wordsOf(act, gone, left);
    if (status.step === 'isolation')
      return { message, ...(storageRelease === undefined ? {} : { storageRelease: { ...storageRelease, ...common } }) };
    const by =
      what.taint && left === 0 ? ('out-of-service' as const) : what.treatment.startsWith('evict') ? ('evict' as const) : ('delete-pods' as const);
    return { message, released: { by, ...common } };
  }

  #evicted(what: ReleasePlan, size: number): Act {
    const freed: PodFacts[] = [];
    const kept: PodFacts[] = [];
    for (const pod of what.batched) {
      if (freed.length >= size) break;
      const allowed = this.#budgets.get(pod.ownerName);
      if (allowed === 0) kept.push(pod);
      else freed.push(pod);
      if (allowed !== undefined && allowed > 0) this.#budgets.set(pod.ownerName, allowed - 1);
    }
    return { what, freed, kept };
  }
}

function wordsOf({ what, kept }: Act, gone: readonly PodFacts[], left: number): string {
  const names = gone.length === 0 ? '' : ` (${gone.map(podName).join(', ')})`;
  const parts = [`${what.taint && left === 0 ? 'taint' : what.treatment}: ${inTotal(gone)}${names}`];
  if (kept.length > 0) parts.push(`a PodDisruptionBudget keeps ${kept.map(podName).join(', ')}`);
  if (left > kept.length) parts.push(`${left - kept.length} more follow`);
  return parts.join('; ');
}
