import { attestationName, parseAttestation, parseOrdered } from '../../src/domain/node-daemon/attestation.ts';
import type { Attestation, LastOrdered } from '../../src/domain/node-daemon/attestation.ts';
import type { OrderedAction } from '../../src/domain/node-daemon/order.ts';
import type { ActionAgent, AgentContext, Outcome, Target } from '../../src/ports/agents.ts';
import type { OrderUnderWay } from '../../src/ports/node-daemons.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { normalUUID } from '../shared/machine-uuid.ts';
import { parsed } from '../shared/parameter-schema.ts';
import { nodeDaemonParameters } from './parameters.ts';

const POLL_MS = 500;
/** A daemon that runs sends a heartbeat each second. */
const HEARD_WITHIN_MS = 5_000;
const DEFAULT_NAMESPACE = 'nodefence-system';
const UUID_AT_END = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Standing {
  attestation: Attestation;
  /** What was ordered last, in this boot or an earlier one. */
  ordered: LastOrdered | undefined;
}

/** Gives the node's daemon an order, and waits for what it says of it. That is proof of nothing: a node that was told to reboot may do so, or not. */
export class NodeDaemonAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
  }

  async run(target: Target): Promise<Outcome> {
    return this.#with(target, async (call, action) => {
      const { orders } = this.#context;
      if (orders === undefined) throw call.error('Misconfigured', 'the controller was not started with --node-daemons');
      const standing = await this.#read(call);
      const { bootID } = standing.attestation;
      // A boot that came by our own order in this incident is not rebooted again.
      if (hasRebooted(standing, action, target))
        return { result: 'accepted', detail: `the node has booted anew since it was told to reboot: ${bootID}` };
      const id = UUID_AT_END.exec(target.intent ?? '')?.[0] ?? crypto.randomUUID();
      const ordered = { id, action, bootID, incident: target.incident ?? '' };
      const underWay = await call.answerOf(orders.order(target.identity.node, ordered, { beforeSend: () => call.beforeSend() }));
      try {
        return await this.#answered(call, ordered, underWay);
      } finally {
        underWay.end();
      }
    });
  }

  /** Did the last order of this very incident come to its end? */
  async confirm(target: Target): Promise<boolean> {
    return this.#with(target, async (call, action) => {
      const standing = await this.#read(call);
      if (hasRebooted(standing, action, target)) return true;
      const { attestation, ordered } = standing;
      if (ordered === undefined || !isOurs(ordered, action, target) || ordered.bootID !== attestation.bootID) return false;
      return attestation.orders?.some(({ id, state }) => id === ordered.id && state === 'done') === true;
    });
  }

  #with<T>(target: Target, work: (call: ObjectCall, action: OrderedAction) => Promise<T>): Promise<T> {
    const settings = parsed(nodeDaemonParameters, target.parameters).data;
    const asked = `the daemon of node ${target.identity.node} to ${settings?.action ?? 'do something'}`;
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, async (call) => {
      if (settings === undefined) throw call.error('Misconfigured', 'the parameters are not complete');
      return work(call, settings.action);
    });
  }

  async #read(call: ObjectCall): Promise<Standing> {
    const { node, systemUUID } = call.target.identity;
    const lease = await call.get(LEASES, attestationName(node), this.#context.namespace ?? DEFAULT_NAMESPACE);
    const attestation = lease === undefined ? undefined : parseAttestation(lease);
    if (lease === undefined || attestation === undefined)
      throw call.error('Refused', 'no daemon of this node attests anything: run `nodefence node --soft-fence` there');
    const expected = normalUUID(systemUUID);
    if (expected !== undefined && normalUUID(attestation.systemUUID) !== expected)
      throw call.error('Misconfigured', `another machine attests, with system UUID ${attestation.systemUUID}`);
    return { attestation, ordered: parseOrdered(lease) };
  }

  async #answered(call: ObjectCall, { id, action, bootID }: LastOrdered, underWay: OrderUnderWay): Promise<Outcome> {
    const beganAtMs = this.#context.clock.monotonicMs();
    for (;;) {
      await call.pause(POLL_MS);
      const { sent, error } = underWay.state();
      if (error !== undefined && sent === 0) throw error;
      if (call.isOver) throw call.error(sent === 0 ? 'NotSent' : 'Timeout', 'the waiting was given up');
      const { attestation } = await this.#read(call);
      if (attestation.bootID !== bootID) {
        if (action === 'reboot' && sent > 0) {
          underWay.answered({ state: 'done' });
          return { result: 'accepted', detail: `the node has booted anew: ${attestation.bootID}` };
        }
        throw call.error('Refused', `the node has booted anew before it could answer: ${attestation.bootID}`);
      }
      const outcome = attestation.orders?.find((other) => other.id === id);
      if (outcome !== undefined) underWay.answered(outcome);
      if (outcome?.state === 'done') return { result: 'accepted', detail: `the daemon says: ${outcome.words}; that proves nothing` };
      if (outcome?.state === 'failed') throw call.error('Unreachable', `the daemon took it, and failed: ${outcome.words}`);
      if (outcome?.state === 'refused') throw call.error('Refused', `the daemon refused: ${outcome.words}`);
      const isHeard = this.#context.orders?.isHeard(call.target.identity.node, bootID) === true;
      if (sent === 0 && !isHeard && this.#context.clock.monotonicMs() - beganAtMs >= HEARD_WITHIN_MS)
        throw call.error('Unreachable', 'its daemon is not heard, so that it can be told nothing; nothing was sent');
      if (call.remainingMs <= POLL_MS) throw call.error(sent === 0 ? 'NotSent' : 'Timeout', silence(sent, outcome !== undefined));
    }
  }
}

function silence(sent: number, isTaken: boolean): string {
  if (isTaken) return 'the daemon took it, and has not said yet what became of it';
  if (sent === 0) return 'it could not be sent: no heartbeat came that this leader may answer';
  return `sent ${sent} times, and the daemon attests no answer: it is of an older version, or cannot reach the API server`;
}

function isOurs(ordered: LastOrdered, action: OrderedAction, { incident = '' }: Target): boolean {
  return ordered.action === action && incident !== '' && ordered.incident === incident;
}

function hasRebooted({ attestation, ordered }: Standing, action: OrderedAction, target: Target): boolean {
  return action === 'reboot' && ordered !== undefined && isOurs(ordered, action, target) && ordered.bootID !== attestation.bootID;
}
