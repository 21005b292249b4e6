import type { ActionAgent, AgentContext, Outcome, Target } from '../../src/ports/agents.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { attestationName } from '../../src/domain/node-daemon/attestation.ts';
import { judge } from './judgement.ts';
import type { Judgement, TimesRule } from './judgement.ts';

const POLL_MS = 2_000;
const DEFAULT_NAMESPACE = 'nodefence-system';
/** More nodes than wait at a time. */
const SEEN_MAX = 1_000;
const CLOCK_REMEDY = 'write maxslewrate 10000 into its chrony.conf for the next time, and switch this one off by another method';

/**
 * Waits until a hardware watchdog that was attested beforehand, and that nobody feeds any more, must have reset the machine. All that a run sends is that grants end;
 * where that could prove nothing it is not sent.
 */
export class WatchdogAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #context: AgentContext;
  readonly #broken: TimesRule | undefined;
  readonly #clusters: ConnectedClusters;
  /** Our own first sight, on the monotonic clock, of that nobody keeps this boot of the node alive: after a restart the wait begins anew. */
  readonly #seen = new Map<string, { key: string; sinceMs: number }>();

  /** `broken`: another rule for the attested times, where a test cannot wait for as long as they must be. */
  constructor(context: AgentContext, broken?: TimesRule) {
    this.#context = context;
    this.#broken = broken;
    this.#clusters = new ConnectedClusters(context);
  }

  async run(target: Target): Promise<Outcome> {
    return this.#with(target, async (call) => {
      for (;;) {
        const judgement = await this.#judgeEnded(call);
        if (judgement.decision === 'refused' || judgement.decision === 'kept') throw call.error('Refused', judgement.why);
        const leftMs = judgement.decision === 'after' ? this.#leftMs(target.identity.node, judgement) : Number.POSITIVE_INFINITY;
        if (judgement.decision === 'after' && leftMs <= 0) return provenBy(judgement.waitMs);
        if (call.remainingMs <= POLL_MS) throw call.error('Timeout', judgement.decision === 'waits' ? judgement.why : describeWait(leftMs));
        await call.pause(POLL_MS);
        if (call.isOver) throw call.error('NotSent', 'the waiting was given up');
      }
    });
  }

  async confirm(target: Target): Promise<boolean> {
    return this.#with(target, async (call) => {
      const judgement = await this.#judge(call);
      return judgement.decision === 'after' && this.#leftMs(target.identity.node, judgement) <= 0;
    });
  }

  #with<T>(target: Target, work: (call: ObjectCall) => Promise<T>): Promise<T> {
    const asked = `the watchdog of node ${target.identity.node}`;
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, work);
  }

  /** Ends the grants where they are all that is in the way, and collects what promises are missing. */
  async #judgeEnded(call: ObjectCall): Promise<Judgement> {
    const judgement = await this.#judge(call);
    const { daemons } = this.#context;
    const deadlineMs = call.remainingMs - POLL_MS;
    if (daemons === undefined || judgement.decision === 'refused' || judgement.decision === 'after' || deadlineMs <= 0) return judgement;
    const { identity, signal } = call.target;
    const beforeSend = (): void => call.beforeSend();
    await call.answerOf(daemons.endGrants(identity.node, judgement.bootID, { signal, deadlineMs, beforeSend }));
    return this.#judge(call);
  }

  async #judge(call: ObjectCall): Promise<Judgement> {
    const { identity } = call.target;
    const [node, attested, kubelet] = await Promise.all([
      call.get(NODES, identity.node),
      call.get(LEASES, attestationName(identity.node), this.#context.namespace ?? DEFAULT_NAMESPACE),
      call.get(LEASES, identity.node, NODE_LEASE_NAMESPACE),
    ]);
    const judgement = this.#withClock(judge({ node, attested, kubelet }, identity, this.#broken), identity.node);
    // Read here by quorum: our own watch may show it later, and nothing may be granted while the wait is under way.
    if (judgement.decision === 'after' || judgement.decision === 'waits') this.#context.daemons?.sawEnded(identity.node, judgement.bootID);
    if (judgement.decision !== 'after') this.#seen.delete(identity.node);
    if (judgement.decision !== 'after') return judgement;
    // Whatever was written meanwhile, such as grants that began and ended again while nobody looked here, begins the wait anew.
    const written = [attested, kubelet].map((lease) => `${lease?.metadata.uid ?? ''}/${lease?.metadata.resourceVersion ?? ''}`);
    return { ...judgement, key: [judgement.key, kubelet?.spec.renewTime ?? '', ...written].join(' ') };
  }

  /**
   * A node with a slow clock feeds its watchdog for longer than is waited for here. Not so a fast one: it takes itself down earlier. Nobody measures a node that is silent,
   * so that what was measured last counts; a leader that has measured nothing yet knows of no doubt.
   */
  #withClock(judgement: Judgement, node: string): Judgement {
    if (judgement.decision === 'refused') return judgement;
    const doubt = this.#context.daemons?.clockDoubt(node, judgement.bootID);
    return doubt === undefined ? judgement : { decision: 'refused', why: `${doubt}: ${CLOCK_REMEDY}` };
  }

  /** How long it still takes; whatever was renewed since begins it anew, and so does a boot that is heard when it must have ended. */
  #leftMs(node: string, { key, waitMs, bootID }: { key: string; waitMs: number; bootID: string }): number {
    const nowMs = this.#context.clock.monotonicMs();
    const known = this.#seen.get(node);
    const leftMs = known?.key === key ? waitMs - (nowMs - known.sinceMs) : waitMs;
    if (known?.key === key && (leftMs > 0 || this.#context.daemons?.isHeard(node, bootID) !== true)) return leftMs;
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined && this.#seen.size >= SEEN_MAX) this.#seen.delete(oldest);
    this.#seen.set(node, { key, sinceMs: nowMs });
    return waitMs;
  }
}

function describeWait(leftMs: number): string {
  return `the watchdog has surely bitten in ${Math.ceil(leftMs / 1000)} s; it is waited for again`;
}

function provenBy(waitMs: number): Outcome {
  const detail = `nobody kept the node alive for ${Math.ceil(waitMs / 1000)} s, and its armed hardware watchdog was attested`;
  return { result: 'accepted', detail, evidence: { kind: 'watchdog', grade: 'inferred' } };
}
