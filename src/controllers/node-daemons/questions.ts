import { CONTROLLERS } from '../../domain/node-daemon/controllers.ts';
import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import { seal } from '../../domain/node-daemon/seal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';
import type { AttestedNodes } from './attested-nodes.ts';
import type { SharedKeys } from './shared-keys.ts';

export interface QuestionParts {
  clock: Pick<Clock, 'monotonicMs'>;
  socket: Pick<DatagramSocket, 'send'>;
  nodes: Pick<AttestedNodes, 'get'>;
  keys: Pick<SharedKeys, 'macsWith'>;
}

/** Counters of what each node was asked about one subject and has not answered, the newest last. */
export type Open = Map<string, readonly number[]>;

/** Questions to the daemons of nodes. An answer counts only from the very node that was asked, and once. */
export class Questions {
  readonly #parts: QuestionParts;
  readonly #openMax: number;
  #lastCounter = 0;

  /** An answer to an older question than the newest `openMax` to a node is not waited for any more. */
  constructor(parts: QuestionParts, openMax: number) {
    this.#parts = parts;
    this.#openMax = openMax;
  }

  /** One that attests no key or no address cannot be asked. */
  ask(node: string, question: Omit<Datagram, 'counter' | 'sender'>, open: Open): void {
    const { nodes, keys, socket } = this.#parts;
    const { publicKey, address } = nodes.get(node)?.attestation ?? {};
    if (publicKey === undefined || address === undefined) return;
    const counter = this.#nextCounter();
    open.set(node, [...(open.get(node) ?? []), counter].slice(-this.#openMax));
    // Under each key that we have: while it is changed nobody knows which of them the node knows already.
    for (const mac of keys.macsWith(publicKey)) socket.send(address, seal({ ...question, counter, sender: CONTROLLERS }, mac));
  }

  /** When it was asked what this answers, on our clock; undefined: its sender was not asked that, or has answered already. */
  askedAtMs({ sender, counter }: Pick<Datagram, 'sender' | 'counter'>, open: Open): number | undefined {
    const asked = open.get(sender);
    if (asked?.includes(counter) !== true) return undefined;
    open.set(
      sender,
      asked.filter((other) => other !== counter),
    );
    return counter / 1_000;
  }

  /** Microseconds, as all counters; they only grow. */
  #nextCounter(): number {
    this.#lastCounter = Math.max(this.#lastCounter + 1, Math.floor(this.#parts.clock.monotonicMs() * 1_000));
    return this.#lastCounter;
  }
}
