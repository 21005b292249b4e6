import { revokedBy } from '../../domain/incident-record.ts';
import { fold, openEntries } from '../../domain/journal.ts';
import { bounded } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { isRestored } from '../../domain/restored.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { KnownFences } from './known-fences.ts';
import { recordIncident } from './report.ts';

/** A leader that was there has told of it by then; one that had just ended has a successor by then. */
const TOLD_BY_ANOTHER_MS = 300_000;

interface Lost {
  fence: NodeFence;
  /** Seen while another led: told only where this process leads before then. */
  untilMs: number;
}

/**
 * NodeFences that were taken away by force. With them goes the record of what they have switched off or closed: nobody takes it back, and a fence that begins now
 * knows nothing of it. That is told, once (P8).
 */
export class LostFences {
  readonly #dependencies: FenceDependencies;
  readonly #known: Pick<KnownFences, 'gone'>;
  /** By node; until it is told. */
  readonly #lost = new Map<string, Lost>();
  /** uids of those that this process itself has let go or has missed already, and whose end the watch has not shown yet. */
  readonly #over = new Set<string>();

  constructor(dependencies: FenceDependencies, known: Pick<KnownFences, 'gone'>) {
    this.#dependencies = dependencies;
    this.#known = known;
  }

  letGo({ metadata: { uid } }: NodeFence): void {
    if (uid !== undefined) this.#over.add(uid);
  }

  /** Its status could be written: whatever was to let it go has not. */
  stands({ metadata: { uid } }: NodeFence): void {
    if (uid !== undefined) this.#over.delete(uid);
  }

  /** The watch shows it no more. */
  gone(watched: NodeFence): void {
    const known = this.#known.gone(watched);
    if (!this.#over.delete(watched.metadata.uid ?? '')) this.#keep(known);
  }

  /** A write was refused, for there is none or another: the watch shows that later. */
  missed(known: NodeFence): void {
    const { uid = '' } = known.metadata;
    if (this.#over.has(uid)) return;
    this.#over.add(uid);
    this.#keep(known);
  }

  #keep(fence: NodeFence): void {
    const { clock, leadership } = this.#dependencies;
    const { spec, status } = fence;
    const isOurs = leadership.isLeading && status?.epoch === leadership.epoch;
    // Whoever takes it away by force takes our finalizer away before: one that has begun had it.
    if (status?.frozen === undefined || !(isOurs || isCutShort(fence))) return;
    const nowMs = clock.monotonicMs();
    for (const [node, { untilMs }] of this.#lost) if (untilMs < nowMs) this.#lost.delete(node);
    this.#lost.set(spec.node, { fence, untilMs: leadership.isLeading ? Number.POSITIVE_INFINITY : nowMs + TOLD_BY_ANOTHER_MS });
  }

  /**
   * Once no run of it is under way, whose `reports` say what it came to. `true`: one was lost, and those reports will stand nowhere. Before another one begins it is on
   * record which storage is closed to which boot, for nothing is opened to that (P1). Rejects where that can not be written.
   */
  async tell(name: string, { inFlight, reports }: { inFlight: ReadonlySet<string>; reports: readonly JobReport[] }): Promise<boolean> {
    const { clock, listers } = this.#dependencies;
    const lost = this.#lost.get(name);
    if (lost?.fence.status === undefined || inFlight.size > 0) return false;
    const isToTell = lost.untilMs >= clock.monotonicMs();
    const status = fold(lost.fence.status, reports);
    if (isToTell && revokedBy(status) !== undefined && listers.nodes.get(name) !== undefined) await recordIncident(this.#dependencies, name, status);
    if (this.#lost.get(name) === lost) this.#lost.delete(name);
    if (isToTell) this.#emit(name, status);
    return isToTell;
  }

  #emit(name: string, status: NodeFenceStatus): void {
    const left = describeLeft(status);
    if (left === '') return;
    const { recorder, log, metrics, listers } = this.#dependencies;
    const message = describe(status, left);
    metrics.problem('FenceRemovedByForce');
    log.warn('fence removed by force', { node: name, detail: message });
    const node = listers.nodes.get(name);
    if (node !== undefined) recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'FenceRemovedByForce', message);
  }
}

/** Of what another leader wrote last nobody here knows whether that one had let it go, but for one that no leader ever does: it is neither over nor being deleted. */
function isCutShort(fence: NodeFence): boolean {
  return fence.status?.state !== 'final' && fence.metadata.deletionTimestamp === undefined && !isRestored(fence);
}

/** An off that nobody has heard the end of may have been carried out. */
function describeLeft(status: NodeFenceStatus): string {
  const edges = status.restore?.edges ?? [];
  const open = openEntries(status).filter(
    ({ action, device, plug }) => action === 'off' && !edges.some((edge) => edge.device === device && edge.plug === plug),
  );
  const named = ({ method, agent, device, plug }: Record<'method' | 'agent' | 'device' | 'plug', string>): string =>
    `${method} (${`${agent} ${device} ${plug}`.trim()})`;
  return [...edges.map((edge) => `${named(edge)} is ${edge.state}`), ...open.map((entry) => `${named(entry)} may be off or closed`)].join(', ');
}

function describe({ incident }: NodeFenceStatus, left: string): string {
  return bounded(
    `The NodeFence of incident ${incident} was removed by force, and what it had done is on no record any more. LeftOff: ${left}. A fence that begins now does not know of it: once none is open, check the machine and put it back there.`,
  );
}
