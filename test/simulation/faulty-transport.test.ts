import { describe, expect, it } from 'vitest';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiTransport, WatchSink } from '../../src/ports/api-transport.ts';
import { FaultyTransport } from '../../src/drill/daemons/simulated/faulty-transport.ts';
import { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { Port } from '../../src/testbed/simulation/port.ts';
import { CALM_API, Network } from '../../src/testbed/simulation/network.ts';
import type { ApiFaults } from '../../src/testbed/simulation/network.ts';

function harness(faults: Partial<ApiFaults>) {
  const kernel = new Kernel({ seed: 5 });
  const caller = kernel.spawn('caller');
  const network = new Network(kernel.random('network'), { ...CALM_API, ...faults });
  const served: string[] = [];
  const sinks: WatchSink[] = [];
  let closed = 0;
  const server: ApiTransport = {
    request: (request) => {
      served.push(request.path);
      return Promise.resolve({ status: 200, body: { path: request.path }, headers: {} });
    },
    watch: (_request, sink) => {
      sinks.push(sink);
      sink.onOpen();
      return () => (closed += 1);
    },
  };
  const transport = new FaultyTransport(server, new Port(caller), network);
  const log: string[] = [];
  const sink: WatchSink = {
    onOpen: () => log.push('open'),
    onEvent: (event) => log.push((event.object as { name: string }).name),
    onEnd: (error) => log.push(`end ${error instanceof TransportError ? error.kind : String(error)}`),
  };
  const emit = (name: string): void => sinks.at(-1)?.onEvent({ type: 'MODIFIED', object: { name } });
  const get = (method: 'GET' | 'PUT' = 'GET', signal?: AbortSignal): Promise<unknown> =>
    transport.request({ method, path: '/api/v1/nodes/a', deadlineMs: 100, ...(signal === undefined ? {} : { signal }) }).then(
      (response) => response.status,
      (thrown: unknown) => (thrown instanceof TransportError ? thrown.kind : String(thrown)),
    );
  return { kernel, caller, network, served, transport, log, sink, emit, get, closed: () => closed };
}

describe('the faulty transport', () => {
  it('passes a request on and its answer back, later', async () => {
    const { kernel, get, served } = harness({});
    const outcome = get();
    expect(served).toEqual([]);
    await kernel.run({ untilMs: 500 });
    expect(await outcome).toBe(200);
    expect(served).toEqual(['/api/v1/nodes/a']);
  });

  it.each([
    ['lostRequestShare', 'timeout', 0],
    ['lostAnswerShare', 'timeout', 1],
    ['tooManyRequestsShare', 429, 0],
    ['serverErrorShare', 500, 0],
    ['conflictShare', 409, 0],
  ] as const)('%s: the caller sees %s and the server has acted %i times', async (fault, seen, acted) => {
    const { kernel, get, served } = harness({ [fault]: 1 });
    const outcome = get('PUT');
    await kernel.run({ untilMs: 500 });
    expect(await outcome).toBe(seen);
    expect(served).toHaveLength(acted);
  });

  it('gives a request up when its signal is aborted', async () => {
    const { kernel, get } = harness({ latencyMs: [50, 51] });
    const abort = new AbortController();
    const outcome = get('GET', abort.signal);
    kernel.schedule(10, () => {
      abort.abort();
    });
    await kernel.run({ untilMs: 500 });
    expect(await outcome).toBe('aborted');
  });

  it('delivers the events of a watch in order although each takes another time', async () => {
    const { kernel, transport, sink, emit, log } = harness({ latencyMs: [1, 50], watchLateShare: 0.3, watchLateMs: [10, 300] });
    transport.watch({ path: '/api/v1/nodes', query: {} }, sink);
    const names = Array.from({ length: 30 }, (_unused, index) => `e${index}`);
    kernel.schedule(100, () => {
      names.forEach(emit);
    });
    await kernel.run({ untilMs: 5000 });
    expect(log).toEqual(['open', ...names]);
  });

  it('delivers an event twice where the fault says so', async () => {
    const { kernel, transport, sink, emit, log } = harness({ watchDuplicateShare: 1 });
    transport.watch({ path: '/api/v1/nodes', query: {} }, sink);
    kernel.schedule(100, () => {
      emit('a');
    });
    await kernel.run({ untilMs: 500 });
    expect(log).toEqual(['open', 'a', 'a']);
  });

  it('loses events only together with the connection', async () => {
    const { kernel, transport, sink, emit, log, network, closed } = harness({});
    transport.watch({ path: '/api/v1/nodes', query: {} }, sink);
    kernel.schedule(100, () => {
      emit('a');
      network.faults = { ...CALM_API, watchDropShare: 1 };
      emit('b');
      emit('c');
    });
    await kernel.run({ untilMs: 500 });
    expect(log).toEqual(['open', 'a', 'end unreachable']);
    expect(closed()).toBe(1);
  });

  it('ends a watch that is closed with aborted, once, and delivers nothing after', async () => {
    const { kernel, transport, sink, emit, log, closed } = harness({});
    const close = transport.watch({ path: '/api/v1/nodes', query: {} }, sink);
    kernel.schedule(100, () => {
      emit('a');
      close();
      close();
    });
    await kernel.run({ untilMs: 500 });
    expect(log).toEqual(['open', 'end aborted']);
    expect(closed()).toBe(1);
  });

  it('keeps a partitioned process from the server, stalls its watch, and breaks that when the partition heals', async () => {
    const { kernel, transport, sink, emit, log, network, get, served } = harness({});
    transport.watch({ path: '/api/v1/nodes', query: {} }, sink);
    let outcome: Promise<unknown> = Promise.resolve();
    kernel.schedule(100, () => {
      network.break('caller', 'cut');
      emit('a');
      outcome = get();
    });
    await kernel.run({ untilMs: 1000 });
    expect(await outcome).toBe('timeout');
    expect(served).toEqual([]);
    expect(log).toEqual(['open']);
    kernel.schedule(0, () => {
      network.heal('caller', 'cut');
    });
    await kernel.run({ untilMs: 2000 });
    expect(log).toEqual(['open', 'end unreachable']);
  });

  it('closes the watches of a process that died', async () => {
    const { kernel, caller, transport, sink, closed, log } = harness({});
    transport.watch({ path: '/api/v1/nodes', query: {} }, sink);
    kernel.schedule(100, () => {
      caller.crash();
    });
    await kernel.run({ untilMs: 500 });
    expect(closed()).toBe(1);
    expect(log).toEqual(['open']);
  });
});
