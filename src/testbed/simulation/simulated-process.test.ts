import { describe, expect, it } from 'vitest';
import { Kernel } from './kernel.ts';
import { CrashCounter, Port } from './port.ts';

describe('a simulated process', () => {
  it('sleeps on the virtual clock', async () => {
    const kernel = new Kernel({ seed: 1 });
    const sleeper = kernel.spawn('sleeper');
    const woke: number[] = [];
    void (async () => {
      await sleeper.clock.sleep(5);
      woke.push(kernel.nowMs);
      await sleeper.clock.sleep(7);
      woke.push(kernel.nowMs);
    })();
    await kernel.run({ untilMs: 100 });
    expect(woke).toEqual([5, 12]);
  });

  it('wakes with the reason of the signal when the sleep is aborted', async () => {
    const kernel = new Kernel({ seed: 1 });
    const sleeper = kernel.spawn('sleeper');
    const abort = new AbortController();
    const outcome = sleeper.clock.sleep(50, abort.signal).then(
      () => 'slept',
      (reason: unknown) => `${String(reason)} at ${kernel.nowMs}`,
    );
    kernel.schedule(3, () => {
      abort.abort(new Error('enough'));
    });
    await kernel.run({ untilMs: 100 });
    expect(await outcome).toBe('Error: enough at 3');
    await expect(sleeper.clock.sleep(1, abort.signal)).rejects.toThrow('enough');
  });

  it('gets no timer after a crash, and its finally blocks do not run', async () => {
    const kernel = new Kernel({ seed: 1 });
    const victim = kernel.spawn('victim');
    const seen: string[] = [];
    victim.clock.after(10, () => seen.push('timer'));
    void (async () => {
      try {
        await victim.clock.sleep(10);
      } finally {
        seen.push('finally');
      }
    })();
    kernel.schedule(5, () => {
      victim.crash();
      victim.clock.after(1, () => seen.push('timer of the dead'));
    });
    await kernel.run({ untilMs: 100 });
    expect(seen).toEqual([]);
  });

  it('gets what came during a stop afterwards, in the order it came, while its clocks ran on', async () => {
    const kernel = new Kernel({ seed: 3 });
    const stopped = kernel.spawn('stopped');
    const seen: string[] = [];
    const startMs = stopped.clock.monotonicMs();
    for (const delayMs of [10, 20, 30, 100, 110]) {
      stopped.clock.after(delayMs, () => seen.push(`${delayMs}@${stopped.clock.monotonicMs() - startMs}`));
    }
    kernel.schedule(5, () => {
      stopped.stop();
    });
    kernel.schedule(105, () => {
      stopped.resume();
    });
    await kernel.run({ untilMs: 200 });
    expect(seen).toEqual(['10@105', '20@105', '30@105', '100@105', '110@110']);
  });

  it('keeps CLOCK_MONOTONIC and its timers back during a suspend, not the boot-time clock', async () => {
    const kernel = new Kernel({ seed: 1 });
    const suspended = kernel.spawn('suspended');
    const { clock } = suspended;
    const [monotonicMs, bootMs] = [clock.monotonicMs(), clock.bootMs()];
    let firedMs = 0;
    clock.after(10, () => {
      firedMs = kernel.nowMs;
    });
    kernel.schedule(4, () => {
      suspended.suspend(1000);
    });
    await kernel.run({ untilMs: 5000 });
    expect(firedMs).toBe(1010);
    kernel.schedule(0, () => undefined);
    expect(clock.bootMs() - bootMs - (clock.monotonicMs() - monotonicMs)).toBe(1000);
  });

  it('sees wall-clock jumps on the wall clock only', () => {
    const kernel = new Kernel({ seed: 1 });
    const jumped = kernel.spawn('jumped');
    const other = kernel.spawn('other');
    jumped.jumpWallClock(-3_600_000);
    expect(jumped.clock.wallMs()).toBe(other.clock.wallMs() - 3_600_000);
    expect(jumped.clock.monotonicMs()).toBe(other.clock.monotonicMs());
  });
});

describe('a port', () => {
  const call = (label: string, effect: () => string) => ({ label, tags: ['write'], requestMs: 5, answerMs: 5, effect });

  it('takes effect after the request delay and answers after both', async () => {
    const kernel = new Kernel({ seed: 1 });
    const port = new Port(kernel.spawn('caller'));
    const seen: [string, number][] = [];
    const answer = port.call(call('write', () => (seen.push(['effect', kernel.nowMs]), 'ok'))).then((text) => seen.push([text, kernel.nowMs]));
    await kernel.run({ untilMs: 100 });
    await answer;
    expect(seen).toEqual([
      ['effect', 5],
      ['ok', 10],
    ]);
  });

  it('rejects as the effect threw', async () => {
    const kernel = new Kernel({ seed: 1 });
    const port = new Port(kernel.spawn('caller'));
    const outcome = port
      .call(
        call('write', () => {
          throw new Error('refused');
        }),
      )
      .catch((thrown: unknown) => String(thrown));
    await kernel.run({ untilMs: 100 });
    expect(await outcome).toBe('Error: refused');
  });

  it.each([
    ['before-effect', 2, ['1']],
    ['after-effect', 2, ['1', '2']],
  ] as const)('kills the process %s of the call it was told', async (moment, nth, effects) => {
    const kernel = new Kernel({ seed: 1 });
    const died: string[] = [];
    const counter = new CrashCounter({ tag: 'write', nth, moment, stopMs: 0 });
    const port = new Port(kernel.spawn('caller'), {
      strike: (tags) => counter.strike(tags),
      onCrash: (_point, label) => died.push(label),
    });
    const seen: string[] = [];
    const answered: string[] = [];
    void (async () => {
      await port.call({ ...call('read', () => 'untouched'), tags: ['read'] });
      for (const name of ['1', '2', '3']) {
        answered.push(await port.call(call(name, () => (seen.push(name), name))));
      }
    })();
    await kernel.run({ untilMs: 1000 });
    expect(seen).toEqual(effects);
    expect(answered).toEqual(['1']);
    expect(died).toEqual(['2']);
  });

  it('stops the process at the call it was told: the effect comes in time, the answer when it goes on', async () => {
    const kernel = new Kernel({ seed: 1 });
    const caller = kernel.spawn('caller');
    const counter = new CrashCounter({ tag: 'write', nth: 1, moment: 'stopped', stopMs: 500 });
    const port = new Port(caller, {
      strike: (tags) => counter.strike(tags),
      onCrash: (point) => {
        caller.stop();
        kernel.schedule(point.stopMs, () => {
          caller.resume();
        });
      },
    });
    const seen: [string, number][] = [];
    void port.call(call('write', () => (seen.push(['effect', kernel.nowMs]), 'ok'))).then((text) => seen.push([text, kernel.nowMs]));
    await kernel.run({ untilMs: 1000 });
    expect(seen).toEqual([
      ['effect', 5],
      ['ok', 500],
    ]);
  });

  it('lets a call that has left take effect although the caller died on the way', async () => {
    const kernel = new Kernel({ seed: 1 });
    const caller = kernel.spawn('caller');
    const port = new Port(caller);
    const seen: string[] = [];
    void port.call(call('set off', () => (seen.push('off'), 'ok'))).then(() => seen.push('answered'));
    kernel.schedule(1, () => {
      caller.crash();
    });
    kernel.schedule(2, () => {
      void port.call(call('of the dead', () => (seen.push('ghost'), 'ok')));
    });
    await kernel.run({ untilMs: 100 });
    expect(seen).toEqual(['off']);
  });
});

describe('clocks of machines that are not alike', () => {
  it('run at their own rate, timers too, and agree with themselves', async () => {
    const kernel = new Kernel({ seed: 1 });
    const fast = kernel.spawn('fast', 1.01).clock;
    const [mono, boot, wall] = [fast.monotonicMs(), fast.bootMs(), fast.wallMs()];
    const fired: number[] = [];
    fast.after(10_100, () => fired.push(kernel.nowMs));
    kernel.schedule(20_000, () => undefined);
    await kernel.run({ untilMs: 20_000 });
    expect(fired[0]).toBeCloseTo(10_000, 6);
    expect([fast.monotonicMs() - mono, fast.bootMs() - boot, fast.wallMs() - wall].map(Math.round)).toEqual([20_200, 20_200, 20_200]);
  });
});

describe('pauses that overlap', () => {
  it('end with the last of them: a process that is stopped while its machine sleeps does not run before both are over', async () => {
    const kernel = new Kernel({ seed: 1 });
    const process = kernel.spawn('paused');
    const ran: number[] = [];
    process.suspend(500);
    process.stop();
    process.deliverAfter(10, () => ran.push(kernel.nowMs));
    kernel.schedule(300, () => {
      process.resume();
    });
    await kernel.run({ untilMs: 1000 });
    expect(ran).toEqual([500]);
  });
});
