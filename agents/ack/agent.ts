import { refusalOf } from '../../src/domain/acknowledgement.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { ActionAgent, AgentContext, Outcome, Target } from '../../src/ports/agents.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { EVENTS, NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import type { NodeFenceAcknowledgement } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';

const POLL_MS = 2_000;

/** What stands of people's words about one fence. */
interface Words {
  valid: NodeFenceAcknowledgement | undefined;
  /** Why the others do not count. */
  refusals: string[];
  incident: number | undefined;
}

interface NodeEvent extends KubeObject {
  involvedObject: { apiVersion: string; kind: string; name: string; uid?: string };
  reason: string;
  message: string;
  type: 'Warning';
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

/** Asks a person to look at the machine, and waits for a word that counts for this very incident. What it proves is weighed by the core alone. */
export class AckAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
  }

  async run(target: Target): Promise<Outcome> {
    return this.#with(target, async (call) => {
      const first = await this.#acknowledgements(call);
      if (first.valid !== undefined) return outcomeOf(first.valid);
      await this.#ask(call, first);
      return this.#wait(call, first);
    });
  }

  async confirm(target: Target): Promise<boolean> {
    return this.#with(target, async (call) => (await this.#acknowledgements(call)).valid !== undefined);
  }

  #with<T>(target: Target, work: (call: ObjectCall) => Promise<T>): Promise<T> {
    const asked = `a person's word that node ${target.identity.node} is down`;
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, work);
  }

  async #wait(call: ObjectCall, first: Words): Promise<Outcome> {
    let words = first;
    for (;;) {
      if (call.remainingMs <= POLL_MS) throw call.error('Timeout', remedyOf(call.target, words));
      await call.pause(POLL_MS);
      if (call.isOver) throw call.error('NotSent', 'the waiting was given up');
      words = await this.#acknowledgements(call);
      if (words.valid !== undefined) return outcomeOf(words.valid);
    }
  }

  async #acknowledgements(call: ObjectCall): Promise<Words> {
    const { node: name } = call.target.identity;
    const [fence, node, all] = await Promise.all([
      call.get(NODE_FENCES, fenceName(name)),
      call.get(NODES, name),
      call.list(NODE_FENCE_ACKNOWLEDGEMENTS),
    ]);
    const open = fence?.status === undefined ? undefined : { uid: fence.metadata.uid ?? '', status: fence.status };
    const refusals: string[] = [];
    for (const word of all.filter(({ spec }) => spec.node === name)) {
      const { nodeFenceUID, incident, bootID } = word.spec;
      const facts = { nodeFenceUID, incident, bootID, ageMs: this.#ageOf(word) };
      const why =
        word.status?.state === 'refused' ? (word.status.message ?? 'refused') : refusalOf(facts, open, { bootID: node?.status.nodeInfo?.bootID });
      if (why === undefined) return { valid: word, refusals, incident: open?.status.incident };
      refusals.push(`${word.metadata.name}: ${why}`);
    }
    return { valid: undefined, refusals, incident: open?.status.incident };
  }

  /** One that the core has accepted was young enough then. */
  #ageOf({ metadata, status }: NodeFenceAcknowledgement): number {
    const createdMs = Date.parse(metadata.creationTimestamp ?? '');
    if (status?.state === 'accepted' || Number.isNaN(createdMs)) return 0;
    return Math.max(0, this.#context.clock.wallMs() - createdMs);
  }

  /** Where people look; that it cannot be written is no reason not to wait. */
  async #ask(call: ObjectCall, words: Words): Promise<void> {
    const { node } = call.target.identity;
    const now = new Date(this.#context.clock.wallMs()).toISOString();
    const event: NodeEvent = {
      metadata: { name: `${node}.ack-${words.incident ?? 0}-${this.#context.clock.wallMs().toString(36)}`, namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: node },
      reason: 'AcknowledgementNeeded',
      message: remedyOf(call.target, words),
      type: 'Warning',
      count: 1,
      firstTimestamp: now.replace(/\.\d+Z$/, 'Z'),
      lastTimestamp: now.replace(/\.\d+Z$/, 'Z'),
      source: { component: 'nodefence' },
      reportingComponent: 'nodefence',
      reportingInstance: 'ack',
    };
    await Promise.allSettled([call.create(EVENTS, event)]);
  }
}

function outcomeOf(word: NodeFenceAcknowledgement): Outcome {
  return { result: 'accepted', detail: `${word.metadata.name} is valid: ${word.spec.reason.slice(0, 200)}` };
}

function remedyOf({ identity: { node } }: Target, { refusals }: Words): string {
  const others = refusals.length === 0 ? '' : ` (${refusals.slice(-3).join('; ')})`.slice(0, 400);
  return `nobody has said so${others}: look at the machine, cut its power, then run: nodefence ack ${node} --reason "what you saw"`;
}
