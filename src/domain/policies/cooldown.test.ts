import { describe, expect, it } from 'vitest';
import { cooldown } from './cooldown.ts';
import { fence, heldBy, holdOf, node, nodes, NOW_MS, view } from './testing/views.ts';

const policy = cooldown({ name: 'cooldown', durationMs: 120_000 });

describe('cooldown', () => {
  it.each<[what: string, endedAgoMs: number | undefined, untilMs: number | undefined]>([
    ['no storm yet', undefined, undefined],
    ['a storm ended now', 0, NOW_MS + 120_000],
    ['a breath before its end', 119_999, NOW_MS + 1],
    ['over', 120_000, undefined],
  ])('%s', (_what, endedAgoMs, untilMs) => {
    const seen = view(nodes(3), { stormEndedAtMs: endedAgoMs === undefined ? undefined : NOW_MS - endedAgoMs });
    expect(holdOf(policy, seen)?.untilMs).toBe(untilMs);
    expect(heldBy(policy, seen)).toHaveLength(untilMs === undefined ? 0 : 3);
  });

  it('lets a fence be finished that was switched off before the storm', () => {
    const off = node('off', { health: 'failed', fence: fence({ isSwitchedOff: true, state: 'running' }) });
    expect(heldBy(policy, view([off, ...nodes(1, 1)], { stormEndedAtMs: NOW_MS }))).toEqual(['n0']);
  });

  it('says when it ends', () => {
    const message = 'a storm has just ended: nothing is fenced for 120 s after it';
    expect(holdOf(policy, view(nodes(1), { stormEndedAtMs: NOW_MS - 30_000 }))).toMatchObject({ message, untilMs: NOW_MS + 90_000 });
  });
});
