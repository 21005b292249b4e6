import { describe, expect, it } from 'vitest';

import { isKdumpEnabled } from './kdump-settings.ts';
import { plan, seedWith } from './testing/plans.ts';

const DEFAULTS = { startTimeoutMs: 30_000, finishedTimeoutMs: 60_000, maxDurationMs: 1_800_000 };

describe('kdump of a node', () => {
  it.each<[properties: string, expected: ReturnType<typeof plan>['kdump']]>([
    ['', undefined],
    ['kdump_enabled=no\nkdump_max_duration=1h', undefined],
    ['kdump=yes', undefined],
    ['kdump_enabled=yes', DEFAULTS],
    ['kdump_enabled=yes\nkdump=yes', { ...DEFAULTS, isArmed: true }],
    [
      'kdump_enabled=yes\nkdump_start_timeout=10s\nkdump_finished_timeout=2m\nkdump_max_duration=1h',
      { startTimeoutMs: 10_000, finishedTimeoutMs: 120_000, maxDurationMs: 3_600_000 },
    ],
    ['kdump_enabled=yes\nkdump_finished_timeout=5s', DEFAULTS],
  ])('%j', (properties, expected) => {
    expect(plan(seedWith(properties)).kdump).toEqual(expected);
  });

  it.each<[properties: string, words: string]>([
    ['kdump_enabled=maybe', 'must be yes or no'],
    ['kdump_enabled=yes\nkdump_finished_timeout=5s', 'from 20000 ms'],
    ['kdump_enabled=yes\nkdump_start_timeout=11m', 'to 600000 ms'],
    ['kdump_enabled=yes\nkdump_max_duration=25h', 'to 86400000 ms'],
    ['kdump_enabled=yes\nkdump_max_duration=60s', 'counts from the first message and must be longer'],
  ])('%j is told', (properties, words) => {
    expect(plan(seedWith(properties)).problems.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
  });

  it('is found enabled in a text, whatever else is wrong with it', () => {
    expect(['kdump_enabled=yes', 'x\nkdump-enabled = true', '# kdump_enabled=yes', 'kdump_enabled=no', ''].map(isKdumpEnabled)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
