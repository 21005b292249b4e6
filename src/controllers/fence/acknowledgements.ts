import { refusalOf } from '../../domain/acknowledgement.ts';
import type { AcknowledgementFacts } from '../../domain/acknowledgement.ts';
import { fenceName, isNamedAsItsNode } from '../../domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Plan, PlanMethod } from '../../domain/plan.ts';
import type { JobReport, Snapshot } from '../../domain/snapshot.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { authorOf, REQUESTED_BY, voucher } from '../../ports/authorship.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Lease } from '../../ports/objects.ts';
import { LEASES, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../ports/resources.ts';
import type { AcknowledgementStatus, NodeFence, NodeFenceAcknowledgement } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { NodeObservation } from './observation.ts';

/** A settled word is kept so long after its incident, for those who look for it. */
const KEPT_MS = 3_600_000;
const VERSION = /^\d+$/;
/** A word that our watches do not know enough to take is looked at again after so long. */
const LATE_MS = 1_000;
/** The clocks of a node and of an API server differ by less. */
const CLOCKS_APART_MS = 60_000;

/** What a word is weighed for. `life`: what was last heard of the node; `mayGoOn` throws when lease or stop forbid. */
interface Weighing {
  fence: NodeFence;
  status: NodeFenceStatus;
  entry: JournalEntry;
  bootID: string | undefined;
  life: () => Pick<NodeObservation, 'lifeAtMs' | 'hasSpoken'>;
  mayGoOn: () => void;
}

type ReadState = (method: PlanMethod) => Promise<{ state: string; detail: string }>;

/** People's words: which of them wait, which can never count, and the one that is weighed. */
export class Acknowledgements {
  readonly #dependencies: FenceDependencies;
  /** Monotonic time of first sight, by uid; as many as there are objects. */
  readonly #firstSeenMs = new Map<string, number>();

  constructor(dependencies: FenceDependencies) {
    this.#dependencies = dependencies;
    dependencies.listers.acknowledgements.onChange((before, after) => {
      if (after === undefined) this.#firstSeenMs.delete(before?.metadata.uid ?? '');
      else this.#ageOf(after);
      const node = (after ?? before)?.spec.node;
      if (node !== undefined) dependencies.queue.add(node);
    });
  }

  /** The oldest word for this fence that waits to be weighed and may count; for the snapshot. */
  pendingFor(node: string, fence: NodeFence | undefined, bootID: string | undefined): Snapshot['acknowledgement'] {
    const words = this.#acknowledgementsOf(node).filter((word) => isWaiting(word, fence?.status) && this.#refusal(word, fence, bootID) === undefined);
    const first = words.sort((left, right) => compare(left.metadata.creationTimestamp, right.metadata.creationTimestamp))[0];
    return first === undefined ? undefined : { name: first.metadata.name, uid: first.metadata.uid ?? '' };
  }

  /** Tells the people whose word can never count, and takes away what is long settled. */
  async settle(node: string, fence: NodeFence | undefined, bootID: string | undefined): Promise<void> {
    for (const word of this.#acknowledgementsOf(node)) {
      const isSettled = word.status?.state !== undefined;
      const isRefused = !isSettled && this.#refusal(word, fence, bootID) !== undefined;
      // It is refused for good: our watches may be behind the person.
      const why = isRefused ? await this.#refusalNow(word) : undefined;
      if (isRefused && why === undefined) this.#dependencies.queue.add(node, LATE_MS);
      if (why !== undefined) await this.#answer(word, { state: 'refused', message: why }, await this.#authorOf(word));
      else if (isSettled && this.#ageOf(word) > KEPT_MS && !isRestedOn(word, fence?.status)) await this.#remove(word);
    }
  }

  /**
   * Weighs the word that a journal entry names: read anew from the API server, every device that the plan switches read once, none of them on. Marking
   * the object is what makes it count once: whoever's write is acknowledged has used it.
   */
  async weigh(order: Weighing, readState: ReadState): Promise<Omit<JobReport, 'id' | 'finishedAt'>> {
    const { entry, status, fence, bootID } = order;
    const word = await this.#dependencies.cluster.get(NODE_FENCE_ACKNOWLEDGEMENTS, entry.method);
    if (word?.metadata.uid !== entry.plug) return { result: 'refused', message: `the acknowledgement ${entry.method} was taken back` };
    const why = this.#refusal(word, { ...fence, status }, bootID) ?? usedElsewhere(word, status);
    const plan = status.frozen?.plan;
    const [{ seen, message }, author, kubelet] = await Promise.all([
      plan === undefined || why !== undefined ? { seen: [], message: why } : contradiction(plan, readState),
      this.#authorOf(word),
      this.#dependencies.cluster.get(LEASES, word.spec.node, NODE_LEASE_NAMESPACE),
    ]);
    if (message !== undefined) return this.#refuse(word, message, author);
    if (isRenewedSince(kubelet, word)) return this.#refuse(word, 'the kubelet has renewed its Lease since: look at the machine again', author);
    const firstSeenMs = this.#firstSeenMs.get(entry.plug);
    const { hasSpoken, lifeAtMs } = order.life();
    // What stood there when this process saw the node first is no news.
    if (firstSeenMs !== undefined && hasSpoken && lifeAtMs > firstSeenMs)
      return this.#refuse(word, 'the node has shown a sign of life since: it is not down', author);
    order.mayGoOn();
    // From here on any sign of life takes the evidence away; a dead device's silence before is no reason to ask again.
    const provenAtMs = this.#dependencies.clock.monotonicMs();
    const accepted = { state: 'accepted' as const, message: 'It is evidence now.', usedBy: entry.id };
    if (word.status?.state === undefined && !(await this.#answer(word, accepted, author, order.mayGoOn)))
      return { result: 'interrupted', message: `the acknowledgement ${entry.method} was changed meanwhile; it is read again` };
    const devices = seen.map(({ method, state }) => `${method.device} ${method.plug} reads ${state}`.replace('  ', ' ')).join(', ');
    const detail = `${entry.method}${author === undefined ? '' : ` by ${author}`}: ${word.spec.reason}${devices === '' ? '' : ` (${devices})`}`;
    return {
      result: 'succeeded',
      message: `acknowledgement: ${detail}`,
      evidence: {
        kind: 'ack',
        grade: 'person',
        detail,
        observedAt: timestamp(this.#dependencies.clock),
        ...(bootID === undefined ? {} : { bootID }),
      },
      evidenceAtMs: provenAtMs,
    };
  }

  #acknowledgementsOf(node: string): NodeFenceAcknowledgement[] {
    return [...this.#dependencies.listers.acknowledgements.all()].filter((word) => word.spec.node === node);
  }

  /** By what the API server has now. */
  async #refusalNow(word: NodeFenceAcknowledgement): Promise<string | undefined> {
    const { cluster } = this.#dependencies;
    const { node } = word.spec;
    const [fence, standing] = await Promise.all([cluster.get(NODE_FENCES, fenceName(node)), cluster.get(NODES, node)]);
    return this.#refusal(word, fence !== undefined && isNamedAsItsNode(fence) ? fence : undefined, standing?.status.nodeInfo?.bootID);
  }

  #refusal(word: NodeFenceAcknowledgement, fence: NodeFence | undefined, bootID: string | undefined): string | undefined {
    const facts: AcknowledgementFacts = {
      uid: word.metadata.uid,
      nodeFenceUID: word.spec.nodeFenceUID,
      incident: word.spec.incident,
      bootID: word.spec.bootID,
      // A word that counts already was young enough when it was weighed first.
      ageMs: word.status?.state === 'accepted' ? 0 : this.#ageOf(word),
    };
    const status = fence?.status;
    return refusalOf(facts, fence === undefined || status?.frozen === undefined ? undefined : { uid: fence.metadata.uid ?? '', status }, { bootID });
  }

  /** Since our first sight, or by the server's stamp, whichever is more: a restart of ours must not make a word young again. */
  #ageOf(word: NodeFenceAcknowledgement): number {
    const { clock } = this.#dependencies;
    const uid = word.metadata.uid ?? '';
    const firstMs = this.#firstSeenMs.get(uid) ?? clock.monotonicMs();
    this.#firstSeenMs.set(uid, firstMs);
    const stamp = Date.parse(word.metadata.creationTimestamp ?? '');
    return Math.max(clock.monotonicMs() - firstMs, Number.isNaN(stamp) ? 0 : clock.wallMs() - stamp);
  }

  async #refuse(word: NodeFenceAcknowledgement, message: string, author: string | undefined): Promise<{ result: 'refused'; message: string }> {
    if (word.status?.state === undefined) await this.#answer(word, { state: 'refused', message }, author);
    return { result: 'refused', message: `the acknowledgement ${word.metadata.name} is refused: ${message}` };
  }

  /** Who gave it, as far as the API server vouches for that; nothing is asked where it names nobody. */
  async #authorOf(word: NodeFenceAcknowledgement): Promise<string | undefined> {
    if (word.metadata.annotations?.[REQUESTED_BY] === undefined) return undefined;
    return authorOf(word, await voucher(this.#dependencies.cluster));
  }

  /** `false`: somebody changed or removed it meanwhile. */
  async #answer(
    word: NodeFenceAcknowledgement,
    status: Omit<AcknowledgementStatus, 'at'>,
    author: string | undefined,
    beforeSend?: () => void,
  ): Promise<boolean> {
    const answered = { ...word, status: { ...status, at: timestamp(this.#dependencies.clock) } };
    try {
      await this.#dependencies.cluster.replaceStatus(NODE_FENCE_ACKNOWLEDGEMENTS, answered, { beforeSend });
      this.#dependencies.log.info('acknowledgement processed', {
        node: word.spec.node,
        object: word.metadata.name,
        ...(author !== undefined && { by: author }),
        state: status.state,
        reason: status.message,
      });
      return true;
    } catch (error) {
      if (error instanceof ApiStatusError && (error.status === 404 || error.status === 409)) return false;
      throw error;
    }
  }

  async #remove(word: NodeFenceAcknowledgement): Promise<void> {
    const { uid } = word.metadata;
    await this.#dependencies.cluster.remove(NODE_FENCE_ACKNOWLEDGEMENTS, word.metadata.name, uid === undefined ? {} : { uid });
  }
}

/**
 * Nobody here may have run when the word was given: the API server's own versions say which of the two was written later. Leases may be in a store of their
 * own, which counts otherwise: one that the kubelet stamped long before the word was given is no later, whatever its version.
 */
function isRenewedSince(kubelet: Lease | undefined, { metadata }: NodeFenceAcknowledgement): boolean {
  const [later, earlier] = [kubelet?.metadata.resourceVersion ?? '', metadata.resourceVersion ?? ''];
  if (!VERSION.test(later) || !VERSION.test(earlier) || BigInt(later) <= BigInt(earlier)) return false;
  const [renewedMs, givenMs] = [Date.parse(kubelet?.spec.renewTime ?? ''), Date.parse(metadata.creationTimestamp ?? '')];
  return !(renewedMs < givenMs - CLOCKS_APART_MS);
}

/** Not answered yet, or accepted by a run whose result a crash or a lost answer kept out of the journal. */
function isWaiting(word: NodeFenceAcknowledgement, status: NodeFenceStatus | undefined): boolean {
  if (word.status?.state === undefined) return true;
  const run = status?.journal.find((entry) => entry.id === word.status?.usedBy);
  return word.status.state === 'accepted' && run !== undefined && run.result !== 'succeeded';
}

/** Evidence of an open fence comes from it: it is weighed anew before each batch of the release, however long that takes or is held. */
function isRestedOn({ metadata: { uid } }: NodeFenceAcknowledgement, status: NodeFenceStatus | undefined): boolean {
  if (status === undefined || status.state === 'final') return false;
  const standing = new Set(status.evidence.filter(({ voidedAt }) => voidedAt === undefined).map(({ source }) => source));
  return status.journal.some(({ id, action, plug }) => action === 'acknowledge' && plug === uid && standing.has(id));
}

/** A word that this very fence has used counts on, until the workload is released; any other use is its end. */
function usedElsewhere(word: NodeFenceAcknowledgement, status: NodeFenceStatus): string | undefined {
  if (word.status?.state === undefined) return undefined;
  const { uid } = word.metadata;
  const { state, usedBy } = word.status;
  // The run that used it first goes from a journal that is full; those that weighed it anew are of this fence too.
  const isOurs =
    state === 'accepted' &&
    status.journal.some(({ id, action, plug, result }) => action === 'acknowledge' && (id === usedBy || (plug === uid && result === 'succeeded')));
  return isOurs ? undefined : `it was ${state} before`;
}

/** Every device that the plan switches, read once; `message`: one of them is not down, whatever a person says. */
export async function contradiction(
  plan: Plan,
  readState: ReadState,
): Promise<{ seen: readonly { method: PlanMethod; state: string; detail: string }[]; message?: string }> {
  const seen = await Promise.all(switched(plan).map(async (method) => ({ method, ...(await readState(method)) })));
  const alive = seen.find(({ state }) => state !== 'off' && state !== 'closed' && state !== 'unknown');
  if (alive === undefined) return { seen };
  return { seen, message: `${alive.method.device} ${alive.method.plug} reads ${alive.state} (${alive.detail}): it is not down` };
}

/** Each plug that the plan would switch off, on every level, once. */
function switched(plan: Plan): PlanMethod[] {
  const methods = plan.powerManagement.flatMap((level) => level.methods).filter((method) => method.kind !== 'action');
  return [...new Map(methods.map((method) => [`${method.device} ${method.plug}`, method])).values()];
}

function compare(left: string | undefined, right: string | undefined): number {
  return (left ?? '') < (right ?? '') ? -1 : 1;
}
