import { describe, expect, it } from 'vitest';
import { playConditions } from './testing/condition-story.ts';
import type { Seen } from './testing/condition-story.ts';
import { aThreshold } from './testing/thresholds.ts';

describe('a condition that is old by the wall clock', () => {
  it.each<[string, [number, Seen][], string[]]>([
    [
      'whose heartbeat is renewed before our eyes stands, however far its clock is behind ours',
      [
        [0, { status: 'True', heartbeatS: -90_000 }],
        [300, { status: 'True', heartbeatS: -89_700 }],
        [310, { status: 'True', heartbeatS: -89_700 }],
        [901, { status: 'True', heartbeatS: -89_700 }],
      ],
      ['absent', 'pending', 'standing', 'unsure'],
    ],
    [
      'whose heartbeat was renewed behind a break of the watch is old by the wall clock still',
      [
        [0, { status: 'True', heartbeatS: -90_000 }],
        [300, { status: 'True', heartbeatS: -89_700, freshS: 299 }],
        [400, { status: 'True', heartbeatS: -89_600, freshS: 299 }],
      ],
      ['absent', 'absent', 'pending'],
    ],
    [
      'whose heartbeat was not looked at for twice its period may have been renewed long ago',
      [
        [0, { status: 'True', heartbeatS: -90_000 }],
        [601, { status: 'True', heartbeatS: -89_700 }],
      ],
      ['absent', 'absent'],
    ],
    [
      'whose heartbeat goes back is not renewed by that',
      [
        [0, { status: 'True', heartbeatS: -90_000 }],
        [20, { status: 'True', heartbeatS: -90_001 }],
      ],
      ['absent', 'absent'],
    ],
  ])('%s', (_name, story, phases) => {
    expect(playConditions(aThreshold(), story).phases).toEqual(phases);
  });
});
