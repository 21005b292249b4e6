import { describe, expect, it } from 'vitest';
import { startupGrace } from './startup-grace.ts';
import { fence, holdOf, node, NOW_MS, view } from './testing/views.ts';
import type { StormFence } from './view.ts';

const policy = startupGrace({ name: 'startup-grace', durationMs: 300_000 });

function ask(members: { ageMs: number; tookOver?: boolean; fence?: StormFence }): ReturnType<typeof holdOf> {
  const usual = view([node('n0', { health: 'failed', fence: members.fence })]);
  return holdOf(policy, { ...usual, controller: { ...usual.controller, startedAtMs: NOW_MS - members.ageMs, tookOver: members.tookOver ?? false } });
}

describe('startup-grace', () => {
  it.each<[what: string, asked: Parameters<typeof ask>[0], untilMs: number | undefined]>([
    ['just started', { ageMs: 0 }, NOW_MS + 300_000],
    ['a breath before its end', { ageMs: 299_999 }, NOW_MS + 1],
    ['over', { ageMs: 300_000 }, undefined],
    ['a take-over is not a start', { ageMs: 0, tookOver: true }, undefined],
    ['a new fence', { ageMs: 1000, fence: fence() }, NOW_MS + 299_000],
    ['a fence that was over and begins again', { ageMs: 1000, fence: fence({ state: 'final' }) }, NOW_MS + 299_000],
    ['a fence that had begun goes on', { ageMs: 1000, fence: fence({ state: 'running' }) }, undefined],
    ['a new one that holds a slot goes on', { ageMs: 1000, fence: fence({ holdsSlot: true }) }, undefined],
    ['one that had failed is none of the new', { ageMs: 1000, fence: fence({ state: 'error' }) }, undefined],
    ['one that a person asked for', { ageMs: 1000, fence: fence({ isRequested: true }) }, undefined],
  ])('%s', (_what, asked, untilMs) => {
    expect(ask(asked)?.untilMs).toBe(untilMs);
  });

  it('says when it ends', () => {
    expect(ask({ ageMs: 60_000 })).toEqual({
      reason: 'startup-grace',
      message: 'this controller has just started, and nobody led before it: no new fence for 5 min',
      untilMs: NOW_MS + 240_000,
    });
  });
});
