import { describe, expect, it } from 'vitest';

import { decideOrder, orderWords } from './order.ts';
import type { OrderedAction, OrderInputs, OrderOutcome, OrderState } from './order.ts';

const ID = '76543210-aaaa-4bbb-8ccc-ddddeeeeffff';
const GOOD: OrderInputs = {
  order: { id: ID, action: 'restart-kubelet' },
  isOptedIn: true,
  isForThisBoot: true,
  ageMs: 20,
  validMs: 5_000,
  epoch: 4,
  latestEpoch: 4,
  remembered: [],
  isPastKnown: true,
  isGoingDown: false,
};
const remembered = (id: string, action: OrderedAction, state: OrderState): Partial<OrderInputs> => ({
  remembered: [{ id, action, state, words: 'w' } satisfies OrderOutcome],
});

describe('decideOrder', () => {
  it.each<[string, Partial<OrderInputs>, string]>([
    ['nothing is in the way', {}, 'begin'],
    ['of a leader that came later', { epoch: 5 }, 'begin'],
    ['the daemon was not started with --soft-fence', { isOptedIn: false }, 'not-opted-in'],
    ['another boot was meant', { isForThisBoot: false }, 'other-boot'],
    ['a later leader was heard', { epoch: 3 }, 'older-epoch'],
    ['it answers no heartbeat of this process', { ageMs: undefined }, 'expired'],
    ['at the last moment', { ageMs: 4_999 }, 'begin'],
    ['too old by a hair', { ageMs: 5_000 }, 'expired'],
    ['what was ordered before cannot be read', { isPastKnown: false }, 'unknown-past'],
    ['the node goes down by itself', { isGoingDown: true }, 'going-down'],
    ['the same one is being carried out', remembered(ID, 'restart-kubelet', 'taken'), 'again'],
    ['the same one was done', remembered(ID, 'restart-kubelet', 'done'), 'again'],
    ['the same one failed', remembered(ID, 'restart-kubelet', 'failed'), 'again'],
    ['the same one was refused, and could be done by now', remembered(ID, 'restart-kubelet', 'refused'), 'again'],
    ['another one was done', remembered('x', 'restart-kubelet', 'done'), 'begin'],
    ['another one is being carried out', remembered('x', 'restart-container-runtime', 'taken'), 'under-way'],
    ['this boot was told to reboot', remembered('x', 'reboot', 'done'), 'rebooting'],
    ['the reboot failed', remembered('x', 'reboot', 'failed'), 'begin'],
  ])('%s', (_name, change, id) => {
    const decision = decideOrder({ ...GOOD, ...change });
    expect(decision.id).toBe(id);
    expect(decision.decision).toBe(id === 'begin' || id === 'again' ? id : 'refuse');
  });

  it('says why in words', () => {
    expect(decideOrder({ ...GOOD, epoch: 3 })).toMatchObject({ why: 'it comes from a leader of term 3, and one of term 4 was heard since' });
    expect(decideOrder({ ...GOOD, isOptedIn: false })).toMatchObject({ why: 'the daemon of this node was not started with --soft-fence' });
  });
});

describe('orderWords', () => {
  it('keeps printable letters, and not too many of them', () => {
    expect(orderWords(' Failed\n\u001B[31mto\u0000 restart: ü ')).toBe('Failed [31mto restart:');
    expect(orderWords('x'.repeat(999))).toHaveLength(200);
    expect(orderWords('\n')).toBe('nothing was said');
  });
});
