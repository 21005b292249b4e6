import type { Datagram } from '../../../domain/node-daemon/datagram.ts';
import { peersView } from '../../../domain/node-daemon/fast-detection.ts';
import type { PeersView } from '../../../domain/node-daemon/fast-detection.ts';
import type { AttestedNode } from '../attested-nodes.ts';
import { Questions } from '../questions.ts';
import type { Open, QuestionParts } from '../questions.ts';

interface Asked {
  bootID: string;
  open: Open;
  answers: Map<string, { answer: 'reached' | 'unreached'; askedAtMs: number }>;
  askedAtMs: number;
}

const AGAIN_MS = 500;
/** An older answer says nothing of now. */
const VALID_MS = 3_000;
const OPEN_MAX = 8;

/** Asks the peers of a silent node whether they reach it. An answer counts only about the very boot. */
export class PeersQuestions {
  readonly #clock: QuestionParts['clock'];
  readonly #questions: Questions;
  readonly #asked = new Map<string, Asked>();

  constructor(parts: QuestionParts) {
    this.#clock = parts.clock;
    this.#questions = new Questions(parts, OPEN_MAX);
  }

  /** At most every half second. */
  ask({ node, attestation, told }: AttestedNode): void {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#asked.get(node);
    const asked: Asked =
      known?.bootID === attestation.bootID
        ? known
        : { bootID: attestation.bootID, open: new Map(), answers: new Map(), askedAtMs: Number.NEGATIVE_INFINITY };
    this.#asked.set(node, asked);
    if (nowMs - asked.askedAtMs < AGAIN_MS) return;
    asked.askedAtMs = nowMs;
    const { publicKey, address } = attestation;
    if (publicKey === undefined || address === undefined) return;
    for (const peer of told?.peers ?? []) {
      if (!attestation.peers.includes(peer.node)) continue;
      const about = { signs: 0, subject: node, subjectBootID: attestation.bootID, publicKey, address };
      this.#questions.ask(peer.node, { type: 'reach-request', ...about }, asked.open);
    }
  }

  /** The datagram was opened with the key that its sender attests. */
  take(datagram: Datagram): void {
    const { type, sender, subject, subjectBootID } = datagram;
    const asked = subject === undefined ? undefined : this.#asked.get(subject);
    if ((type !== 'reached' && type !== 'unreached') || asked === undefined || asked.bootID !== subjectBootID) return;
    const askedAtMs = this.#questions.askedAtMs(datagram, asked.open);
    if (askedAtMs === undefined) return;
    const known = asked.answers.get(sender);
    // That it answered once outweighs a ping that was lost.
    if (type === 'unreached' && known?.answer === 'reached' && askedAtMs - known.askedAtMs < VALID_MS) return;
    asked.answers.set(sender, { answer: type, askedAtMs });
  }

  /** Only what was asked after `lastMs`, when the node was last heard. */
  viewOf({ node, attestation, told }: AttestedNode, lastMs: number): PeersView {
    const fromMs = Math.max(lastMs, this.#clock.monotonicMs() - VALID_MS);
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
}
