import { describe, expect, it } from 'vitest';
import { DEFAULT_DAEMON_TIMING } from '../domain/timing-daemon.ts';
import { DAEMON_TIME_KEYS } from '../domain/node-daemon/times.ts';
import { DAEMON_DURATION_KEYS, readDaemonTimes, timesOfCluster } from './daemon-times.ts';
import { DORMANT_KEYS } from './dormant-keys.ts';
import { OTHER_KEYS } from './node-keys.ts';

type Evidence = Parameters<typeof readDaemonTimes>[2];

function read(written: Record<string, string>, evidence: Evidence = [], ofCluster = written): ReturnType<typeof readDaemonTimes> {
  const finding = (texts: Record<string, string>) => (key: string) => {
    const value = texts[key];
    return value === undefined ? undefined : { key, value, where: 'here' };
  };
  return readDaemonTimes(finding(written), finding(ofCluster), evidence);
}

describe('times of the node daemon', () => {
  it('have their defaults where nothing is written, or nothing that can be read', () => {
    expect(read({ watchdog_timeout: 'soon', kdump_max_duration: 'later' }).timing).toEqual(DEFAULT_DAEMON_TIMING);
  });

  it('are taken from their keys, each of which is checked in form', () => {
    for (const [key, field] of Object.entries(DAEMON_DURATION_KEYS)) {
      expect(read({ [key]: '7s' }).timing[field], key).toBe(7_000);
      expect(OTHER_KEYS.includes(key) || DORMANT_KEYS[key]?.kind === 'duration', key).toBe(true);
    }
    for (const [key, { field }] of Object.entries(DAEMON_TIME_KEYS)) expect(read({ [key]: '35s' }).timing[field], key).toBe(35_000);
    expect(Object.keys({ ...DAEMON_DURATION_KEYS, ...DAEMON_TIME_KEYS })).toHaveLength(13);
  });

  it('of all daemons stand in the cluster’s ConfigMap only', () => {
    expect(read({ isolation_timeout: '50s' }, [], {}).timing.isolationTimeoutMs).toBe(40_000);
    expect(timesOfCluster('isolation_timeout = 50s # two switches\n')).toEqual({ isolationTimeoutMs: 50_000 });
  });

  it('feed a watchdog three times as often as it waits, unless somebody says otherwise', () => {
    expect(read({ watchdog_timeout: '6s' }).timing).toMatchObject({ watchdogMs: 6_000, feedIntervalMs: 2_000 });
    expect(read({ watchdog_timeout: '60s' }).timing).toMatchObject({ feedIntervalMs: 3_000 });
    expect(read({ watchdog_timeout: '6s', feed_interval: '4s' }).timing).toMatchObject({ feedIntervalMs: 4_000 });
  });

  it('matter for what rests on them', () => {
    expect(read({ kdump_enabled: 'yes', fast_detection: 'no' }, ['watchdog']).use).toEqual({
      admitsWatchdog: true,
      waitsForKdump: true,
      fastDetection: false,
    });
    expect(read({ profile: 'fast' }).use.fastDetection).toBe(true);
    expect(read({ profile: 'fast', fast_detection: 'no' }).use.fastDetection).toBe(false);
    expect(read({ fast_detection: 'true' }, ['kdump']).use).toEqual({ admitsWatchdog: false, waitsForKdump: true, fastDetection: true });
  });
});
