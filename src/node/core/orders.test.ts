import { beforeEach, describe, expect, it } from 'vitest';

import type { OrderedAction } from '../../domain/node-daemon/order.ts';
import type { OrderRecord } from '../../ports/node-daemon.ts';
import type { ReceivedOrder } from './exchange.ts';
import { Orders } from './orders.ts';
import type { OrdersParts } from './orders.ts';

const ID = '76543210-aaaa-4bbb-8ccc-ddddeeeeffff';
const other = (digit: number): string => ID.replace('7', String(digit));

describe('orders on the node', () => {
  let record: OrderRecord | undefined;
  let isDiskBroken: boolean;
  let executed: OrderedAction[];
  let end: (answer: { isDone: boolean; words: string }) => void;
  let log: string[];
  let changes: number;

  beforeEach(() => {
    record = undefined;
    isDiskBroken = false;
    executed = [];
    log = [];
    changes = 0;
  });

  async function process(change: Partial<OrdersParts> = {}): Promise<Orders> {
    const say = (level: string) => (message: string, fields?: object) => log.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const orders = new Orders({
      log: { info: say('info'), warn: say('warn'), error: say('error') },
      carriedOut: {
        store: {
          read: () => Promise.resolve(structuredClone(record)),
          write: (written) => {
            if (isDiskBroken) throw new Error('no space left on device');
            record = structuredClone(written);
          },
        },
        executor: {
          execute: async (action) => {
            // What stands on the medium in the moment in which it begins.
            executed.push(action);
            expect(record?.orders.at(-1)).toMatchObject({ action, state: 'taken' });
            return new Promise((resolve) => (end = resolve));
          },
        },
      },
      bootID: 'boot-1',
      validMs: () => 5_000,
      isGoingDown: () => false,
      changed: () => (changes += 1),
      ...change,
    });
    await orders.restore();
    return orders;
  }

  const received = (change: Partial<ReceivedOrder> = {}, id = ID, action: OrderedAction = 'restart-kubelet'): ReceivedOrder => ({
    order: { id, action },
    epoch: 1,
    isForThisBoot: true,
    ageMs: 10,
    ...change,
  });
  const last = (orders: Orders): string => {
    const { state, words } = orders.outcomes.at(-1) ?? {};
    return `${state ?? 'none'}: ${words ?? ''}`;
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };

  it('are carried out once, and what became of them is told', async () => {
    const orders = await process();
    orders.take(received());
    expect(last(orders)).toBe('taken: it is being carried out');
    orders.take(received());
    end({ isDone: true, words: 'kubelet.service was restarted' });
    await settle();
    orders.take(received());
    expect(executed).toEqual(['restart-kubelet']);
    expect(last(orders)).toBe('done: kubelet.service was restarted');
    expect(changes).toBe(2);
    expect(log.join('\n')).toContain('warn an order of the controller was carried out');
  });

  it('that failed say so, and are not tried again', async () => {
    const orders = await process();
    orders.take(received());
    end({ isDone: false, words: 'systemctl ended with code 5' });
    await settle();
    orders.take(received());
    expect(last(orders)).toBe('failed: systemctl ended with code 5');
    expect(executed).toHaveLength(1);
  });

  it('are remembered by a process that is started anew, which does not begin them again', async () => {
    (await process()).take(received());
    const next = await process();
    expect(last(next)).toContain('failed: the daemon ended while it was carried out');
    next.take(received());
    expect(executed).toHaveLength(1);
  });

  it('of an earlier leader are refused, also by a process that is started anew', async () => {
    (await process()).heardTerm(7);
    const orders = await process();
    orders.take(received({ epoch: 6 }));
    expect(last(orders)).toBe('refused: it comes from a leader of term 6, and one of term 7 was heard since');
    orders.take(received({ epoch: 7 }, other(8)));
    expect(executed).toHaveLength(1);
  });

  it('of a leader teach its term', async () => {
    const orders = await process();
    orders.take(received({ epoch: 9 }));
    end({ isDone: true, words: 'w' });
    await settle();
    orders.take(received({ epoch: 8 }, other(8)));
    expect(last(orders)).toContain('refused: it comes from a leader of term 8');
  });

  it('are refused in words by a daemon that was not started with --soft-fence', async () => {
    const orders = new Orders({
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      bootID: 'boot-1',
      validMs: () => 5_000,
      isGoingDown: () => false,
      changed: () => undefined,
    });
    await orders.restore();
    orders.take(received());
    expect(last(orders)).toBe('refused: the daemon of this node was not started with --soft-fence');
  });

  it('are refused where they cannot be remembered, and nothing is begun', async () => {
    const orders = await process();
    isDiskBroken = true;
    orders.take(received());
    expect(last(orders)).toContain('refused: that it was taken cannot be remembered');
    expect(orders.problem).toContain('no space left on device');
    isDiskBroken = false;
    orders.take(received());
    expect(executed, 'what was refused stays so').toEqual([]);
    orders.take(received({}, other(8)));
    expect(executed).toHaveLength(1);
    expect(orders.problem).toBeUndefined();
  });

  it('are refused where what was ordered before cannot be read', async () => {
    const store = { read: () => Promise.reject(new Error('input/output error')), write: () => undefined };
    const orders = await process({ carriedOut: { store, executor: { execute: () => Promise.reject(new Error('begun')) } } });
    orders.take(received());
    expect(last(orders)).toContain('refused: what was ordered before cannot be read');
    expect(orders.problem).toContain('input/output error');
  });

  it('of an earlier boot are forgotten', async () => {
    record = { bootID: 'boot-0', epoch: 9, orders: [{ id: ID, action: 'reboot', state: 'done', words: 'w' }] };
    const orders = await process();
    expect(orders.outcomes).toEqual([]);
    orders.take(received());
    expect(executed).toHaveLength(1);
  });

  it('come one after the other: a second one is refused meanwhile, and the first one goes on', async () => {
    const orders = await process();
    orders.take(received());
    orders.take(received({}, other(8)));
    expect(last(orders)).toBe('refused: another order is under way: restart-kubelet');
    end({ isDone: true, words: 'w' });
    await settle();
    expect(orders.outcomes.map(({ state }) => state).sort()).toEqual(['done', 'refused']);
  });

  it('are told of in the attestation by their last four', async () => {
    const orders = await process();
    for (let digit = 1; digit <= 6; digit += 1) orders.take(received({ isForThisBoot: false }, other(digit)));
    expect(orders.outcomes.map(({ id }) => id)).toEqual([3, 4, 5, 6].map(other));
  });
});
