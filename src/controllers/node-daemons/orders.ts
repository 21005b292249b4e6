import { attestationName, ORDERED } from '../../domain/node-daemon/attestation.ts';
import type { LastOrdered } from '../../domain/node-daemon/attestation.ts';
import { CONTROLLERS } from '../../domain/node-daemon/controllers.ts';
import { seal } from '../../domain/node-daemon/seal.ts';
import type { Mac } from '../../domain/node-daemon/seal.ts';
import { AgentError } from '../../ports/agents.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';
import type { NodeOrders, OrderCall, OrderUnderWay } from '../../ports/node-daemons.ts';
import type { Node } from '../../ports/objects.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import { LEASES } from '../../ports/resources.ts';
import type { NodeDaemonMetrics, OrderResult } from '../../ports/metrics.ts';
import type { OrderOutcome } from '../../domain/node-daemon/order.ts';
import { isConflict } from '../shared/conflict.ts';
import { readAttested } from './attested-nodes.ts';

export interface OrdersParts {
  log: Logger;
  recorder: Recorder;
  metrics: Pick<NodeDaemonMetrics, 'ordered'>;
  socket: Pick<DatagramSocket, 'send'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin' | 'epoch'>;
  /** Its writes reject where this replica may not write any more. */
  cluster: Pick<Cluster, 'get' | 'mergePatch'>;
  clusterNodes: Pick<Lister<Node>, 'get'>;
  namespace: string;
}

/** A heartbeat of a node whose daemon attests what it was sealed with. */
export interface AnsweredHeartbeat {
  node: string;
  bootID: string;
  counter: number;
  mac: Mac;
  from: string;
}

interface Standing {
  ordered: LastOrdered;
  call: OrderCall;
  sent: number;
  answer: Pick<OrderOutcome, 'state' | 'why'> | undefined;
  isCounted: boolean;
  error: Error | undefined;
}

const TRIES_MAX = 5;

/** Orders to node daemons: each is written into the node's Lease first, then it answers the node's heartbeats. One at a time for a node. */
export class Orders implements Pick<NodeOrders, 'order'> {
  readonly #parts: OrdersParts;
  readonly #standing = new Map<string, Standing>();

  constructor(parts: OrdersParts) {
    this.#parts = parts;
  }

  async order(node: string, ordered: LastOrdered, call: OrderCall): Promise<OrderUnderWay> {
    try {
      await this.#write(node, ordered);
    } catch (error) {
      this.#parts.metrics.ordered(ordered.action, 'not-sent');
      throw error;
    }
    const standing: Standing = { ordered, call, sent: 0, answer: undefined, isCounted: false, error: undefined };
    this.#standing.set(node, standing);
    return {
      state: () => ({ sent: standing.sent, ...(standing.error === undefined ? {} : { error: standing.error }) }),
      answered: (outcome) => void (standing.answer = outcome),
      end: () => {
        if (this.#standing.get(node) === standing) this.#standing.delete(node);
        if (!standing.isCounted) this.#parts.metrics.ordered(ordered.action, resultOf(standing), standing.answer?.why);
        standing.isCounted = true;
      },
    };
  }

  /** In the turn in which the heartbeat came: the order holds from when that was sent, by the clock of the node. */
  answer({ node, bootID, counter, mac, from }: AnsweredHeartbeat): void {
    const standing = this.#standing.get(node);
    if (standing === undefined || standing.error !== undefined || standing.ordered.bootID !== bootID) return;
    const { leadership, socket } = this.#parts;
    if (!leadership.isLeading || !leadership.mayBegin(0)) return;
    const { id, action } = standing.ordered;
    try {
      // As for every set, in the turn of each send: stops, holds and the leader's lease are asked again, and whoever says no says it for good.
      standing.call.beforeSend();
    } catch (error) {
      standing.error = error instanceof Error ? error : new Error(String(error));
      return;
    }
    const order = { type: 'order' as const, counter, signs: leadership.epoch, sender: CONTROLLERS, subject: node, subjectBootID: bootID };
    socket.send(from, seal({ ...order, order: { id, action } }, mac));
    standing.sent += 1;
    if (standing.sent === 1) this.#tell(node, standing.ordered);
  }

  #tell(node: string, { id, action }: LastOrdered): void {
    const { log, recorder, metrics, clusterNodes } = this.#parts;
    metrics.ordered(action, 'given');
    log.warn('a node daemon is given an order', { node, action, job: id });
    const about = clusterNodes.get(node);
    const message = `nodefence ordered the daemon of node ${node} to ${action}.`;
    if (about !== undefined) recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: about.metadata }, 'Warning', 'SoftFenceOrdered', message);
  }

  /** Under the version that attests this very boot: another order, or another boot, that came meanwhile ends this one. */
  async #write(node: string, ordered: LastOrdered): Promise<void> {
    const { cluster, namespace } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      const lease = await cluster.get(LEASES, attestationName(node), namespace);
      const attested = lease === undefined ? undefined : readAttested(lease);
      if (attested?.attestation.bootID !== ordered.bootID) {
        const answered = `it attests ${attested === undefined ? 'nothing' : `boot ${attested.attestation.bootID}`} now, not boot ${ordered.bootID}`;
        throw new AgentError('Refused', { device: '', plug: '', asked: `the daemon of node ${node} to ${ordered.action}`, answered });
      }
      const { uid, resourceVersion } = attested.lease.metadata;
      try {
        const patch = { metadata: { uid, resourceVersion, annotations: { [ORDERED]: JSON.stringify(ordered) } } };
        await cluster.mergePatch(LEASES, attestationName(node), patch, { namespace });
        return;
      } catch (error) {
        if (!isConflict(error) || tries >= TRIES_MAX) throw error;
      }
    }
  }
}

/** One that was given, or was answered before it was given: by the run of a predecessor. */
function resultOf({ answer, sent }: Standing): OrderResult {
  if (answer !== undefined && answer.state !== 'taken') return answer.state;
  return sent === 0 ? 'not-sent' : 'unanswered';
}
