import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Bench, methodOf } from './testing/bench.ts';
import { DeviceQueues } from './device-queues.ts';

const BMC = methodOf('bmc', 'power');

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

describe('a dead device', () => {
  it('is cut off at its deadline when it never answers a read, and its queue goes on', async () => {
    const bench = new Bench(new ManualClock());
    const plug = bench.plug('bmc');
    plug.onRead = never;
    const first = bench.dispatcher.run(bench.job(BMC, 'off'));
    const second = bench.dispatcher.run(bench.job(methodOf('second', 'power', { device: 'bmc', plug: '2' }), 'off'));
    expect((await bench.ended(first)).result).toBe('timeout');
    expect(bench.clock.monotonicMs()).toBeLessThanOrEqual(1_000_000 + 8_100);
    expect((await bench.ended(second)).result).toBe('succeeded');
  });

  it('is cut off at its deadline when it never answers a set; then the reads decide', async () => {
    const bench = new Bench(new ManualClock());
    const plug = bench.plug('bmc');
    plug.onSet = (wanted) => {
      plug.state = wanted;
      return never();
    };
    const report = await bench.run(bench.job(BMC, 'off'));
    expect(report.result).toBe('succeeded');
    expect(bench.calls(/^set/)).toHaveLength(1);
  });

  it('is told by its signal that the deadline is over', async () => {
    const bench = new Bench(new ManualClock());
    let aborted = false;
    bench.plug('bmc').onRead = (target) => {
      target.signal.addEventListener('abort', () => {
        aborted = true;
      });
      return never();
    };
    await bench.run(bench.job(BMC, 'off'));
    expect(aborted).toBe(true);
  });

  it('leaves no timer behind', async () => {
    const clock = new ManualClock();
    const bench = new Bench(clock);
    bench.plug('bmc').onRead = never;
    await bench.run(bench.job(BMC, 'off'));
    await bench.run(bench.job(methodOf('other', 'power'), 'off'));
    expect(clock.pending).toBe(0);
  });

  it('holds nothing up when the process stops: the run rejects at once and gives no report', async () => {
    const bench = new Bench(new ManualClock());
    const stopping = new AbortController();
    bench.plug('bmc').onRead = never;
    const run = bench.dispatcher.run(bench.job(BMC, 'off', { signal: stopping.signal }));
    const rejected = expect(run).rejects.toThrow('leadership lost');
    await bench.clock.advance(100);
    stopping.abort(new Error('leadership lost'));
    await rejected;
  });
});

describe('queues of devices', () => {
  it('never let two calls to one device overlap, whatever their plugs and methods', async () => {
    const bench = new Bench(new ManualClock());
    const methods = ['1', '2', '3', '4'].map((plug) => methodOf(`outlet-${plug}`, 'power', { device: 'pdu', plug }));
    await bench.ended(Promise.all(methods.map((method) => bench.dispatcher.run(bench.job(method, 'off')))));
    expect(bench.mostAtOnce.get('pdu')).toBe(1);
    expect(bench.calls(/^set off pdu/)).toHaveLength(4);
  });

  it('let different devices run side by side: a slow one delays no other', async () => {
    const bench = new Bench(new ManualClock());
    bench.plug('slow').callMs = 7_000;
    const slow = bench.dispatcher.run(bench.job(methodOf('slow', 'power'), 'off'));
    const quick = await bench.ended(bench.dispatcher.run(bench.job(methodOf('quick', 'power'), 'off')));
    expect(quick.result).toBe('succeeded');
    expect(bench.clock.monotonicMs(), 'stable off takes its 3 s, not the 7 s of the other').toBeLessThan(1_000_000 + 5_000);
    expect(bench.mostAtOnce.get('')).toBe(2);
    await bench.ended(slow);
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
