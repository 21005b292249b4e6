import { CONTROLLERS } from '../../domain/node-daemon/controllers.ts';
import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import { seal } from '../../domain/node-daemon/seal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';
import type { AttestedNodes } from './attested-nodes.ts';
import type { SharedKeys } from './shared-keys.ts';

export interface PromiseParts {
  clock: Pick<Clock, 'monotonicMs'>;
  socket: Pick<DatagramSocket, 'send'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  nodes: Pick<AttestedNodes, 'get'>;
  keys: Pick<SharedKeys, 'macsWith'>;
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
  /** Counters of what each peer was asked, the newest last. */
  asked: Map<string, number[]>;
  users: number;
}

/** An answer to an older question than these is not waited for any more; the next one will come. */
const OPEN_QUESTIONS_MAX = 16;

/** Asks peers to promise that they will never again vouch for a boot. A promise counts only as the answer of the very peer about the very boot. */
export class Promises {
  readonly #parts: PromiseParts;
  readonly #standing = new Map<string, Standing>();
  #lastCounter = 0;

  constructor(parts: PromiseParts) {
    this.#parts = parts;
  }

  collect(node: string, bootID: string): Collection {
    const key = keyOf(node, bootID);
    const standing = this.#standing.get(key) ?? { promised: new Set<string>(), asked: new Map<string, number[]>(), users: 0 };
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
  take({ sender, subject, subjectBootID, counter }: Datagram): void {
    if (subject === undefined || subjectBootID === undefined) return;
    const standing = this.#standing.get(keyOf(subject, subjectBootID));
    if (standing?.asked.get(sender)?.includes(counter) === true) standing.promised.add(sender);
  }

  #ask(peer: string, { node, bootID }: { node: string; bootID: string }, { asked }: Standing): void {
    const { socket, leadership, nodes, keys } = this.#parts;
    const { publicKey, address } = nodes.get(peer)?.attestation ?? {};
    if (publicKey === undefined || address === undefined || !leadership.isLeading || !leadership.mayBegin(0)) return;
    const counter = this.#nextCounter();
    asked.set(peer, [...(asked.get(peer) ?? []), counter].slice(-OPEN_QUESTIONS_MAX));
    // Under each key that we have: while it is changed nobody knows which of them the peer knows already.
    for (const mac of keys.macsWith(publicKey))
      socket.send(address, seal({ type: 'promise-request', counter, signs: 0, sender: CONTROLLERS, subject: node, subjectBootID: bootID }, mac));
  }

  /** Microseconds, as all counters; they only grow. */
  #nextCounter(): number {
    this.#lastCounter = Math.max(this.#lastCounter + 1, Math.floor(this.#parts.clock.monotonicMs() * 1_000));
    return this.#lastCounter;
  }
}

function keyOf(node: string, bootID: string): string {
  return `${node} ${bootID}`;
}
