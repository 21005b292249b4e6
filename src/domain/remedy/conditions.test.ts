import { describe, expect, it } from 'vitest';
import { LATCHED_CLEAR_MAX_MS } from './conditions.ts';
import type { Threshold } from './configuration.ts';
import { playConditions } from './testing/condition-story.ts';
import type { Seen } from './testing/condition-story.ts';
import { aThreshold } from './testing/thresholds.ts';

const PLAIN = aThreshold();
const LATCHED = aThreshold({ isLatched: true });
const READY = aThreshold({ id: 'Ready=False', conditionType: 'Ready', trigger: { kind: 'status', statuses: ['False', 'Unknown'] } });
const DISK = aThreshold({ id: 'DiskPressure=True', conditionType: 'DiskPressure' });
const UNKNOWN = aThreshold({ id: 'KernelDeadlock=Unknown', trigger: { kind: 'status', statuses: ['Unknown'] } });
const FLAP = aThreshold({ id: 'KernelDeadlock~flap', trigger: { kind: 'flap', changes: 3, windowMs: 60_000 }, periodMs: 0, clearPeriodMs: 60_000 });

describe('a condition', () => {
  it.each<[string, Threshold, [number, Seen][], string[]]>([
    [
      'stands when it has matched for its period',
      PLAIN,
      [
        [0, 'True'],
        [9, 'True'],
        [10, 'True'],
      ],
      ['pending', 'pending', 'standing'],
    ],
    [
      'counts anew after any break',
      PLAIN,
      [
        [0, 'True'],
        [9, 'False'],
        [10, 'True'],
        [19, 'True'],
        [20, 'True'],
      ],
      ['pending', 'absent', 'pending', 'pending', 'standing'],
    ],
    [
      'is over only when it was clear for the same period',
      PLAIN,
      [
        [0, 'True'],
        [10, 'True'],
        [11, 'False'],
        [20, 'False'],
        [21, 'False'],
      ],
      ['pending', 'standing', 'clearing', 'clearing', 'absent'],
    ],
    [
      'that comes back while it clears must match for its period again',
      PLAIN,
      [
        [0, 'True'],
        [10, 'True'],
        [11, 'False'],
        [15, 'True'],
        [25, 'True'],
      ],
      ['pending', 'standing', 'clearing', 'pending', 'standing'],
    ],
    [
      'that comes back while it clears begins to clear anew',
      PLAIN,
      [
        [0, 'True'],
        [10, 'True'],
        [11, 'False'],
        [20, 'True'],
        [21, 'False'],
        [30, 'False'],
        [31, 'False'],
      ],
      ['pending', 'standing', 'clearing', 'pending', 'clearing', 'clearing', 'absent'],
    ],
    [
      'that is Unknown neither stands nor is over',
      PLAIN,
      [
        [0, 'True'],
        [10, 'True'],
        [11, 'Unknown'],
        [60, 'Unknown'],
        [61, 'True'],
      ],
      ['pending', 'standing', 'unsure', 'unsure', 'pending'],
    ],
    [
      'that vanishes neither stands nor is over',
      PLAIN,
      [
        [0, 'True'],
        [10, 'True'],
        [11, '-'],
        [60, '-'],
      ],
      ['pending', 'standing', 'unsure', 'unsure'],
    ],
    [
      'that was not there never stood',
      PLAIN,
      [
        [0, '-'],
        [60, '-'],
      ],
      ['absent', 'absent'],
    ],
    [
      'with a status that is none says nothing',
      PLAIN,
      [
        [0, 'Maybe'],
        [60, 'Maybe'],
      ],
      ['absent', 'absent'],
    ],
    [
      'of a new boot counts anew',
      PLAIN,
      [
        [0, 'True'],
        [9, 'True'],
        [10, { status: 'True', boot: 'boot-2' }],
        [19, { status: 'True', boot: 'boot-2' }],
        [20, { status: 'True', boot: 'boot-2' }],
      ],
      ['pending', 'pending', 'pending', 'pending', 'standing'],
    ],
    [
      'that stood must stand for its period again in a new boot',
      PLAIN,
      [
        [0, 'True'],
        [10, 'True'],
        [11, { status: 'True', boot: 'boot-2' }],
        [21, { status: 'True', boot: 'boot-2' }],
      ],
      ['pending', 'standing', 'pending', 'standing'],
    ],
    [
      'whose heartbeat is of the boot before says nothing about this one',
      PLAIN,
      [
        [0, 'True'],
        [10, { status: 'True', heartbeatS: 10 }],
        [11, { status: 'True', heartbeatS: 10, boot: 'boot-2' }],
        [40, { status: 'True', heartbeatS: 10, boot: 'boot-2' }],
      ],
      ['pending', 'standing', 'unsure', 'unsure'],
    ],
    [
      'is counted from when we could hear at the earliest',
      PLAIN,
      [
        [0, 'True'],
        [10, { status: 'True', freshS: 8 }],
        [18, { status: 'True', freshS: 8 }],
      ],
      ['pending', 'pending', 'standing'],
    ],
    [
      'whose heartbeat stays the same for twice its period is Unknown',
      UNKNOWN,
      [
        [0, { status: 'True', heartbeatS: 0 }],
        [600, { status: 'True', heartbeatS: 0 }],
        [601, { status: 'True', heartbeatS: 0 }],
        [611, { status: 'True', heartbeatS: 0 }],
      ],
      ['absent', 'absent', 'pending', 'standing'],
    ],
    [
      'whose heartbeat stays the same stands no more',
      PLAIN,
      [
        [0, { status: 'True', heartbeatS: 0 }],
        [600, { status: 'True', heartbeatS: 0 }],
        [601, { status: 'True', heartbeatS: 0 }],
      ],
      ['pending', 'standing', 'unsure'],
    ],
    [
      'whose heartbeat is old only by the wall clock says nothing, not even Unknown',
      UNKNOWN,
      [
        [0, { status: 'True', heartbeatS: -601 }],
        [20, { status: 'True', heartbeatS: -601, skewS: 1 }],
      ],
      ['absent', 'absent'],
    ],
    [
      'whose heartbeat is old by the wall clock does not stand',
      PLAIN,
      [
        [0, { status: 'True', heartbeatS: -601 }],
        [20, { status: 'True', heartbeatS: -601 }],
      ],
      ['absent', 'absent'],
    ],
    [
      'without an expected heartbeat never becomes stale',
      aThreshold({ heartbeatPeriodMs: undefined! }),
      [
        [0, { status: 'True', heartbeatS: -9999 }],
        [10, { status: 'True', heartbeatS: -9999 }],
      ],
      ['pending', 'standing'],
    ],
    [
      'Ready is taken as it is posted, silent or not',
      READY,
      [
        [0, { status: 'True', isSilent: true }],
        [60, { status: 'True', isSilent: true }],
      ],
      ['absent', 'absent'],
    ],
    [
      'Ready matches False and Unknown without a break between them',
      READY,
      [
        [0, 'False'],
        [5, 'Unknown'],
        [10, 'Unknown'],
      ],
      ['pending', 'pending', 'standing'],
    ],
    [
      'of a kubelet that is silent is Unknown',
      DISK,
      [
        [0, 'True'],
        [10, 'True'],
        [11, { status: 'True', isSilent: true }],
      ],
      ['pending', 'standing', 'unsure'],
    ],
  ])('%s', (_what, threshold, story, phases) => {
    expect(playConditions(threshold, story).phases).toEqual(phases);
  });
});

describe('a latched condition', () => {
  it.each<[string, Threshold, [number, Seen][], string[]]>([
    [
      'is not over because its monitor started anew',
      LATCHED,
      [
        [0, 'True'],
        [100, 'True'],
        [101, 'False'],
        [111, 'False'],
        [201, 'False'],
        [202, 'False'],
      ],
      ['pending', 'standing', 'clearing', 'clearing', 'clearing', 'absent'],
    ],
    [
      'keeps its first observation over a monitor that started anew',
      LATCHED,
      [
        [0, 'True'],
        [5, 'False'],
        [8, 'True'],
        [10, 'True'],
      ],
      ['pending', 'absent', 'pending', 'standing'],
    ],
    [
      'does not stand while it reads clear',
      LATCHED,
      [
        [0, 'True'],
        [5, 'False'],
        [11, 'False'],
      ],
      ['pending', 'absent', 'absent'],
    ],
    [
      'is over in another boot as soon as it reads clear',
      LATCHED,
      [
        [0, 'True'],
        [100, 'True'],
        [101, { status: 'False', boot: 'boot-2' }],
      ],
      ['pending', 'standing', 'absent'],
    ],
    [
      'is not over in another boot that still reads it',
      LATCHED,
      [
        [0, 'True'],
        [100, 'True'],
        [101, { status: 'True', boot: 'boot-2' }],
      ],
      ['pending', 'standing', 'pending'],
    ],
    [
      'is over when the node itself looked',
      LATCHED,
      [
        [0, 'True'],
        [100, 'True'],
        [101, { status: 'False', isChecked: true }],
      ],
      ['pending', 'standing', 'absent'],
    ],
    [
      'is not over because the node looked, while it still reads it',
      LATCHED,
      [
        [0, 'True'],
        [100, { status: 'True', isChecked: true }],
      ],
      ['pending', 'standing'],
    ],
    [
      'must not be clear for longer than a day',
      LATCHED,
      [
        [0, 'True'],
        [200_000, 'True'],
        [200_001, 'False'],
        [200_001 + LATCHED_CLEAR_MAX_MS / 1000 - 1, 'False'],
        [200_001 + LATCHED_CLEAR_MAX_MS / 1000, 'False'],
      ],
      ['pending', 'standing', 'clearing', 'clearing', 'absent'],
    ],
  ])('%s', (_what, threshold, story, phases) => {
    expect(playConditions(threshold, story).phases).toEqual(phases);
  });
});

describe('a condition that flaps', () => {
  const flaps = (...times: number[]): [number, Seen][] => times.map((seconds, index) => [seconds, index % 2 === 0 ? 'False' : 'True']);

  it.each<[string, Threshold, [number, Seen][], string[]]>([
    ['stands at once when it has changed so often', FLAP, flaps(0, 10, 20, 30), ['absent', 'absent', 'absent', 'standing']],
    ['does not when the changes are too far apart', FLAP, flaps(0, 10, 20, 70), ['absent', 'absent', 'absent', 'absent']],
    [
      'is over when it was calm for its window again',
      FLAP,
      [...flaps(0, 10, 20, 30), [69, 'True'], [70, 'True'], [129, 'True'], [130, 'True']],
      ['absent', 'absent', 'absent', 'standing', 'standing', 'clearing', 'clearing', 'absent'],
    ],
    [
      'does not count what nobody knows',
      FLAP,
      [
        [0, 'False'],
        [1, 'Unknown'],
        [2, 'False'],
        [3, 'Unknown'],
        [4, 'False'],
      ],
      ['absent', 'absent', 'absent', 'absent', 'absent'],
    ],
    [
      'does not count what changed with the boot',
      FLAP,
      [...flaps(0, 10, 20), [30, { status: 'True', boot: 'boot-2' }]],
      ['absent', 'absent', 'absent', 'absent'],
    ],
    ['does not count monitors that start anew', { ...FLAP, isLatched: true }, flaps(0, 10, 20, 30, 40, 50, 55), Array<string>(7).fill('absent')],
  ])('%s', (_what, threshold, story, phases) => {
    expect(playConditions(threshold, story).phases).toEqual(phases);
  });

  it('is remembered in bounded space', () => {
    const story = Array.from({ length: 500 }, (_, index): [number, Seen] => [index, index % 2 === 0 ? 'False' : 'True']);
    expect(playConditions(FLAP, story).observed.standings[FLAP.id]?.changesMs).toHaveLength(3);
  });
});
