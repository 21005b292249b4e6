import { describe, expect, it } from 'vitest';
import type { ApiResponse, ApiTransport, WatchSink } from '../../ports/api-transport.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SwitchedTransport } from './switched-transport.ts';

const OK: ApiResponse = { status: 200, body: {}, headers: {} };

class Wire implements ApiTransport {
  answer: ((response: ApiResponse) => void) | undefined;
  sink: WatchSink | undefined;
  closed = 0;
  request(): Promise<ApiResponse> {
    return new Promise((resolve) => {
      this.answer = resolve;
    });
  }
  watch(_request: unknown, sink: WatchSink): () => void {
    this.sink = sink;
    sink.onOpen();
    return () => {
      this.closed += 1;
    };
  }
}

function sinkOf(log: string[]): WatchSink {
  return {
    onOpen: () => log.push('open'),
    onEvent: (event) => log.push(event.type),
    onEnd: (error) => log.push(`end ${error?.message ?? 'normally'}`),
  };
}

describe('a cable that can be pulled', () => {
  it('lets everything through while it is plugged', async () => {
    const wire = new Wire();
    const asked = new SwitchedTransport(wire, new ManualClock()).request({ method: 'GET', path: '/x', deadlineMs: 1 });
    wire.answer?.(OK);
    expect(await asked).toBe(OK);
  });

  it('loses answers that are under way, and sends nothing while it is cut', async () => {
    const [wire, clock] = [new Wire(), new ManualClock()];
    const cable = new SwitchedTransport(wire, clock);
    const asked = cable.request({ method: 'GET', path: '/x', deadlineMs: 1 });
    cable.cut();
    wire.answer?.(OK);
    await expect(asked).rejects.toThrow('cut before the answer');
    wire.answer = undefined;
    const refused = expect(cable.request({ method: 'GET', path: '/y', deadlineMs: 5_000 })).rejects.toThrow('the network is cut');
    await clock.advance(4_999);
    expect([wire.answer, clock.pending]).toEqual([undefined, 1]);
    await clock.advance(1);
    await refused;
  });

  it('ends what hangs as soon as it is healed', async () => {
    const clock = new ManualClock();
    const cable = new SwitchedTransport(new Wire(), clock);
    cable.cut();
    const hanging = expect(cable.request({ method: 'GET', path: '/y', deadlineMs: 5_000 })).rejects.toThrow('the network is cut');
    cable.heal();
    await hanging;
    expect(clock.pending).toBe(0);
  });

  it('ends watches once, and lets new ones through after it was healed', async () => {
    const [wire, clock, log] = [new Wire(), new ManualClock(), [] as string[]];
    const cable = new SwitchedTransport(wire, clock);
    cable.watch({ path: '/w', query: {} }, sinkOf(log));
    const first = wire.sink;
    cable.cut();
    first?.onEvent({ type: 'ADDED', object: {} });
    cable.watch({ path: '/w', query: {} }, sinkOf(log));
    await clock.advance(10_000);
    cable.heal();
    cable.watch({ path: '/w', query: {} }, sinkOf(log));
    expect(log).toEqual(['open', 'end watch /w: the network was cut', 'end watch /w: the network is cut', 'open']);
    expect(wire.closed).toBe(1);
  });
});
