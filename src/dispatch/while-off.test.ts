import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { failure, Harness, methodOf } from './testing/harness.ts';

const RUN = methodOf('nova', 'action', { action: 'run', whileOff: true });
const OFFS = [methodOf('a', 'power', { action: 'off' }), methodOf('b', 'power', { action: 'off' })];

function harness(states: readonly ['on' | 'off' | 'pending' | 'unknown', 'on' | 'off' | 'pending' | 'unknown']): {
  made: Harness;
  runs: () => number;
} {
  const made = new Harness(new ManualClock());
  for (const [index, device] of ['a', 'b'].entries()) made.plug(device).state = states[index] ?? 'unknown';
  let runs = 0;
  made.action = {
    kind: 'action',
    run: () => {
      runs += 1;
      return Promise.resolve({ result: 'accepted', detail: 'done' });
    },
    confirm: () => Promise.resolve(true),
  };
  return { made, runs: () => runs };
}

describe('a run that is right only while the machine is off', () => {
  it('follows a read of every plug', async () => {
    const { made, runs } = harness(['off', 'off']);
    expect(await made.run(made.job(RUN, 'run', { together: OFFS }))).toMatchObject({ result: 'succeeded', message: 'done' });
    expect([made.calls(/^read/).length, runs()]).toEqual([2, 1]);
  });

  it.each(['on', 'pending', 'unknown'] as const)('is not begun where one of them reads %s', async (state) => {
    const { made, runs } = harness(['off', state]);
    const report = await made.run(made.job(RUN, 'run', { together: OFFS }));
    expect(report).toMatchObject({
      result: 'refused',
      message: expect.stringMatching(/^the machine is not off any more: .*nothing was sent$/u) as string,
    });
    expect(runs()).toBe(0);
  });

  it('is not begun where one of them does not answer, or shows another machine', async () => {
    const mute = harness(['off', 'off']);
    mute.made.plug('b').onRead = () => Promise.reject(failure('Unreachable', 'no route'));
    expect((await mute.made.run(mute.made.job(RUN, 'run', { together: OFFS }))).result).toBe('unreachable');
    const foreign = harness(['off', 'off']);
    foreign.made.plug('b').identity = 'unverified';
    expect((await foreign.made.run(foreign.made.job(RUN, 'run', { together: OFFS }))).result).toBe('misconfigured');
    expect([mute.runs(), foreign.runs()]).toEqual([0, 0]);
  });
});
