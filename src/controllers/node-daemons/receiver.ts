import { CONTROLLERS } from '../../domain/node-daemon/controllers.ts';
import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import { packRun } from '../../domain/node-daemon/unfencing.ts';
import { open, seal } from '../../domain/node-daemon/seal.ts';
import type { Mac } from '../../domain/node-daemon/seal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { NodeDaemonMetrics } from '../../ports/metrics.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';
import type { AttestedNode, AttestedNodes } from './attested-nodes.ts';
import type { Endings } from './endings.ts';
import { decideGrant } from './grant-decision.ts';
import type { PeersQuestions } from './fast/peers-questions.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { Orders } from './orders.ts';
import type { Permits } from './permits.ts';
import type { Promises } from './promises.ts';
import type { SharedKeys } from './shared-keys.ts';
import type { SlotQuestions } from './storage/slot-questions.ts';

export interface ReceiverParts {
  clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  socket: Pick<DatagramSocket, 'send'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin' | 'epoch'>;
  metrics: Pick<NodeDaemonMetrics, 'received' | 'refused' | 'answered'>;
  nodes: Pick<AttestedNodes, 'get'>;
  keys: Pick<SharedKeys, 'macsWith'>;
  heartbeats: Heartbeats;
  endings: Endings;
  promises: Pick<Promises, 'take'>;
  questions: Pick<PeersQuestions, 'take'>;
  permits: Pick<Permits, 'of'>;
  orders: Pick<Orders, 'answer'>;
  slots: Pick<SlotQuestions, 'take'>;
}

/** What a controller is told. */
const HEARD: ReadonlySet<Datagram['type']> = new Set(['heartbeat', 'promise', 'reached', 'unreached', 'slot-moved', 'slot-still']);

/** One datagram: a heartbeat is noted and answered in the same turn, a promise or a peer's answer is counted. */
export class Receiver {
  readonly #parts: ReceiverParts;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  receive(bytes: Uint8Array, from: string): void {
    const { metrics, nodes, keys, promises, questions, slots } = this.#parts;
    let attested: AttestedNode | undefined;
    const opened = open(bytes, ({ type, sender }) => {
      attested = HEARD.has(type) ? nodes.get(sender) : undefined;
      const publicKey = attested?.attestation.publicKey;
      return publicKey === undefined ? [] : keys.macsWith(publicKey);
    });
    if ('problem' in opened) {
      metrics.refused(opened.claimed !== undefined && !HEARD.has(opened.claimed.type) ? 'unexpected' : opened.problem);
      return;
    }
    const { datagram, mac } = opened;
    if (datagram.type === 'promise') promises.take(datagram);
    else if (datagram.type === 'heartbeat') this.#heartbeat(datagram, attested, { mac, from });
    else if (datagram.type === 'slot-moved' || datagram.type === 'slot-still') slots.take(datagram);
    else questions.take(datagram);
  }

  #heartbeat(
    { sender: node, bootID, counter, signs }: Datagram,
    attested: AttestedNode | undefined,
    { mac, from }: { mac: Mac; from: string },
  ): void {
    const { clock, metrics, heartbeats } = this.#parts;
    if (bootID === undefined || bootID !== attested?.attestation.bootID) {
      metrics.refused('another boot');
      return;
    }
    if (heartbeats.accept(node, { bootID, counter, signs, atMs: clock.monotonicMs(), wallMs: clock.wallMs() }) === 'replayed') {
      metrics.refused('replayed');
      return;
    }
    metrics.received();
    this.#answer(attested, { bootID, counter, mac, from });
  }

  /** Everything is asked in the turn in which the answer leaves. */
  #answer({ node, attestation }: AttestedNode, { bootID, counter, mac, from }: { bootID: string; counter: number; mac: Mac; from: string }): void {
    const { leadership, endings, keys, metrics, socket, orders } = this.#parts;
    const isSealedByAttestedKey = attestation.publicKey !== undefined && keys.macsWith(attestation.publicKey).includes(mac);
    const answer = decideGrant({
      mayGrant: leadership.isLeading && leadership.mayBegin(0),
      knowsEndings: endings.areReadFor(leadership.epoch),
      bootID,
      attestedBootID: attestation.bootID,
      isSealedByAttestedKey,
      isEnded: endings.isEnded(node, bootID),
    });
    if (isSealedByAttestedKey) orders.answer({ node, bootID, counter, mac, from });
    if (answer === 'silence') return;
    socket.send(from, seal({ type: answer, counter, signs: leadership.epoch, sender: CONTROLLERS, subject: node, subjectBootID: bootID }, mac));
    metrics.answered(answer);
    const { epoch } = leadership;
    const permit = answer === 'grant' ? this.#parts.permits.of(node, { bootID, epoch }) : undefined;
    if (permit === undefined) return;
    const said = { counter, signs: epoch, sender: CONTROLLERS, subject: node, subjectBootID: bootID, publicKey: packRun(permit) };
    socket.send(from, seal({ type: 'unfence-permit', ...said }, mac));
  }
}
