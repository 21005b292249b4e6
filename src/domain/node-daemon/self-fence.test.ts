import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DEFAULT_DAEMON_TIMING } from '../timing-daemon.ts';
import { decideSelfFence } from './self-fence.ts';
import type { SelfFenceInputs } from './self-fence.ts';

const TIMES = { isolationTimeoutMs: 40_000, podStopMaxMs: 30_000 };
const decide = (inputs: Partial<SelfFenceInputs>): ReturnType<typeof decideSelfFence> =>
  decideSelfFence({ nowMs: 0, isWorkloadStopped: false, ...inputs }, TIMES);

describe('decideSelfFence', () => {
  it.each<[string, Partial<SelfFenceInputs>, ReturnType<typeof decideSelfFence>]>([
    ['nobody kept it up yet', { nowMs: 900_000 }, { phase: 'waiting', feedUntilMs: -Infinity }],
    ['a grant holds', { nowMs: 99, keptUntilMs: 100 }, { phase: 'kept', feedUntilMs: 70_100, nextMs: 100 }],
    ['it ended', { nowMs: 100, keptUntilMs: 100 }, { phase: 'isolated', feedUntilMs: 70_100, nextMs: 40_100 }],
    ['it ended 40 s ago', { nowMs: 40_100, keptUntilMs: 100 }, { phase: 'stopping', feedUntilMs: 70_100, nextMs: 70_100, cause: 'cut off' }],
    [
      'nobody looked for 69 s: what is left is for the pods',
      { nowMs: 69_100, keptUntilMs: 100 },
      { phase: 'stopping', feedUntilMs: 70_100, nextMs: 70_100, cause: 'cut off' },
    ],
    ['nobody looked for 70 s', { nowMs: 70_100, keptUntilMs: 100 }, { phase: 'down', feedUntilMs: -Infinity, cause: 'cut off' }],
    [
      'pods are being stopped',
      { nowMs: 60_000, keptUntilMs: 100, stoppingSinceMs: 40_100 },
      { phase: 'stopping', feedUntilMs: 70_100, nextMs: 70_100, cause: 'cut off' },
    ],
    [
      'pods are stopped',
      { nowMs: 60_000, keptUntilMs: 100, stoppingSinceMs: 40_100, isWorkloadStopped: true },
      { phase: 'down', feedUntilMs: -Infinity, cause: 'cut off' },
    ],
    [
      'a grant comes back too late: no way leads back',
      { nowMs: 60_000, keptUntilMs: 64_000, stoppingSinceMs: 40_100 },
      { phase: 'stopping', feedUntilMs: 70_100, nextMs: 70_100, cause: 'cut off' },
    ],
    [
      'stopping began late, and ends as if it had not',
      { nowMs: 69_500, keptUntilMs: 100, stoppingSinceMs: 69_000 },
      { phase: 'stopping', feedUntilMs: 70_100, nextMs: 70_100, cause: 'cut off' },
    ],
    [
      'the storage is lost while a grant holds',
      { nowMs: 50, keptUntilMs: 100, storageLostAtMs: 40 },
      { phase: 'stopping', feedUntilMs: 30_050, nextMs: 30_050, cause: 'storage lost' },
    ],
    [
      'it slept, which it cannot',
      { nowMs: 50, keptUntilMs: 100, hasSleptUnexpectedly: true },
      { phase: 'down', feedUntilMs: -Infinity, cause: 'slept' },
    ],
    [
      'the daemon was started anew while pods were stopped',
      { nowMs: 50_000, stoppingSinceMs: 45_000 },
      { phase: 'stopping', feedUntilMs: 75_000, nextMs: 75_000, cause: 'cut off' },
    ],
  ])('%s', (_, inputs, expected) => {
    expect(decide(inputs)).toEqual(expected);
  });

  it('is never fed later than the controller counts with, whenever anybody looks', () => {
    const time = fc.integer({ min: 0, max: 200_000 });
    fc.assert(
      fc.property(time, time, fc.option(time, { nil: undefined }), fc.boolean(), (nowMs, keptUntilMs, stoppingSinceMs, isWorkloadStopped) => {
        const inputs = { nowMs, keptUntilMs, isWorkloadStopped, ...(stoppingSinceMs === undefined ? {} : { stoppingSinceMs }) };
        const { feedUntilMs, phase } = decide(inputs);
        expect(feedUntilMs).toBeLessThanOrEqual(keptUntilMs + DEFAULT_DAEMON_TIMING.isolationTimeoutMs + DEFAULT_DAEMON_TIMING.podStopMaxMs);
        expect(phase === 'down' || nowMs < keptUntilMs + 70_000).toBe(true);
      }),
    );
  });
});
