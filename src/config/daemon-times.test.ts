import { describe, expect, it } from 'vitest';
import { DEFAULT_DAEMON_TIMING } from '../domain/timing-daemon.ts';
import { DAEMON_DURATION_KEYS, readDaemonTimes } from './daemon-times.ts';
import { DORMANT_KEYS } from './dormant-keys.ts';

function read(written: Record<string, string>, evidence: Parameters<typeof readDaemonTimes>[1] = []): ReturnType<typeof readDaemonTimes> {
  return readDaemonTimes((key) => {
    const value = written[key];
    return value === undefined ? undefined : { key, value, where: 'here' };
  }, evidence);
}

describe('times of the node daemon', () => {
  it('have their defaults where nothing is written, or nothing that can be read', () => {
    expect(read({ watchdog_timeout: 'soon' }).timing).toEqual(DEFAULT_DAEMON_TIMING);
  });

  it('are taken from their keys, each of which is checked in form', () => {
    for (const [key, field] of Object.entries(DAEMON_DURATION_KEYS)) {
      expect(read({ [key]: '7s' }).timing[field], key).toBe(7_000);
      expect(DORMANT_KEYS[key]?.kind, key).toBe('duration');
    }
  });

  it('matter for what rests on them', () => {
    expect(read({ kdump_enabled: 'yes', fast_detection: 'no' }, ['watchdog']).use).toEqual({
      admitsWatchdog: true,
      waitsForKdump: true,
      fastDetection: false,
    });
    expect(read({ fast_detection: 'true' }, ['kdump']).use).toEqual({ admitsWatchdog: false, waitsForKdump: true, fastDetection: true });
  });
});
