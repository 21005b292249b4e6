import { ATTESTED_ORDERS_MAX, decideOrder, orderWords } from '../../domain/node-daemon/order.ts';
import type { Order, OrderOutcome, OrderRefusal, OrderState } from '../../domain/node-daemon/order.ts';
import type { DaemonLog, OrderExecutor, OrderRecordStore } from '../../ports/node-daemon.ts';
import type { ReceivedOrder } from './exchange.ts';
import { messageOf } from './message-of.ts';

export interface OrdersParts {
  log: DaemonLog;
  /** Absent: the daemon was not started with `--soft-fence`, and refuses every order. */
  carriedOut?: { store: OrderRecordStore; executor: OrderExecutor };
  bootID: string;
  /** How long an order holds. */
  validMs: () => number;
  isGoingDown: () => boolean;
  /** What is attested is another than before. */
  changed: () => void;
}

/** An older one that comes again is too old to be carried out. */
const REMEMBERED_MAX = 64;

/** Carries out each order of the controllers once, or refuses it in words. It touches neither what keeps the node up nor its watchdog. */
export class Orders {
  readonly #parts: OrdersParts;
  #remembered: OrderOutcome[] = [];
  #isPastKnown = true;
  #epoch = 0;
  #problem: string | undefined;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
  }

  /** What an earlier process of this boot was ordered. One that ended while it carried an order out does not begin it again. */
  async restore(): Promise<void> {
    const { carriedOut, log, bootID } = this.#parts;
    try {
      const record = await carriedOut?.store.read();
      if (record?.bootID !== bootID) return;
      this.#epoch = Math.max(this.#epoch, record.epoch);
      this.#remembered = record.orders.map((order) => (order.state === 'taken' ? interrupted(order) : order));
    } catch (error) {
      this.#isPastKnown = false;
      this.#problem = `orders are refused: what was ordered before cannot be read: ${messageOf(error)}`;
      log.error('orders are refused: what was ordered before cannot be read', { error: messageOf(error) });
    }
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** For the attestation and for people, the newest last. */
  get outcomes(): readonly OrderOutcome[] {
    return this.#remembered.slice(-ATTESTED_ORDERS_MAX);
  }

  /** A grant or an order of a leader of this term was heard: none of an older term is obeyed from now on, by this process or the next one. */
  heardTerm(epoch: number): void {
    if (epoch <= this.#epoch) return;
    this.#epoch = epoch;
    this.#write();
  }

  take({ order, epoch, isForThisBoot, ageMs }: ReceivedOrder): void {
    const { carriedOut, validMs, isGoingDown, log } = this.#parts;
    const decision = decideOrder({
      ...{ order, epoch, isForThisBoot, ageMs, latestEpoch: this.#epoch, remembered: this.#remembered, isPastKnown: this.#isPastKnown },
      isOptedIn: carriedOut !== undefined,
      validMs: validMs(),
      isGoingDown: isGoingDown(),
    });
    if (decision.decision === 'again') return;
    const fields = { job: order.id, action: order.action, epoch };
    if (decision.decision === 'refuse' || carriedOut === undefined) {
      const { why, id } = decision.decision === 'refuse' ? decision : { why: '', id: undefined };
      log.warn('an order of the controller was refused', { ...fields, reason: why });
      this.#become(order, 'refused', why, id);
      return;
    }
    this.#epoch = Math.max(this.#epoch, epoch);
    // Written first: a process that is started anew must know of it.
    if (!this.#become(order, 'taken', 'it is being carried out')) {
      this.#become(order, 'refused', 'that it was taken cannot be remembered: see the log of the daemon', 'not-remembered');
      return;
    }
    log.warn('an order of the controller is carried out', fields);
    void carriedOut.executor.execute(order.action).then(({ isDone, words }) => {
      log[isDone ? 'warn' : 'error']('an order of the controller was carried out', { ...fields, result: isDone ? 'done' : 'failed', reason: words });
      this.#become(order, isDone ? 'done' : 'failed', words);
    });
  }

  /** `false`: a process that is started anew would not know. */
  #become({ id, action }: Order, state: OrderState, words: string, why?: OrderRefusal): boolean {
    const others = this.#remembered.filter((other) => other.id !== id);
    this.#remembered = [...others, { id, action, state, words: orderWords(words), ...(why !== undefined && { why }) }].slice(-REMEMBERED_MAX);
    const isWritten = this.#write();
    this.#parts.changed();
    return isWritten;
  }

  #write(): boolean {
    const { carriedOut, log, bootID } = this.#parts;
    if (carriedOut === undefined || !this.#isPastKnown) return false;
    try {
      carriedOut.store.write({ bootID, epoch: this.#epoch, orders: this.#remembered });
      this.#problem = undefined;
      return true;
    } catch (error) {
      this.#problem = `what was ordered cannot be written, so orders are refused: ${messageOf(error)}`;
      log.error('what was ordered cannot be written, so orders are refused', { error: messageOf(error) });
      return false;
    }
  }
}

function interrupted(order: OrderOutcome): OrderOutcome {
  return {
    ...order,
    state: 'failed',
    words: 'the daemon ended while it was carried out: whether it was done is not known, and it is not begun again',
  };
}
