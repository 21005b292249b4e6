import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import type { Leadership } from '../../ports/leadership.ts';
import { Questions } from './questions.ts';
import type { Open, QuestionParts } from './questions.ts';

export interface PromiseParts extends QuestionParts {
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
}

/** The collection of promises for one boot of one node. */
export interface Collection {
  /** Who has promised since it began. */
  readonly promised: ReadonlySet<string>;
  /** Asks these peers once more. One that attests no key or address now cannot be asked. */
  ask(peers: readonly string[]): void;
  end(): void;
}

interface Standing {
  promised: Set<string>;
  open: Open;
  users: number;
}

const OPEN_QUESTIONS_MAX = 16;

/** Asks peers to promise that they will never again vouch for a boot. A promise counts only as the answer of the very peer about the very boot. */
export class Promises {
  readonly #leadership: PromiseParts['leadership'];
  readonly #questions: Questions;
  readonly #standing = new Map<string, Standing>();

  constructor({ leadership, ...parts }: PromiseParts) {
    this.#leadership = leadership;
    this.#questions = new Questions(parts, OPEN_QUESTIONS_MAX);
  }

  collect(node: string, bootID: string): Collection {
    const key = keyOf(node, bootID);
    const standing: Standing = this.#standing.get(key) ?? { promised: new Set<string>(), open: new Map(), users: 0 };
    standing.users += 1;
    this.#standing.set(key, standing);
    return {
      promised: standing.promised,
      ask: (peers) => {
        for (const peer of peers) this.#ask(peer, { node, bootID }, standing);
      },
      end: () => {
        standing.users -= 1;
        if (standing.users === 0) this.#standing.delete(key);
      },
    };
  }

  /** The datagram was opened with the key that its sender attests. */
  take(datagram: Datagram): void {
    const { sender, subject, subjectBootID } = datagram;
    if (subject === undefined || subjectBootID === undefined) return;
    const standing = this.#standing.get(keyOf(subject, subjectBootID));
    if (standing !== undefined && this.#questions.askedAtMs(datagram, standing.open) !== undefined) standing.promised.add(sender);
  }

  #ask(peer: string, { node, bootID }: { node: string; bootID: string }, { open }: Standing): void {
    if (!this.#leadership.isLeading || !this.#leadership.mayBegin(0)) return;
    this.#questions.ask(peer, { type: 'promise-request', signs: 0, subject: node, subjectBootID: bootID }, open);
  }
}

function keyOf(node: string, bootID: string): string {
  return `${node} ${bootID}`;
}
