import { fold } from '../../domain/journal.ts';
import { bounded } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { FINALIZER } from '../shared/ownership.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { KnownFences } from './known-fences.ts';

type Dependencies = Pick<FenceDependencies, 'leadership' | 'listers' | 'log' | 'metrics' | 'recorder'>;

/**
 * NodeFences that were taken away by force. With them goes the record of what they have switched off or closed: nobody takes it back, and a fence that begins now
 * knows nothing of it. That is told, once (P8).
 */
export class LostFences {
  readonly #dependencies: Dependencies;
  readonly #known: Pick<KnownFences, 'gone'>;
  /** By node; until it is told. */
  readonly #lost = new Map<string, NodeFence>();
  /** uids of those that this process itself has let go or has missed already, and whose end the watch has not shown yet. */
  readonly #over = new Set<string>();

  constructor(dependencies: Dependencies, known: Pick<KnownFences, 'gone'>) {
    this.#dependencies = dependencies;
    this.#known = known;
  }

  letGo({ metadata: { uid } }: NodeFence): void {
    if (uid !== undefined) this.#over.add(uid);
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

  /** Of what another leader wrote last nobody here knows whether that one had let it go. */
  #keep(known: NodeFence): void {
    const { isLeading, epoch } = this.#dependencies.leadership;
    const { metadata, spec, status } = known;
    const wasHeld = metadata.finalizers?.includes(FINALIZER) === true && status?.frozen !== undefined;
    if (isLeading && wasHeld && status.epoch === epoch) this.#lost.set(spec.node, known);
  }

  /** Once no run of it is under way, whose `reports` say what it came to. `true`: one was lost, and those reports will stand nowhere. */
  tell(name: string, { inFlight, reports }: { inFlight: ReadonlySet<string>; reports: readonly JobReport[] }): boolean {
    const status = this.#lost.get(name)?.status;
    if (status === undefined || inFlight.size > 0) return false;
    this.#lost.delete(name);
    const edges = fold(status, reports).restore?.edges ?? [];
    if (edges.length === 0) return true;
    const { recorder, log, metrics, listers } = this.#dependencies;
    const message = describe(status, edges);
    metrics.problem('FenceRemovedByForce');
    log.warn('fence removed by force', { node: name, detail: message });
    const node = listers.nodes.get(name);
    if (node !== undefined) recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, 'Warning', 'FenceRemovedByForce', message);
    return true;
  }
}

type Edges = NonNullable<NonNullable<NodeFenceStatus['restore']>['edges']>;

function describe({ incident }: NodeFenceStatus, edges: Edges): string {
  const left = edges.map(({ method, agent, device, plug, state }) => `${method} (${`${agent} ${device} ${plug}`.trim()}) is ${state}`).join(', ');
  return bounded(
    `The NodeFence of incident ${incident} was removed by force, and what it had done is on no record any more. LeftOff: ${left}. A fence that begins now does not know of it: once none is open, check the machine and put it back there.`,
  );
}
