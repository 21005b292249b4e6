import { CONTROLLERS } from '../../../domain/node-daemon/controllers.ts';
import type { Datagram } from '../../../domain/node-daemon/datagram.ts';
import { peersView } from '../../../domain/node-daemon/fast-detection.ts';
import type { PeersView } from '../../../domain/node-daemon/fast-detection.ts';
import { seal } from '../../../domain/node-daemon/seal.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { DatagramSocket } from '../../../ports/node-daemon.ts';
import type { AttestedNode, AttestedNodes } from '../attested-nodes.ts';
import type { SharedKeys } from '../shared-keys.ts';

export interface PeersQuestionsParts {
  clock: Pick<Clock, 'monotonicMs'>;
  socket: Pick<DatagramSocket, 'send'>;
  nodes: Pick<AttestedNodes, 'get'>;
  keys: Pick<SharedKeys, 'macsWith'>;
}

interface Asked {
  bootID: string;
  /** Counters of what each peer was asked, the newest last. */
  open: Map<string, number[]>;
  answers: Map<string, { answer: 'reached' | 'unreached'; askedAtMs: number }>;
  askedAtMs: number;
}

const AGAIN_MS = 500;
/** An older answer says nothing of now. */
const VALID_MS = 3_000;
const OPEN_MAX = 8;

/** Asks the peers of a silent node whether they reach it. An answer counts only from the very peer that was asked, about the very boot. */
export class PeersQuestions {
  readonly #parts: PeersQuestionsParts;
  readonly #asked = new Map<string, Asked>();
  #lastCounter = 0;

  constructor(parts: PeersQuestionsParts) {
    this.#parts = parts;
  }

  /** At most every half second. */
  ask({ node, attestation, told }: AttestedNode): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const known = this.#asked.get(node);
    const asked =
      known?.bootID === attestation.bootID
        ? known
        : { bootID: attestation.bootID, open: new Map<string, number[]>(), answers: new Map(), askedAtMs: Number.NEGATIVE_INFINITY };
    this.#asked.set(node, asked);
    if (nowMs - asked.askedAtMs < AGAIN_MS) return;
    asked.askedAtMs = nowMs;
    const { publicKey, address } = attestation;
    if (publicKey === undefined || address === undefined) return;
    for (const peer of told?.peers ?? []) {
      if (!attestation.peers.includes(peer.node)) continue;
      const counter = this.#nextCounter(nowMs);
      const question = { counter, signs: 0, sender: CONTROLLERS, subject: node, subjectBootID: attestation.bootID, publicKey, address };
      if (this.#send(peer.node, { type: 'reach-request', ...question }))
        asked.open.set(peer.node, [...(asked.open.get(peer.node) ?? []), counter].slice(-OPEN_MAX));
    }
  }

  /** The datagram was opened with the key that its sender attests. */
  take({ type, sender, subject, subjectBootID, counter }: Datagram): void {
    const asked = subject === undefined ? undefined : this.#asked.get(subject);
    if ((type !== 'reached' && type !== 'unreached') || asked === undefined || asked.bootID !== subjectBootID) return;
    const open = asked.open.get(sender);
    if (open?.includes(counter) !== true) return;
    asked.open.set(
      sender,
      open.filter((other) => other !== counter),
    );
    const askedAtMs = counter / 1_000;
    const known = asked.answers.get(sender);
    // That it answered once outweighs a ping that was lost.
    if (type === 'unreached' && known?.answer === 'reached' && askedAtMs - known.askedAtMs < VALID_MS) return;
    asked.answers.set(sender, { answer: type, askedAtMs });
  }

  /** Only what was asked after `lastMs`, when the node was last heard. */
  viewOf({ node, attestation, told }: AttestedNode, lastMs: number): PeersView {
    const fromMs = Math.max(lastMs, this.#parts.clock.monotonicMs() - VALID_MS);
    const valid = [...(this.#asked.get(node)?.answers ?? [])].filter(([, { askedAtMs }]) => askedAtMs > fromMs);
    const peers = (told?.peers ?? []).filter((peer) => attestation.peers.includes(peer.node));
    return peersView(
      { node, ...(told?.domain === undefined ? {} : { domain: told.domain }) },
      peers,
      new Map(valid.map(([peer, { answer }]) => [peer, answer])),
    );
  }

  keepOnly(silent: ReadonlySet<string>): void {
    for (const node of [...this.#asked.keys()]) if (!silent.has(node)) this.#asked.delete(node);
  }

  /** `false`: the peer cannot be asked. */
  #send(peer: string, question: Datagram): boolean {
    const { nodes, keys, socket } = this.#parts;
    const { publicKey, address } = nodes.get(peer)?.attestation ?? {};
    if (publicKey === undefined || address === undefined) return false;
    // Under each key that we have: while it is changed nobody knows which of them the peer knows already.
    for (const mac of keys.macsWith(publicKey)) socket.send(address, seal(question, mac));
    return true;
  }

  #nextCounter(nowMs: number): number {
    this.#lastCounter = Math.max(this.#lastCounter + 1, Math.floor(nowMs * 1_000));
    return this.#lastCounter;
  }
}
