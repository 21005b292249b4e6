import type { Datagram } from '../../../domain/node-daemon/datagram.ts';
import { SIGNS } from '../../../domain/node-daemon/datagram.ts';
import type { AttestedNode, AttestedNodes } from '../attested-nodes.ts';
import type { Heartbeats } from '../heartbeats.ts';
import { Questions } from '../questions.ts';
import type { Open, QuestionParts } from '../questions.ts';

export interface SlotQuestionsParts extends QuestionParts {
  nodes: Pick<AttestedNodes, 'get' | 'all'>;
  heartbeats: Pick<Heartbeats, 'isHeard' | 'last'>;
}

interface Asked {
  bootID: string;
  open: Open;
  askedAtMs: number;
  /** First sight of its silence. */
  silentSinceMs: number;
  /** When the last question was asked after which the node has lived. */
  aliveAtMs?: number;
  /** The same for the last one that found its slot standing still. */
  stillAtMs?: number;
}

const AGAIN_MS = 3_000;
/** About who has said nothing for long nobody asks so often. */
const [LONG_MS, LONG_AGAIN_MS] = [600_000, 30_000];
/** Nodes that are asked about one silent node at a time; others the next time. */
const ASKED_OF = 3;
/** Silent nodes that are asked about at the same time, those that were alive last first. */
const ASKED_MAX = 64;
const OPEN_MAX = 64;
/** The slowest slot is answered by then. */
const ANSWERED_WITHIN_MS = 160_000;
/** What an answer takes beside two renewals: the next question, the look of the one who is asked. */
const ANSWER_MS = 6_000;

/**
 * Asks nodes that share a storage lease whether a silent one still renews its slot. An answer counts only about the very boot, and says that it lived after the
 * question. That a slot stands still proves nothing.
 */
export class SlotQuestions {
  readonly #parts: SlotQuestionsParts;
  readonly #questions: Questions;
  readonly #asked = new Map<string, Asked>();
  #turn = 0;

  constructor(parts: SlotQuestionsParts) {
    this.#parts = parts;
    this.#questions = new Questions(parts, OPEN_MAX);
  }

  /** Every second or so, by the leader. */
  look(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const silent = new Map<string, AttestedNode>();
    for (const attested of this.#parts.nodes.all()) if (this.#isSilent(attested, nowMs)) silent.set(attested.node, attested);
    for (const [node, { bootID }] of this.#asked) if (silent.get(node)?.attestation.bootID !== bootID) this.#asked.delete(node);
    if (silent.size === 0) return;
    const helpers = this.#helpers(nowMs);
    const due = [...silent.values()].map((attested) => ({ attested, asked: this.#of(attested, nowMs) }));
    due.sort((a, b) => lastOf(b.asked) - lastOf(a.asked));
    for (const { attested, asked } of due.slice(0, ASKED_MAX)) {
      const againMs = nowMs - lastOf(asked) < LONG_MS ? AGAIN_MS : LONG_AGAIN_MS;
      if (nowMs - asked.askedAtMs >= againMs) this.#ask(attested, asked, helpers.get(attested.attestation.storageLease?.id ?? '') ?? [], nowMs);
    }
  }

  /** Another leads. */
  clear(): void {
    this.#asked.clear();
  }

  /** The datagram was opened with the key that its sender attests. */
  take(datagram: Datagram): void {
    const { type, subject, subjectBootID } = datagram;
    const asked = subject === undefined ? undefined : this.#asked.get(subject);
    if ((type !== 'slot-moved' && type !== 'slot-still') || asked === undefined || asked.bootID !== subjectBootID) return;
    const askedAtMs = this.#questions.askedAtMs(datagram, asked.open);
    if (askedAtMs === undefined) return;
    if (this.#parts.clock.monotonicMs() - askedAtMs > ANSWERED_WITHIN_MS) return;
    if (type === 'slot-moved') asked.aliveAtMs = Math.max(asked.aliveAtMs ?? askedAtMs, askedAtMs);
    else asked.stillAtMs = Math.max(asked.stillAtMs ?? askedAtMs, askedAtMs);
  }

  /** After this moment it has lived, though it is silent; undefined: nobody saw so. */
  aliveAtMs(node: string): number | undefined {
    return this.#asked.get(node)?.aliveAtMs;
  }

  /** It has lived so lately that, as far as its slot can show it, it lives. */
  isAlive(node: string, bootID: string): boolean {
    const asked = this.#asked.get(node);
    return asked?.bootID === bootID && this.#isRecent(node, asked.aliveAtMs, 2, ANSWER_MS);
  }

  /** For the policy that holds what lives: one answer that is lost ends no hold. Undefined: nothing is known. */
  renews(node: string): boolean | undefined {
    const { nodes, heartbeats, clock } = this.#parts;
    const attestation = nodes.get(node)?.attestation;
    if (attestation?.storageLease === undefined) return undefined;
    const heard = heartbeats.last(node);
    if (heard?.bootID === attestation.bootID && heartbeats.isHeard(node, clock.monotonicMs())) return (heard.signs & SIGNS.storageLease) !== 0;
    const asked = this.#asked.get(node);
    if (asked?.bootID !== attestation.bootID) return undefined;
    if (this.#isRecent(node, asked.aliveAtMs, 4, 2 * ANSWER_MS)) return true;
    return asked.stillAtMs === undefined ? undefined : false;
  }

  /** What its slot shows of a silent node, for people. */
  stateOf(node: string): 'alive' | 'still' | undefined {
    const asked = this.#asked.get(node);
    if (asked === undefined) return undefined;
    if (this.renews(node) === true) return 'alive';
    return asked.stillAtMs === undefined ? undefined : 'still';
  }

  #isRecent(node: string, aliveAtMs: number | undefined, intervals: number, moreMs: number): boolean {
    const { nodes, clock } = this.#parts;
    const intervalMs = nodes.get(node)?.attestation.storageLease?.intervalMs;
    return aliveAtMs !== undefined && intervalMs !== undefined && clock.monotonicMs() - aliveAtMs < intervals * intervalMs + moreMs;
  }

  #isSilent({ node, attestation }: AttestedNode, nowMs: number): boolean {
    return attestation.storageLease !== undefined && attestation.isEnding !== true && !this.#parts.heartbeats.isHeard(node, nowMs);
  }

  /** Nodes that are heard, by the lease that they share. */
  #helpers(nowMs: number): Map<string, AttestedNode[]> {
    const helpers = new Map<string, AttestedNode[]>();
    for (const attested of this.#parts.nodes.all()) {
      const id = attested.attestation.storageLease?.id;
      if (id === undefined || !this.#parts.heartbeats.isHeard(attested.node, nowMs)) continue;
      const known = helpers.get(id);
      if (known === undefined) helpers.set(id, [attested]);
      else known.push(attested);
    }
    return helpers;
  }

  #of({ node, attestation: { bootID } }: AttestedNode, nowMs: number): Asked {
    const known = this.#asked.get(node);
    if (known !== undefined) return known;
    const asked: Asked = { bootID, open: new Map(), askedAtMs: Number.NEGATIVE_INFINITY, silentSinceMs: nowMs };
    this.#asked.set(node, asked);
    return asked;
  }

  #ask({ node, attestation }: AttestedNode, asked: Asked, helpers: readonly AttestedNode[], nowMs: number): void {
    const { bootID, storageLease } = attestation;
    if (storageLease === undefined) return;
    asked.askedAtMs = nowMs;
    this.#turn += 1;
    // Those who cannot read it, or answer nobody, are not asked all the time.
    for (let index = 0; index < Math.min(ASKED_OF, helpers.length); index += 1) {
      const helper = helpers[(this.#turn * ASKED_OF + index) % helpers.length];
      if (helper === undefined) continue;
      const question = { type: 'slot-request' as const, signs: storageLease.slot, subject: node, subjectBootID: bootID };
      this.#questions.ask(helper.node, question, asked.open);
    }
  }
}

function lastOf({ aliveAtMs, silentSinceMs }: Asked): number {
  return Math.max(aliveAtMs ?? silentSinceMs, silentSinceMs);
}
