import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, methodOf } from './testing/harness.ts';
import { DeviceQueues } from './device-queues.ts';

const BMC = methodOf('bmc', 'power');

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

describe('a dead device', () => {
  it('is cut off at its deadline when it never answers a read, and its queue goes on', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onRead = never;
    const first = harness.dispatcher.run(harness.job(BMC, 'off'));
    const second = harness.dispatcher.run(harness.job(methodOf('second', 'power', { device: 'bmc', plug: '2' }), 'off'));
    expect((await harness.ended(first)).result).toBe('timeout');
    expect(harness.clock.monotonicMs()).toBeLessThanOrEqual(1_000_000 + 8_100);
    expect((await harness.ended(second)).result).toBe('succeeded');
  });

  it('is cut off at its deadline when it never answers a set; then the reads decide', async () => {
    const harness = new Harness(new ManualClock());
    const plug = harness.plug('bmc');
    plug.onSet = (wanted) => {
      plug.state = wanted;
      return never();
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('succeeded');
    expect(harness.calls(/^set/)).toHaveLength(1);
  });

  it('is told by its signal that the deadline is over', async () => {
    const harness = new Harness(new ManualClock());
    let aborted = false;
    harness.plug('bmc').onRead = (target) => {
      target.signal.addEventListener('abort', () => {
        aborted = true;
      });
      return never();
    };
    await harness.run(harness.job(BMC, 'off'));
    expect(aborted).toBe(true);
  });

  it('leaves no timer behind', async () => {
    const clock = new ManualClock();
    const harness = new Harness(clock);
    harness.plug('bmc').onRead = never;
    await harness.run(harness.job(BMC, 'off'));
    await harness.run(harness.job(methodOf('other', 'power'), 'off'));
    expect(clock.pending).toBe(0);
  });

  it('holds nothing up when the process stops: the run rejects at once and gives no report', async () => {
    const harness = new Harness(new ManualClock());
    const stopping = new AbortController();
    harness.plug('bmc').onRead = never;
    const run = harness.dispatcher.run(harness.job(BMC, 'off', { signal: stopping.signal }));
    const rejected = expect(run).rejects.toThrow('leadership lost');
    await harness.clock.advance(100);
    stopping.abort(new Error('leadership lost'));
    await rejected;
  });
});

describe('queues of devices', () => {
  it('never let two calls to one device overlap, whatever their plugs and methods', async () => {
    const harness = new Harness(new ManualClock());
    const methods = ['1', '2', '3', '4'].map((plug) => methodOf(`outlet-${plug}`, 'power', { device: 'pdu', plug }));
    await harness.ended(Promise.all(methods.map((method) => harness.dispatcher.run(harness.job(method, 'off')))));
    expect(harness.mostAtOnce.get('pdu')).toBe(1);
    expect(harness.calls(/^set off pdu/)).toHaveLength(4);
  });

  it('let the instances of a cloud run side by side, and never two calls for one of them', async () => {
    const harness = new Harness(new ManualClock());
    const methods = ['i-1', 'i-2', 'i-1'].map((plug, index) => methodOf(`off-${index}`, 'power', { agent: 'cloud', device: 'aws', plug }));
    for (const plug of ['i-1', 'i-2']) harness.plug('aws', plug).callMs = 100;
    await harness.ended(Promise.all(methods.map((method) => harness.dispatcher.run(harness.job(method, 'off')))));
    expect(harness.mostAtOnce.get('aws')).toBe(2);
  });

  it('let different devices run side by side: a slow one delays no other', async () => {
    const harness = new Harness(new ManualClock());
    harness.plug('slow').callMs = 7_000;
    const slow = harness.dispatcher.run(harness.job(methodOf('slow', 'power'), 'off'));
    const quick = await harness.ended(harness.dispatcher.run(harness.job(methodOf('quick', 'power'), 'off')));
    expect(quick.result).toBe('succeeded');
    expect(harness.clock.monotonicMs(), 'stable off takes its 3 s, not the 7 s of the other').toBeLessThan(1_000_000 + 5_000);
    expect(harness.mostAtOnce.get('')).toBe(2);
    await harness.ended(slow);
  });

  it('run calls in the order in which they were asked for, whatever became of the earlier ones', async () => {
    const queues = new DeviceQueues();
    const order: string[] = [];
    const failing = queues.run('d', () => {
      order.push('first');
      return Promise.reject(new Error('no'));
    });
    const next = queues.run('d', () => {
      order.push('second');
      return Promise.resolve(2);
    });
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(2);
    expect(order).toEqual(['first', 'second']);
    expect(queues.busy).toBe(0);
  });

  it('are bounded: what a dead device gathers is refused beyond 256 waiting calls', async () => {
    const queues = new DeviceQueues();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const calls = Array.from({ length: 256 }, () => queues.run('d', () => gate));
    await expect(queues.run('d', () => gate)).rejects.toThrow('more than 256 calls wait for device d');
    await expect(queues.run('e', () => Promise.resolve('another device is not concerned'))).resolves.toContain('another');
    open();
    await Promise.all(calls);
    expect(queues.busy).toBe(0);
  });

  it('do not exist for agents without a device', async () => {
    const queues = new DeviceQueues();
    const waiting = queues.run('', () => new Promise(() => undefined));
    expect(await queues.run('', () => Promise.resolve('not behind it'))).toBe('not behind it');
    expect(queues.busy).toBe(0);
    void waiting;
  });
});
