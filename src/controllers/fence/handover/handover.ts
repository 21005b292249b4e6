import { fenceName } from '../../../domain/node-fence.ts';
import type { Lister } from '../../../ports/cluster.ts';
import type { Lease } from '../../../ports/objects.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { GROUP, VERSION } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { readyOf } from '../observation.ts';
import { CANDIDATES_LEASE } from './candidates.ts';
import type { Candidates } from './candidates.ts';
import { decideHandOver, classify, mayLead, successor } from './decision.ts';
import type { HandOverView, NodeClass } from './decision.ts';

export interface HandOverDependencies extends Pick<FenceDependencies, 'clock' | 'recorder' | 'log' | 'metrics' | 'queue'> {
  listers: Pick<FenceDependencies['listers'], 'nodes' | 'fences'>;
  /** Leases of our own namespace, or the candidates' alone. */
  announced: Lister<Lease>;
  candidates: Candidates;
  isLeading: () => boolean;
  options: FenceDependencies['options'];
  /** Ends every run, gives the Lease back and ends the process. Called once. */
  stepDown: (reason: string) => void;
}

/** A leader that has just taken over does not hand over before this: whatever is wrong, leadership moves at most so often. */
const TERM_MIN_MS = 15_000;

/** Whoever did not take a free Lease may be able to later. */
const DECLINED_MS = 600_000;

/** The shell of the hand-over: reconciles whenever its own node, that node's fence or a candidate changes; everything else it ignores. */
export class OwnNode {
  readonly #dependencies: HandOverDependencies;
  /** Until when nothing is handed to whom. */
  readonly #declined = new Map<string, number>();
  #leadsSinceMs: number | undefined;
  #cancel: (() => void) | undefined;
  #isOver = false;
  /** Incident for which a person was told that nobody can take over. */
  #alarmed = '';

  constructor(dependencies: HandOverDependencies) {
    this.#dependencies = dependencies;
    const { listers, announced, candidates, clock, options } = dependencies;
    announced.onChange((before, after) => {
      if ((after ?? before)?.metadata.name !== CANDIDATES_LEASE) return;
      candidates.see(after, clock.monotonicMs());
      this.#reconcile();
    });
    listers.nodes.onChange((before, after) => {
      if ((after ?? before)?.metadata.name === options.ownNode) this.#reconcile();
    });
    listers.fences.onChange((before, after) => {
      if ((after ?? before)?.spec.node === options.ownNode) this.#reconcile();
    });
  }

  /** This replica leads from now on. */
  leads(): void {
    this.#leadsSinceMs = this.#dependencies.clock.monotonicMs();
    this.#tellIfUnknown();
    this.#reconcile();
  }

  /** Asked before a Lease that has been free for so long is taken. */
  mayLead(freeForMs: number): boolean {
    const { clock, listers, options } = this.#dependencies;
    const isBlind = clock.monotonicMs() - listers.nodes.freshAtMs > options.staleAfterMs;
    if (!mayLead(this.#view(), freeForMs, isBlind)) return false;
    if (this.#isWell()) return true;
    for (let idle = successor(this.#view()); idle !== undefined; idle = successor(this.#view()))
      this.#declined.set(idle.id, clock.monotonicMs() + DECLINED_MS);
    return true;
  }

  /** Who could fence our own node, in words for its hold. */
  holdMessage(): string {
    const to = successor(this.#view());
    if (to === undefined) return 'another replica must lead before it is fenced, and none is alive on a healthy node: start one elsewhere';
    return `another replica must lead before it is fenced: leadership goes to the one ${to.node === undefined ? 'outside of the cluster' : `on node ${to.node}`}`;
  }

  close(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #reconcile(): void {
    const { clock, isLeading, queue, options } = this.#dependencies;
    this.#cancel?.();
    if (this.#isOver || this.#leadsSinceMs === undefined || !isLeading()) return;
    const decision = decideHandOver(this.#view());
    if (decision.kind === 'none') return;
    if (decision.kind === 'keep') {
      this.#alarm();
      return;
    }
    const waitMs = this.#leadsSinceMs + TERM_MIN_MS - clock.monotonicMs();
    if (waitMs > 0) {
      this.#cancel = clock.after(waitMs, () => this.#reconcile());
      queue.add(options.ownNode ?? '');
      return;
    }
    this.#isOver = true;
    const where = decision.to.node === undefined ? 'outside of the cluster' : `on node ${decision.to.node}`;
    const message = `The controller runs on this node: leadership is handed over to a replica ${where}, which fences it.`;
    this.#emit('Normal', 'LeadershipHandedOver', message);
    this.#dependencies.stepDown(`own node ${options.ownNode ?? ''} is to be fenced: handed over to a replica ${where}`);
  }

  /** A name that no Node has protects none: the machine may be a Node under another one, and be fenced by the process that it runs (P10). */
  #tellIfUnknown(): void {
    const { listers, log, metrics, options } = this.#dependencies;
    const { ownNode } = options;
    if (ownNode === undefined || listers.nodes.get(ownNode) !== undefined) return;
    metrics.problem('OwnNodeUnknown');
    log.warn('own node is not known', {
      node: ownNode,
      detail: `there is no Node ${ownNode}: if this machine is a Node of another name, it is fenced like any other; name it by --own-node (NODEFENCE_OWN_NODE)`,
    });
  }

  /** Once for each incident. */
  #alarm(): void {
    const { metrics, queue, options } = this.#dependencies;
    const fence = this.#ownFence();
    const incident = `${fence?.metadata.uid ?? ''}/${fence?.status?.incident ?? 0}`;
    if (incident === this.#alarmed) return;
    this.#alarmed = incident;
    metrics.problem('OwnNodeWithoutCandidate');
    this.#emit('Warning', 'OwnNodeCannotBeFenced', `The controller runs on this node; ${this.holdMessage()}.`);
    queue.add(options.ownNode ?? '');
  }

  #emit(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { recorder, log, listers, options } = this.#dependencies;
    const fence = this.#ownFence();
    const node = listers.nodes.get(options.ownNode ?? '');
    if (fence !== undefined)
      recorder.event({ apiVersion: `${GROUP}/${VERSION}`, kind: 'NodeFence', metadata: fence.metadata }, type, reason, message);
    if (node !== undefined) recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: node.metadata }, type, reason, message);
    log[type === 'Warning' ? 'warn' : 'info']('own node is to be fenced', { node: options.ownNode, reason, detail: message });
  }

  #ownFence(): NodeFence | undefined {
    return this.#dependencies.listers.fences.get(fenceName(this.#dependencies.options.ownNode ?? ''));
  }

  #isWell(): boolean {
    const { ownNode } = this.#dependencies.options;
    return ownNode === undefined || this.#classOf(ownNode) === 'well';
  }

  #classOf(name: string): NodeClass {
    const { nodes, fences } = this.#dependencies.listers;
    const node = nodes.get(name);
    return classify(node === undefined ? undefined : readyOf(node)?.status, fences.get(fenceName(name)));
  }

  #view(): HandOverView {
    const { clock, candidates, options } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    for (const [id, untilMs] of this.#declined) if (nowMs > untilMs) this.#declined.delete(id);
    return {
      ownNode: options.ownNode,
      mode: options.mode,
      candidates: candidates.at(nowMs),
      classOf: (node) => this.#classOf(node),
      declined: new Set(this.#declined.keys()),
    };
  }
}
