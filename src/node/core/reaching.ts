import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import { seal } from '../../domain/node-daemon/seal.ts';
import type { Mac } from '../../domain/node-daemon/seal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';

export interface ReachingParts {
  clock: Pick<Clock, 'monotonicMs'>;
  socket: Pick<DatagramSocket, 'send'>;
  own: { node: string; bootID: string; publicKey: string };
  /** Undefined where what was written as a key is none. */
  macWith: (publicKey: string) => Mac | undefined;
  /** Counters only grow, and no request of this daemon has the same. */
  nextCounter: () => number;
}

interface Question {
  /** Of the controller, who is told. */
  counter: number;
  mac: Mac;
  from: string;
  subject: string;
  subjectBootID: string;
  address: string;
  ping: Uint8Array;
  pairMac: Mac;
  atMs: number;
  isRepeated: boolean;
}

/** One lost ping is no silence: it is sent once more. */
const REPEAT_MS = 300;
const UNREACHED_MS = 700;
/** Whoever notices so late that the time is over may have slept through the answer. */
const OVERSLEPT_MS = 1_500;
/** Questions that are open: more come only from somebody who means ill. */
const OPEN_MAX = 64;

/** Answers the controllers whether this node reaches another one: it asks that node, and says yes or no. What cannot be known is not answered. */
export class Reaching {
  readonly #parts: ReachingParts;
  readonly #open = new Map<number, Question>();

  constructor(parts: ReachingParts) {
    this.#parts = parts;
  }

  /** A controller asks. */
  ask({ counter, subject, subjectBootID, publicKey, address }: Datagram, mac: Mac, from: string): void {
    const { clock, socket, own, macWith, nextCounter } = this.#parts;
    if (subject === undefined || subjectBootID === undefined || publicKey === undefined || address === undefined) return;
    const pairMac = subject === own.node || this.#open.size >= OPEN_MAX ? undefined : macWith(publicKey);
    if (pairMac === undefined) return;
    const id = nextCounter();
    const ping = seal(
      { type: 'ping', counter: id, bootID: own.bootID, signs: 0, sender: own.node, subject, subjectBootID, publicKey: own.publicKey },
      pairMac,
    );
    const atMs = clock.monotonicMs();
    this.#open.set(id, { counter, mac, from, subject, subjectBootID, address, ping, pairMac, atMs, isRepeated: false });
    socket.send(address, ping);
  }

  /** Under which key this boot of that node answers the ping; none: it was not asked. */
  keysOf({ counter, sender, bootID }: Datagram): Mac[] {
    const question = this.#open.get(counter);
    return question === undefined || question.subject !== sender || question.subjectBootID !== bootID ? [] : [question.pairMac];
  }

  /** It was opened with the key of `keysOf`. */
  answered({ counter }: Datagram): void {
    const question = this.#open.get(counter);
    if (question === undefined) return;
    this.#open.delete(counter);
    this.#tell('reached', question);
  }

  tick(): void {
    const { clock, socket } = this.#parts;
    const nowMs = clock.monotonicMs();
    for (const [id, question] of this.#open) {
      const overMs = nowMs - question.atMs;
      if (overMs >= UNREACHED_MS) {
        this.#open.delete(id);
        if (overMs < OVERSLEPT_MS) this.#tell('unreached', question);
      } else if (overMs >= REPEAT_MS && !question.isRepeated) {
        question.isRepeated = true;
        socket.send(question.address, question.ping);
      }
    }
  }

  /** The machine slept: what did not come meanwhile says nothing. */
  forget(): void {
    this.#open.clear();
  }

  #tell(type: 'reached' | 'unreached', { counter, mac, from, subject, subjectBootID }: Question): void {
    const { socket, own } = this.#parts;
    socket.send(from, seal({ type, counter, bootID: own.bootID, signs: 0, sender: own.node, subject, subjectBootID }, mac));
  }
}
