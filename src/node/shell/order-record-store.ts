import { isOrderedAction, ORDER_STATES, orderRefusalOf } from '../../domain/node-daemon/order.ts';
import type { OrderOutcome } from '../../domain/node-daemon/order.ts';
import type { OrderRecord, OrderRecordStore } from '../../ports/node-daemon.ts';
import { BootRecordFile, fieldsOf } from './boot-record-file.ts';
import type { RecordFields } from './boot-record-file.ts';

/** It ends with the boot, as every order does. */
export class OrderRecordFile implements OrderRecordStore {
  readonly #file: BootRecordFile<OrderRecord>;

  constructor(path: string, bootID: string) {
    this.#file = new BootRecordFile(path, bootID, { parse: recordOf, problem: 'is no record of orders' });
  }

  async read(): Promise<OrderRecord | undefined> {
    return this.#file.read();
  }

  write(record: OrderRecord): void {
    this.#file.write(record);
  }
}

function recordOf({ bootID, epoch, orders }: RecordFields): OrderRecord | undefined {
  if (typeof bootID !== 'string' || typeof epoch !== 'number' || !Number.isSafeInteger(epoch) || !Array.isArray(orders)) return undefined;
  return orders.every(isOutcome) ? { bootID, epoch, orders: orders.map(known) } : undefined;
}

function isOutcome(value: unknown): value is OrderOutcome {
  const { id, action, state, words } = fieldsOf(value);
  return typeof id === 'string' && isOrderedAction(action) && ORDER_STATES.some((known) => known === state) && typeof words === 'string';
}

/** Why one was refused may be a word of a later version. */
function known({ why, ...order }: OrderOutcome): OrderOutcome {
  const refusal = orderRefusalOf(why);
  return refusal === undefined ? order : { ...order, why: refusal };
}
