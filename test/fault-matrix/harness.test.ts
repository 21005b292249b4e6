import { describe, expect, it, vi } from 'vitest';
import { PACE } from './case.ts';
import type { Pace } from './case.ts';
import { examine, examineAborted, examineWithoutLease } from './harness.ts';
import { ACTIONS, BEHAVIOURS } from './fault-profile.ts';
import type { Action, Behaviour } from './fault-profile.ts';
import { HASTE, toys } from './toy-device.ts';
import type { Defect } from './toy-device.ts';

const QUICK: Pace = {
  setDeadlineMs: PACE.setDeadlineMs / HASTE,
  slowSetDeadlineMs: PACE.slowSetDeadlineMs / HASTE,
  powerTimeoutMs: PACE.powerTimeoutMs / HASTE,
  slowPowerTimeoutMs: PACE.slowPowerTimeoutMs / HASTE,
  offStableMs: PACE.offStableMs / HASTE,
  watchMs: PACE.watchMs / HASTE,
  goneMs: PACE.goneMs / HASTE,
};

vi.setConfig({ maxConcurrency: 16, testTimeout: 90_000 });

describe.concurrent('the harness of the fault matrix', () => {
  it.each(BEHAVIOURS.filter((behaviour) => toys().cannot[behaviour] === undefined))(
    'has nothing against a good agent of a device that is %s',
    async (behaviour) => {
      for (const action of ACTIONS) expect(await examine(toys(), behaviour, action, QUICK), action).toEqual([]);
    },
  );

  it('has nothing against a good agent without a lease, or told to stop', async () => {
    expect(await examineWithoutLease(toys(), QUICK)).toEqual([]);
    expect(await examineAborted(toys(), QUICK)).toEqual([]);
  });

  it.each<[Defect, Behaviour, Action, RegExp]>([
    ['believes-the-answer', 'accepts-and-lies', 'off', /FALSE SUCCESS: off is reported/u],
    ['believes-the-answer', 'accepts-and-lies', 'on', /false success: on is reported/u],
    ['believes-the-answer', 'one-plug-stuck', 'off', /FALSE SUCCESS/u],
    ['believes-the-answer', 'flips-back-on', 'off', /FALSE SUCCESS/u],
    ['guesses-off', 'state-null', 'off', /the device was told: off/u],
    ['guesses-off', 'garbage', 'status', /FALSE SUCCESS: plug "" reads off/u],
    ['guesses-off', 'state-unknown', 'status', /FALSE SUCCESS/u],
    ['guesses-on', 'truncated', 'off', /nothing could be believed, and the device was told: off/u],
    ['guesses-on', 'wrong-machine', 'off', /nothing could be believed/u],
    ['guesses-on', 'state-pending', 'status', /a pending state reads on/u],
    ['leaves-a-session', 'honest', 'status', /1 sessions left open after close/u],
    ['tells-the-password', 'unreachable', 'status', /holds the value of password/u],
    ['sends-twice', 'honest', 'off', /1 set\(s\) were permitted, and the device was told: off, off/u],
    ['resets', 'honest', 'reboot', /never one command/u],
    ['ignores-refusal', 'refuses', 'off', /does not speak in the device's words/u],
  ])('notices an agent that %s (%s, %s)', async (defect, behaviour, action, words) => {
    expect((await examine(toys(defect), behaviour, action, QUICK)).join('\n')).toMatch(words);
  });
});
