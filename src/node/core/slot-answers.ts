import type { Datagram } from '../../domain/node-daemon/datagram.ts';
import { seal } from '../../domain/node-daemon/seal.ts';
import type { Mac } from '../../domain/node-daemon/seal.ts';
import { hasLivedSince } from '../../domain/node-daemon/storage-lease/renewal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';
import type { StorageSlots } from '../../ports/storage-lease.ts';

export interface SlotAnswersParts {
  clock: Pick<Clock, 'monotonicMs'>;
  socket: Pick<DatagramSocket, 'send'>;
  slots: StorageSlots;
  own: { node: string; bootID: string };
}

interface Question {
  /** Of the controller, who is told. */
  counter: number;
  mac: Mac;
  from: string;
  subject: string;
  subjectBootID: string;
  slot: number;
  atMs: number;
  /** What the slot counted when it was first read after the question had come. */
  base?: number;
}

const LOOK_MS = 1_000;
/** In so many of its intervals a slot that is renewed has grown by two, though one read or renewal was late. */
const STILL_INTERVALS = 4;
const STILL_MIN_MS = 10_000;
/** Longer than the slowest slot takes to be called still. */
const FORGOTTEN_MS = 150_000;
/** Questions that are open: more come only from somebody who means ill. */
const OPEN_MAX = 64;
/** Of these about one slot: one that cannot be read leaves room for the others. */
const OPEN_OF_SLOT_MAX = 8;
/** Slots that are read in one look; the others in the next. */
const SLOTS_MAX = 16;

/** Answers the controllers whether another node still renews its slot: reads it until it has moved, or long enough. What cannot be read is not answered. */
export class SlotAnswers {
  readonly #parts: SlotAnswersParts;
  #open: Question[] = [];
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(parts: SlotAnswersParts) {
    this.#parts = parts;
  }

  /** A controller asks. */
  ask({ counter, subject, subjectBootID, signs: slot }: Datagram, mac: Mac, from: string): void {
    if (subject === undefined || subjectBootID === undefined || subject === this.#parts.own.node) return;
    if (this.#open.length >= OPEN_MAX || this.#open.filter((question) => question.slot === slot).length >= OPEN_OF_SLOT_MAX) return;
    this.#open.push({ counter, mac, from, subject, subjectBootID, slot, atMs: this.#parts.clock.monotonicMs() });
  }

  tick(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#open = this.#open.filter(({ atMs }) => nowMs - atMs < FORGOTTEN_MS);
    if (this.#open.length === 0 || this.#isLooking || nowMs - this.#lookedAtMs < LOOK_MS) return;
    this.#lookedAtMs = nowMs;
    this.#isLooking = true;
    void this.#look().finally(() => (this.#isLooking = false));
  }

  /** The machine slept: who asked has others. */
  forget(): void {
    this.#open = [];
  }

  async #look(): Promise<void> {
    const wanted = [...new Set(this.#open.map(({ slot }) => slot))].slice(0, SLOTS_MAX);
    for (const slot of wanted) {
      // Only who asked before the read is answered by it.
      const asked = new Set(this.#open.filter((question) => question.slot === slot));
      const read = await this.#parts.slots.read(slot);
      const nowMs = this.#parts.clock.monotonicMs();
      this.#open = this.#open.filter((question) => {
        if (!asked.has(question)) return true;
        const isOfIt = read?.state === 'held' && read.node === question.subject && read.bootID === question.subjectBootID;
        return !isOfIt || !this.#isAnswered(question, read, nowMs);
      });
    }
    // Those that could not be looked at now come first in the next look.
    this.#open = [...this.#open.filter(({ slot }) => !wanted.includes(slot)), ...this.#open.filter(({ slot }) => wanted.includes(slot))];
  }

  #isAnswered(question: Question, { counter, intervalMs }: { counter: number; intervalMs: number }, nowMs: number): boolean {
    question.base ??= counter;
    if (hasLivedSince(question.base, counter)) this.#tell('slot-moved', question);
    else if (nowMs - question.atMs >= Math.max(STILL_MIN_MS, STILL_INTERVALS * intervalMs)) this.#tell('slot-still', question);
    else return false;
    return true;
  }

  #tell(type: 'slot-moved' | 'slot-still', { counter, mac, from, subject, subjectBootID }: Question): void {
    const { socket, own } = this.#parts;
    socket.send(from, seal({ type, counter, bootID: own.bootID, signs: 0, sender: own.node, subject, subjectBootID }, mac));
  }
}
