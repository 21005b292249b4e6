import { describe, expect, it } from 'vitest';
import type { WatchSink } from '../ports/api-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { runWatch } from './watch-session.ts';

describe('a watch', () => {
  it('tells nothing of what a transport still says after it was given up as silent', async () => {
    const clock = new ManualClock();
    const heard: string[] = [];
    const sinks: WatchSink[] = [];
    const result = runWatch({
      transport: {
        request: () => Promise.reject(new Error('not asked')),
        watch: (_request, sink) => {
          sinks.push(sink);
          sink.onOpen();
          return () => undefined;
        },
      },
      clock,
      request: { path: '/api/v1/nodes', query: {} },
      openDeadlineMs: 1_000,
      idleMs: () => 5_000,
      signal: new AbortController().signal,
      onLive: () => heard.push('live'),
      onEvent: ({ type }) => heard.push(type),
    });
    sinks[0]?.onEvent({ type: 'ADDED', object: {} });
    await clock.advance(5_000);
    expect((await result).end).toBe('idle');
    sinks[0]?.onEvent({ type: 'MODIFIED', object: {} });
    sinks[0]?.onOpen();
    expect(heard).toEqual(['live', 'live', 'ADDED']);
  });

  it('takes silence from the last event on for long enough, and not sooner, also where that has become shorter', async () => {
    const clock = new ManualClock();
    const sinks: WatchSink[] = [];
    let idleMs = 30_000;
    let endedAtMs: number | undefined;
    const startedAtMs = clock.monotonicMs();
    const result = runWatch({
      transport: {
        request: () => Promise.reject(new Error('not asked')),
        watch: (_request, sink) => {
          sinks.push(sink);
          sink.onOpen();
          return () => undefined;
        },
      },
      clock,
      request: { path: '/api/v1/nodes', query: {} },
      openDeadlineMs: 1_000,
      idleMs: () => idleMs,
      signal: new AbortController().signal,
      onLive: () => undefined,
      onEvent: () => undefined,
    }).then(({ end }) => {
      endedAtMs = clock.monotonicMs() - startedAtMs;
      return end;
    });
    for (const afterMs of [20_000, 20_000]) {
      await clock.advance(afterMs);
      sinks[0]?.onEvent({ type: 'ADDED', object: {} });
    }
    idleMs = 5_000;
    for (const afterMs of [1_000, 3_000, 4_999]) {
      await clock.advance(afterMs);
      sinks[0]?.onEvent({ type: 'MODIFIED', object: {} });
    }
    await clock.advance(60_000);
    expect([await result, endedAtMs]).toEqual(['idle', 53_999]);
  });
});
