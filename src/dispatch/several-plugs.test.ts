import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ACCEPTED, failure, Harness, methodOf } from './testing/harness.ts';

const LEFT = methodOf('left', 'power', { device: 'pdu-1', plug: '7' });
const RIGHT = methodOf('right', 'power', { device: 'pdu-2', plug: '7' });

function harnessWith(): Harness {
  return new Harness(new ManualClock());
}

describe('a machine with several supplies', () => {
  it('gives no evidence for an off that is not the last one', async () => {
    const harness = harnessWith();
    const report = await harness.run(harness.job(LEFT, 'off', { lastOff: false }));
    expect(report).toMatchObject({ result: 'succeeded', edge: 'off' });
    expect(report.evidence).toBeUndefined();
  });

  it('reads every supply in each pass after the last off, and names all of them in the evidence', async () => {
    const harness = harnessWith();
    harness.plug('pdu-1', '7').state = 'off';
    const report = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }));
    const passes = harness.log.slice(harness.log.findIndex((line) => line.call.startsWith('set')) + 1).map((line) => line.call);
    expect(passes.length).toBeGreaterThanOrEqual(6);
    passes.forEach((call, index) => expect(call).toBe(index % 2 === 0 ? 'read pdu-1/7' : 'read pdu-2/7'));
    expect(report.evidence?.detail).toContain('left: PowerState=off');
    expect(report.evidence?.detail).toContain('right: PowerState=off');
  });

  it('gives no evidence when one supply is stuck on', async () => {
    const harness = harnessWith();
    harness.plug('pdu-1', '7').state = 'on';
    const report = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }));
    expect(report.result).toBe('timeout');
    expect(report.evidence).toBeUndefined();
    expect(report.message).toContain('left: PowerState=on');
  });

  it('is confirmed off by all of its supplies, not by one', async () => {
    const harness = harnessWith();
    harness.plug('pdu-1', '7').state = 'on';
    harness.plug('pdu-2', '7').state = 'off';
    const report = await harness.run(harness.job(RIGHT, 'confirm', { together: [LEFT] }));
    expect(report).toMatchObject({ result: 'found-not-done', message: expect.stringContaining('left: PowerState=on') as string });
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('is identified where every supply shows whose it is, not the last one', async () => {
    const harness = harnessWith();
    Object.assign(harness.plug('pdu-1', '7'), { state: 'off', identity: 'unverified' });
    const report = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT], identityRequired: false }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { identity: 'unverified' } });
  });

  it('is not said to have a supply off that stayed on while the others went off', async () => {
    const harness = harnessWith();
    harness.plug('pdu-1', '7').state = 'off';
    harness.plug('pdu-2', '7').onSet = () => Promise.resolve(ACCEPTED);
    const stuck = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }));
    expect(stuck).toMatchObject({ result: 'timeout' });
    expect(stuck.edge).toBeUndefined();
    harness.plug('pdu-1', '7').state = 'on';
    harness.plug('pdu-2', '7').state = 'off';
    expect(await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }))).toMatchObject({ result: 'timeout', edge: 'off' });
  });

  it('is ours to switch on again where one stays on and the other, which was told off, is not heard any more', async () => {
    const harness = harnessWith();
    const right = harness.plug('pdu-2', '7');
    right.onSet = () => {
      right.onRead = () => Promise.reject(failure('Unreachable', 'connection refused'));
      return Promise.resolve(ACCEPTED);
    };
    const report = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }));
    expect(report).toMatchObject({ result: 'timeout', edge: 'off', message: expect.stringContaining('right: Unreachable') as string });
  });

  it('gives no evidence when an earlier supply comes back in the middle of the pass', async () => {
    const harness = harnessWith();
    const left = harness.plug('pdu-1', '7');
    left.state = 'off';
    let reads = 0;
    left.onRead = () => {
      reads += 1;
      return Promise.resolve({ ...left.reading(), state: reads % 3 === 0 ? 'on' : 'off' });
    };
    const report = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }));
    expect(report.result).toBe('timeout');
    expect(report.evidence).toBeUndefined();
  });

  it('gives no evidence when one supply does not answer', async () => {
    const harness = harnessWith();
    harness.plug('pdu-1', '7').onRead = () => new Promise(() => undefined);
    const report = await harness.run(harness.job(RIGHT, 'off', { together: [LEFT] }));
    expect(report.result).toBe('timeout');
    expect(report.evidence).toBeUndefined();
  });

  it('switches on only the plug that it was asked to', async () => {
    const harness = harnessWith();
    harness.plug('pdu-1', '7').state = 'off';
    harness.plug('pdu-2', '7').state = 'off';
    harness.plug('pdu-2', '7').onSet = (wanted) => {
      harness.plug('pdu-2', '7').state = wanted;
      return Promise.resolve(ACCEPTED);
    };
    expect(await harness.run(harness.job(RIGHT, 'on', { together: [LEFT] }))).toMatchObject({ result: 'succeeded', edge: 'on' });
    expect(harness.plug('pdu-1', '7').state).toBe('off');
  });
});
