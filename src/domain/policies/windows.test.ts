import { describe, expect, it } from 'vitest';
import { parseCron } from './cron.ts';
import { holdOf, nodes, NOW_MS, SATURDAY_NOON_MS, view } from './testing/views.ts';
import { UTC, windows } from './windows.ts';
import type { Window, WindowsSettings } from './windows.ts';

const HOUR_MS = 3_600_000;

/** `0 22 * * * for 8`: hours. */
function window(text: string): Window {
  const [cron = '', hours = ''] = text.split(' for ');
  return { cron: parseCron(cron)!, durationMs: Number(hours) * HOUR_MS, text };
}

function ask(
  settings: { allow?: string[]; deny?: string[] } & Partial<Pick<WindowsSettings, 'offsetMs' | 'unreadable'>>,
  wallMs = SATURDAY_NOON_MS,
): ReturnType<typeof holdOf> {
  const { allow = [], deny = [], ...more } = settings;
  const policy = windows({ name: 'windows', allow: allow.map(window), deny: deny.map(window), offsetMs: UTC, ...more });
  return holdOf(policy, view(nodes(1), { wallMs }));
}

describe('windows, on a Saturday at noon', () => {
  it.each<[what: string, settings: Parameters<typeof ask>[0], reason: string | undefined, hours?: number]>([
    ['none', {}, undefined],
    ['a forbidden day', { deny: ['0 0 * * sat for 24'] }, 'denied-window', 12],
    ['another forbidden day', { deny: ['0 0 * * sun for 24'] }, undefined],
    ['a forbidden night that is over', { deny: ['0 22 * * * for 8'] }, undefined],
    ['forbidden since yesterday', { deny: ['0 22 * * fri for 15'] }, 'denied-window', 1],
    ['forbidden until just now', { deny: ['0 22 * * fri for 14'] }, undefined],
    ['of two that are open the one that lasts', { deny: ['0 11 * * * for 2', '0 10 * * * for 5'] }, 'denied-window', 3],
    ['the same in the other order', { deny: ['0 10 * * * for 5', '0 11 * * * for 2'] }, 'denied-window', 3],
    ['an allowed hour', { allow: ['0 12 * * * for 1'] }, undefined],
    ['the end of an allowed hour', { allow: ['0 11 * * * for 1'] }, 'outside-window', 23],
    ['the nearest of two to come', { allow: ['0 20 * * * for 1', '0 14 * * * for 1'] }, 'outside-window', 2],
    ['allowed and forbidden', { allow: ['0 12 * * * for 2'], deny: ['0 12 * * * for 1'] }, 'denied-window', 1],
    ['a day that never comes', { allow: ['0 0 30 2 * for 1'] }, 'outside-window'],
    ['a clock ahead of UTC', { allow: ['0 12 * * * for 1'], offsetMs: () => 2 * HOUR_MS }, 'outside-window', 22],
    ['a clock behind UTC', { deny: ['0 7 * * * for 1'], offsetMs: () => -5 * HOUR_MS }, 'denied-window', 1],
    ['what nobody can read', { unreadable: 'deny=never is no window' }, 'windows-unreadable'],
  ])('%s', (_what, settings, reason, hours) => {
    const found = ask(settings);
    expect(found?.reason).toBe(reason);
    expect(found?.untilMs).toBe(hours === undefined ? undefined : NOW_MS + hours * HOUR_MS);
  });

  it('lets go exactly when it said it would', () => {
    const settings = { deny: ['0 12 * * * for 1'] };
    expect(ask(settings, SATURDAY_NOON_MS - 1)).toBeUndefined();
    expect(ask(settings, SATURDAY_NOON_MS + HOUR_MS - 1)).toBeDefined();
    expect(ask(settings, SATURDAY_NOON_MS + HOUR_MS)).toBeUndefined();
  });

  it('stays open where clocks are set back meanwhile to before it opened', () => {
    // In Berlin 3:00 becomes 2:00 at 1:00 UTC.
    const backAtMs = Date.UTC(2026, 9, 25, 1);
    const offsetMs = (wallMs: number): number => (wallMs < backAtMs ? 2 : 1) * HOUR_MS;
    const openAt = (minutes: number): boolean => ask({ deny: ['30 2 * * * for 1'], offsetMs }, backAtMs + minutes * 60_000) !== undefined;
    // In New York 2:00 becomes 1:00 at 6:00 UTC: it stays open for as long as clocks say so.
    const there = { deny: ['30 0 * * * for 1'], offsetMs: (wallMs: number): number => (wallMs < backAtMs + 5 * HOUR_MS ? -4 : -5) * HOUR_MS };
    const isOpenThere = (minutes: number): boolean => ask(there, backAtMs + 5 * HOUR_MS + minutes * 60_000) !== undefined;
    expect([-91, -90, -31, -30, -1, 0, 29, 30].map(isOpenThere)).toEqual([false, true, true, false, false, true, true, false]);
    // One that opens after that does so by the clocks of then: at midnight, not an hour before.
    const isMonday = (minutes: number): boolean =>
      ask({ deny: ['0 0 * * mon for 24'], offsetMs }, backAtMs + 22 * HOUR_MS + minutes * 60_000) !== undefined;
    expect([-60, -1, 0].map(isMonday)).toEqual([false, false, true]);
    expect([-31, -30, -1, 0, 10, 29, 30, 89, 90].map(openAt)).toEqual([false, true, true, true, true, true, true, true, false]);
  });

  it('says when the next one opens by the clocks of then', () => {
    const backAtMs = Date.UTC(2026, 9, 25, 1);
    const offsetMs = (wallMs: number): number => (wallMs < backAtMs ? 2 : 1) * HOUR_MS;
    // 20:00 of Saturday in summer; at 6:00 of Sunday it is winter, eleven hours later.
    expect(ask({ allow: ['0 6 * * * for 1'], offsetMs }, Date.UTC(2026, 9, 24, 18))?.untilMs).toBe(NOW_MS + 11 * HOUR_MS);
    expect(ask({ allow: ['0 6 * * * for 1'], offsetMs }, Date.UTC(2026, 9, 25, 18))?.untilMs).toBe(NOW_MS + 11 * HOUR_MS);
  });

  it('says when one ends by the clocks of then', () => {
    const forthAtMs = Date.UTC(2026, 2, 29, 1);
    const offsetMs = (wallMs: number): number => (wallMs < forthAtMs ? 1 : 2) * HOUR_MS;
    // 23:00 of Saturday in winter; at 6:00 of Sunday it is summer, six hours later.
    expect(ask({ deny: ['0 22 * * * for 8'], offsetMs }, Date.UTC(2026, 2, 28, 22))?.untilMs).toBe(NOW_MS + 6 * HOUR_MS);
    expect(ask({ deny: ['0 22 * * * for 8'], offsetMs }, Date.UTC(2026, 2, 29, 4) - 1)).toBeDefined();
    expect(ask({ deny: ['0 22 * * * for 8'], offsetMs }, Date.UTC(2026, 2, 29, 4))).toBeUndefined();
  });

  it('says which window, and when', () => {
    const denied = { message: 'window deny=0 0 * * sat for 24 is open', untilMs: NOW_MS + 12 * HOUR_MS };
    expect(ask({ deny: ['0 0 * * sat for 24'] })).toMatchObject(denied);
    const closed = { message: 'no window allow=0 11 * * * for 1 is open', untilMs: NOW_MS + 23 * HOUR_MS };
    expect(ask({ allow: ['0 11 * * * for 1'] })).toMatchObject(closed);
  });
});
