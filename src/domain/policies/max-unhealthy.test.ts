import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedUnhealthy, maxUnhealthy } from './max-unhealthy.ts';
import { fence, heldBy, holdOf, ISOLATION, node, nodes, NOW_MS, view } from './testing/views.ts';

const policy = (settings: { percentage?: number; max?: number } = {}): ReturnType<typeof maxUnhealthy> =>
  maxUnhealthy({ name: 'max-unhealthy', isolation: ISOLATION, ...settings });

describe('how many may be unhealthy', () => {
  it.each<[total: number, percentage: number | undefined, max: number | undefined, allowed: number]>([
    [0, undefined, undefined, 0],
    [1, undefined, undefined, 0],
    [2, undefined, undefined, 1],
    [3, undefined, undefined, 1],
    [4, undefined, undefined, 1],
    [5, undefined, undefined, 2],
    [7, undefined, undefined, 2],
    [8, undefined, undefined, 3],
    [10, undefined, undefined, 4],
    [1, 99, undefined, 0],
    [1, 100, undefined, 1],
    [1, undefined, 1, 1],
    [2, 1, undefined, 1],
    [2, 0, undefined, 0],
    [3, 1, undefined, 1],
    [3, 0, undefined, 0],
    [3, 67, undefined, 2],
    [3, 66, undefined, 1],
    [4, 24, undefined, 0],
    [4, 25, undefined, 1],
    [100, 29, undefined, 29],
    [1000, 0.1, undefined, 1],
    [10, undefined, 0, 0],
    [10, undefined, 9, 9],
    [10, 50, 3, 3],
    [10, 20, 3, 2],
  ])('of %i nodes with percentage=%s and max=%s: %i', (total, percentage, max, allowed) => {
    expect(allowedUnhealthy(total, { ...(percentage !== undefined && { percentage }), ...(max !== undefined && { max }) })).toBe(allowed);
  });
});

describe('max-unhealthy', () => {
  it.each<[what: string, total: number, failed: number, silent: number, isHeld: boolean]>([
    ['one node is never fenced', 1, 1, 0, true],
    ['one of two is fenced', 2, 1, 0, false],
    ['one of two is held when the other is silent', 2, 1, 1, true],
    ['both of two are held', 2, 2, 0, true],
    ['one of three is fenced', 3, 1, 0, false],
    ['two of three are held', 3, 2, 0, true],
    ['four of ten are fenced', 10, 4, 0, false],
    ['a silent fifth of ten holds', 10, 4, 1, true],
    ['half of the cluster at once is held', 100, 50, 0, true],
  ])('%s', (_what, total, failed, silent, isHeld) => {
    expect(heldBy(policy(), view(nodes(total, failed, silent)))).toHaveLength(isHeld ? total : 0);
  });

  it('an empty scope holds nobody that it does not count', () => {
    const scoped = maxUnhealthy({ name: 'p', isolation: ISOLATION, scope: ({ rack }) => rack === 'r1' });
    expect(heldBy(scoped, view(nodes(10, 10)))).toEqual([]);
  });

  it('counts and holds only the nodes in its scope', () => {
    const scoped = maxUnhealthy({ name: 'p', max: 1, isolation: ISOLATION, scope: ({ rack }) => rack === 'r1' });
    const rack = (name: string): ReturnType<typeof node> => node(name, { labels: { rack: 'r1' }, health: 'failed' });
    expect(heldBy(scoped, view([rack('a'), ...nodes(5, 5)]))).toEqual([]);
    expect(heldBy(scoped, view([rack('a'), rack('b'), ...nodes(5, 5)]))).toEqual(['a', 'b']);
  });

  it('of two nodes one waits for a controller that is not cut off', () => {
    const two = view(nodes(2, 1));
    const reconnected = { ...two, controller: { ...two.controller, freshSinceMs: NOW_MS - 10_000 } };
    expect(holdOf(policy(), reconnected)).toMatchObject({ reason: 'reconnected', untilMs: NOW_MS + 30_000 });
    expect(holdOf(policy({ max: 1 }), reconnected)).toBeUndefined();
    const off = node('n1', { health: 'failed', fence: fence({ holdsSlot: true, isSwitchedOff: true, state: 'running' }) });
    expect(holdOf(policy(), { ...reconnected, nodes: new Map([...two.nodes, ['n0', { ...off, name: 'n0' }]]) })).toBeUndefined();
    const alone = { ...two, controller: { ...two.controller, targets: new Map([['gateway', false]]) } };
    expect(holdOf(policy(), alone)?.message).toContain('of two nodes one is fenced only by a controller that is not cut off');
    expect(holdOf(policy(), { ...alone, controller: { ...alone.controller, targets: new Map([['gateway', true]]) } })).toBeUndefined();
    expect(holdOf(policy(), { ...reconnected, nodes: view(nodes(3, 1)).nodes })).toBeUndefined();
  });

  it.each<[settings: { percentage?: number; max?: number }, total: number, message: string]>([
    [{}, 10, '6 of 10 nodes are unhealthy (1 of them silent), 4 may be (40%, rounded down); ends when no more than 4 of them are'],
    [{ percentage: 10 }, 6, '6 of 6 nodes are unhealthy (1 of them silent), 0 may be (10%, rounded down); ends when no node is'],
    [{ max: 2 }, 10, '6 of 10 nodes are unhealthy (1 of them silent), 2 may be (max=2); ends when no more than 2 of them are'],
    [
      { max: 2, percentage: 50 },
      10,
      '6 of 10 nodes are unhealthy (1 of them silent), 2 may be (50%, rounded down, and max=2); ends when no more than 2 of them are',
    ],
  ])('%j says its numbers', (settings, total, message) => {
    expect(holdOf(policy(settings), view(nodes(total, 5, 1)))).toEqual({ reason: 'max-unhealthy', message });
  });

  it('counts a preserved failed machine, whatever its conditions say, and says so; a healthy one that is preserved by now is well', () => {
    const kept = node('kept', { health: 'healthy', isPreserved: true });
    const others = nodes(4, 1);
    expect(heldBy(policy(), view([...others, node('well', { health: 'healthy' })]))).toEqual([]);
    expect(holdOf(policy({ max: 1 }), view([...others, kept]))?.message).toContain(
      '2 of 5 nodes are unhealthy (0 of them silent, 1 preserved), 1 may be',
    );
  });

  const asked = (name: string): ReturnType<typeof node> => node(name, { fence: fence({ isRequested: true }) });

  it.each<[what: string, others: ReturnType<typeof nodes>, settings: { percentage?: number; max?: number }, message: string | undefined]>([
    ['beside a healthy one', nodes(1), {}, undefined],
    [
      'beside a failed one',
      nodes(1, 1),
      {},
      '1 of 2 nodes are unhealthy (0 of them silent) beside this one, which is well and would be one more, 1 may be (the rule for 2 in scope); ends when no other node is',
    ],
    ['as the fourth of ten', nodes(9, 3), {}, undefined],
    [
      'as the fifth of ten',
      nodes(9, 4),
      {},
      '4 of 10 nodes are unhealthy (0 of them silent) beside this one, which is well and would be one more, 4 may be (40%, rounded down); ends when no more than 3 others are',
    ],
    [
      'where none may be',
      nodes(1),
      { max: 0 },
      '0 of 2 nodes are unhealthy (0 of them silent) beside this one, which is well and would be one more, 0 may be (max=0); ends when more may be',
    ],
  ])('counts a well node that somebody asks for as one that would be unhealthy: %s', (_what, others, settings, message) => {
    expect(holdOf(policy(settings), view([...others, asked('asked')]), 'asked')?.message).toBe(message);
  });

  it('of two nodes fences the one that failed, though somebody asks for the other one', () => {
    const both = [node('failed', { health: 'failed' }), asked('asked')];
    expect(heldBy(policy(), view(both))).toEqual(['asked']);
    expect(heldBy(policy({ max: 1 }), view(both))).toEqual(['asked']);
  });

  it('counts no well node for itself whose fence is over, or which nobody asks for', () => {
    const over = node('over', { fence: fence({ isRequested: true, state: 'final' }) });
    const fencedAnyway = node('back', { fence: fence() });
    expect(heldBy(policy({ max: 1 }), view([...nodes(2, 1), over, fencedAnyway]))).toEqual([]);
  });

  it('names the rule for a small scope', () => {
    expect(holdOf(policy(), view(nodes(3, 2)))?.message).toContain('1 may be (the rule for 3 in scope)');
  });

  it('never lets go because more nodes fail', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(30), fc.integer({ min: 0, max: 100 }), (total, failed, percentage) => {
        const before = heldBy(policy({ percentage }), view(nodes(total, Math.min(failed, total))));
        const after = heldBy(policy({ percentage }), view(nodes(total, Math.min(failed + 1, total))));
        expect(after.length).toBeGreaterThanOrEqual(before.length);
      }),
    );
  });
});
