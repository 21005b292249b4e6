import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import type { Outcome, Target } from '../ports/agents.ts';
import { failure, Harness, methodOf } from './testing/harness.ts';

const SECRET = 'bmc-login';
const BMC = methodOf('bmc', 'power', { secret: SECRET });
const SWITCH = methodOf('switch', 'fabric');
const CORDON = methodOf('cordon', 'action', { action: 'run', secret: SECRET });

const OF_THE_CALL: ReadonlySet<string> = new Set(['signal', 'beforeSend', 'deadlineMs']);

/** What an agent gets of a job, and not of the call. */
function facts(target: Target): Record<string, unknown> {
  return Object.fromEntries(Object.entries(target).filter(([name]) => !OF_THE_CALL.has(name)));
}

describe('an agent that switches', () => {
  it('is told whose machine it is, by whose order and with which Secret', async () => {
    const harness = new Harness(new ManualClock());
    const seen: Record<string, unknown>[] = [];
    const plug = harness.plug('bmc');
    plug.onRead = (target) => {
      seen.push(facts(target));
      return Promise.resolve(plug.reading());
    };
    await harness.run(harness.job(BMC, 'off', { incident: 'fence-1/3', parametersOf: () => Promise.resolve({ ip: '192.0.2.1' }) }));
    expect(seen[0]).toEqual({
      plug: '',
      device: 'bmc',
      parameters: { ip: '192.0.2.1' },
      identity: { node: 'a', systemUUID: 'sys-a' },
      intent: 'bmc-1',
      incident: 'fence-1/3',
      secret: SECRET,
    });
    await harness.run(harness.job(methodOf('bmc', 'power'), 'off'));
    expect(Object.keys(seen.at(-1) ?? {}).sort()).toEqual(['device', 'identity', 'intent', 'parameters', 'plug']);
  });

  it.each([
    ['a run that is recovered', { action: 'off' }, 'recover', true],
    ['a proof that is read anew', { action: 'confirm', operation: 'off:bmc' }, 'run', true],
    ['an on that is read anew', { action: 'confirm', operation: 'on:bmc' }, 'run', undefined],
    ['an on that is recovered', { action: 'on' }, 'recover', undefined],
    ['an off', { action: 'off' }, 'run', undefined],
  ] as const)('is told of %s whether it is to be what an off of ours has done', async (_which, entry, how, isAfterOff) => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    const seen: (true | undefined)[] = [];
    plug.onRead = (target) => {
      seen.push(target.isAfterOff);
      return Promise.resolve(plug.reading());
    };
    const job = harness.job(BMC, 'off');
    const changed = { ...job, entry: { ...job.entry, ...entry } };
    await harness[how](changed);
    expect(seen[0]).toBe(isAfterOff);
  });

  it.each([
    ['off', 'set closed switch', 'closed'],
    ['on', 'set open switch', 'open'],
  ] as const)('that is told %s and has ports: %s', async (action, call, edge) => {
    const harness = new Harness(new ManualClock());
    harness.plug('switch').state = action === 'off' ? 'on' : 'off';
    const report = await harness.run(harness.job(SWITCH, action, { identityRequired: false }));
    expect(harness.calls(/^set/).map((line) => line.call)).toEqual([call]);
    expect(report).toMatchObject({ result: 'succeeded', edge });
  });

  it('has its words to a request told where nothing comes of it', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').onSet = () => Promise.resolve({ result: 'accepted', detail: '202 Accepted, task 7' });
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'timeout', message: expect.stringContaining('it answered 202 Accepted, task 7') as string });
  });

  it('is asked for no longer than the budget of several plugs has left', async () => {
    const harness = new Harness(new ManualClock());
    const deadlines: number[] = [];
    const plug = harness.plug('bmc');
    plug.onRead = ({ deadlineMs }) => {
      deadlines.push(deadlineMs);
      return Promise.resolve(plug.reading());
    };
    plug.onSet = () => Promise.resolve({ result: 'accepted', detail: '204' });
    const beganAtMs = harness.clock.monotonicMs();
    await harness.run(harness.job(BMC, 'off', { untilMs: beganAtMs + 4_000 }));
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThanOrEqual(4_000);
    expect(deadlines.every((deadlineMs, index) => index === 0 || deadlineMs <= (deadlines[index - 1] ?? 0))).toBe(true);
    expect(deadlines[0]).toBeLessThanOrEqual(4_000);
    expect(deadlines.at(-1), 'no pass is begun that has no time left').toBeGreaterThan(0);
  });
});

describe('a set is known to have ended', () => {
  const accepted: Outcome = { result: 'accepted', detail: '204' };
  const unclear: Outcome = { result: 'unclear', detail: '500' };

  it.each([
    ['where the device accepted it', accepted, [[true, undefined]]],
    ['where nothing was sent at all', { ...unclear, isSent: false }, [[true, false]]],
    ['and not where its answer says nothing', unclear, [[false, undefined]]],
    ['and not where it is unclear though it was sent', { ...unclear, isSent: true }, [[false, true]]],
  ] as const)('%s', async (_words, outcome, told) => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onSet = () => {
      plug.state = 'off';
      return Promise.resolve(outcome);
    };
    const answered: unknown[] = [];
    await harness.run(harness.job(BMC, 'off', { onAnswered: (isCertain, isSent) => answered.push([isCertain, isSent]) }));
    expect(answered).toEqual(told);
  });

  it('and not at all where no answer came', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('bmc').onSet = () => Promise.reject(failure('Unreachable', 'connection reset'));
    const answered: unknown[] = [];
    await harness.run(harness.job(BMC, 'off', { onAnswered: (isCertain) => answered.push(isCertain) }));
    expect(answered).not.toContain(true);
  });
});

describe('an agent that acts', () => {
  it('is told of which boot, by whose order, with which Secret and what was read of the Node', async () => {
    const harness = new Harness(new ManualClock());
    const seen: Record<string, unknown>[] = [];
    harness.action.run = (target) => {
      seen.push(facts(target));
      return Promise.resolve({ result: 'accepted', detail: 'cordoned' });
    };
    const job = harness.job(CORDON, 'run', { incident: 'fence-1/3' });
    const standing = Promise.resolve(undefined);
    await harness.run({ ...job, standing, entry: { ...job.entry, bootID: 'boot-1' } });
    expect(seen[0]).toEqual({
      plug: '',
      device: 'cordon',
      parameters: {},
      identity: { node: 'a', systemUUID: 'sys-a' },
      intent: 'cordon-1',
      incident: 'fence-1/3',
      bootID: 'boot-1',
      secret: SECRET,
      standing,
    });
    await harness.run(harness.job(methodOf('cordon', 'action', { action: 'run' }), 'run'));
    expect(Object.keys(seen[1] ?? {}).sort()).toEqual(['device', 'identity', 'intent', 'parameters', 'plug']);
  });

  it('sends within its deadline, and nothing afterwards', async () => {
    const harness = new Harness(new ManualClock());
    const sent: string[] = [];
    harness.action.run = async (target) => {
      target.beforeSend();
      sent.push('at once');
      await harness.clock.sleep(60_000);
      target.beforeSend();
      sent.push('late');
      return { result: 'accepted', detail: 'done' };
    };
    const report = await harness.run(harness.job({ ...CORDON, runMaxMs: 120_000 }, 'run'));
    expect(sent).toEqual(['at once']);
    expect(report).toMatchObject({ result: 'not-sent', message: expect.stringContaining('its deadline was over') as string });
  });
});
