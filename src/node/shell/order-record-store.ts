import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOrderedAction, ORDER_STATES } from '../../domain/node-daemon/order.ts';
import type { OrderOutcome } from '../../domain/node-daemon/order.ts';
import type { OrderRecord, OrderRecordStore } from '../../ports/node-daemon.ts';
import { codeOf } from './file-errors.ts';

/** A file in /run, as the record of what kept the node up: it ends with the boot, as every order does. */
export class OrderRecordFile implements OrderRecordStore {
  readonly #path: string;
  readonly #bootID: string;

  constructor(path: string, bootID: string) {
    this.#path = path;
    this.#bootID = bootID;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  async read(): Promise<OrderRecord | undefined> {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const record = recordOf(text);
    if (record === undefined) throw new Error(`${this.#path} is no record of orders`);
    return record.bootID === this.#bootID ? record : undefined;
  }

  write(record: OrderRecord): void {
    const temporary = `${this.#path}.new`;
    writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}

function recordOf(text: string): OrderRecord | undefined {
  const { bootID, epoch, orders } = fieldsOf(parsed(text));
  if (typeof bootID !== 'string' || bootID === '' || typeof epoch !== 'number' || !Number.isSafeInteger(epoch) || !Array.isArray(orders))
    return undefined;
  return orders.every(isOutcome) ? { bootID, epoch, orders } : undefined;
}

function isOutcome(value: unknown): value is OrderOutcome {
  const { id, action, state, words } = fieldsOf(value);
  return typeof id === 'string' && isOrderedAction(action) && ORDER_STATES.some((known) => known === state) && typeof words === 'string';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
