import type { ActionAgent, AgentContext, Outcome, Target } from '../../src/ports/agents.ts';
import type { Recognition } from '../../src/ports/kdump.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { parsed } from '../shared/parameter-schema.ts';
import { kdumpParameters, WAIT_MS } from './parameters.ts';

const POLL_MS = 1_000;
const DEAF: Recognition = { state: 'unheard', detail: 'this controller hears no kdump messages: start it with --kdump-address :7410' };

/** Waits until the node's kernel is heard to dump. That none is heard says nothing: the machine may be dead, alive, or without a crash kernel. */
export class KdumpAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
  }

  async run(target: Target): Promise<Outcome> {
    const { clock } = this.#context;
    const { wait = WAIT_MS, unheard = 'continue' } = parsed(kdumpParameters, target.parameters).data ?? {};
    return this.#with(target, async (call) => {
      const untilMs = clock.monotonicMs() + wait;
      for (;;) {
        const { state, detail, doubt } = await this.#recognise(call);
        if (state === 'dumping' && doubt === undefined) return { result: 'accepted', detail, evidence: { kind: 'kdump', grade: 'inferred' } };
        const isLast = clock.monotonicMs() >= untilMs || call.remainingMs <= 2 * POLL_MS || this.#context.kdump === undefined || state === 'over';
        if (isLast && unheard === 'fail') throw call.error('Refused', `no dump: ${doubt ?? detail}`);
        if (isLast) return { result: 'accepted', detail: `not dumping, as far as is heard: ${doubt ?? detail}` };
        await call.pause(POLL_MS);
        if (call.isOver) throw call.error('NotSent', 'the waiting was given up');
      }
    });
  }

  async confirm(target: Target): Promise<boolean> {
    return this.#with(target, async (call) => {
      const { state, doubt } = await this.#recognise(call);
      return state !== 'unheard' && doubt === undefined;
    });
  }

  #with<T>(target: Target, work: (call: ObjectCall) => Promise<T>): Promise<T> {
    const asked = `kdump messages of node ${target.identity.node}`;
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, work);
  }

  /** The messages by the listener, and what the API server has by quorum: our own watches may be late. */
  async #recognise(call: ObjectCall): Promise<Recognition & { doubt?: string }> {
    const { node: name } = call.target.identity;
    const recognised = this.#context.kdump?.recognise(name) ?? DEAF;
    if (recognised.state === 'unheard') return recognised;
    const [node, lease] = await Promise.all([call.get(NODES, name), call.get(LEASES, name, NODE_LEASE_NAMESPACE)]);
    const ready = node?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
    if (node === undefined) return { ...recognised, doubt: 'the Node is gone' };
    if (ready === 'True') return { ...recognised, doubt: 'the Node is Ready' };
    if (lease === undefined) return { ...recognised, doubt: 'its kubelet has no Lease' };
    return lease.spec.renewTime === recognised.renewTime ? recognised : { ...recognised, doubt: 'its kubelet has renewed its Lease meanwhile' };
  }
}
