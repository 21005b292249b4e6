import { describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { ApiRequest, ApiResponse, ApiTransport, WatchEvent, WatchRequest, WatchSink } from '../../ports/api-transport.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { WORLD_PODS } from './kinds.ts';
import type { WorldPod } from './kinds.ts';
import { Mirror } from './mirror.ts';

class Wire implements ApiTransport {
  readonly lists: ApiRequest[] = [];
  readonly watches: { request: WatchRequest; sink: WatchSink }[] = [];
  items: WorldPod[] = [];
  failure: Error | undefined;
  request(request: ApiRequest): Promise<ApiResponse> {
    this.lists.push(request);
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve({ status: 200, body: { metadata: { resourceVersion: '10' }, items: this.items }, headers: {} });
  }
  watch(request: WatchRequest, sink: WatchSink): () => void {
    this.watches.push({ request, sink });
    sink.onOpen();
    return () => {
      sink.onEnd(new TransportError('aborted', 'closed'));
    };
  }
  send(type: WatchEvent['type'], object: unknown): void {
    this.watches.at(-1)?.sink.onEvent({ type, object });
  }
  end(error?: TransportError | ApiStatusError): void {
    this.watches.at(-1)?.sink.onEnd(error);
  }
}

const pod = (name: string, resourceVersion: string): WorldPod => ({ metadata: { name, namespace: 'default', uid: name, resourceVersion }, spec: {} });

async function begin(): Promise<{ wire: Wire; clock: ManualClock; log: string[]; mirror: Mirror<WorldPod> }> {
  const [wire, clock, log] = [new Wire(), new ManualClock(), [] as string[]];
  wire.items = [pod('p', '5')];
  const mirror = new Mirror<WorldPod>({
    transport: wire,
    clock,
    random: { next: () => 1, uuid: () => 'u' },
    resource: WORLD_PODS,
    onChange: (before, after) => log.push(`${before?.metadata.resourceVersion ?? '-'}>${after?.metadata.resourceVersion ?? '-'}`),
    onSync: () => log.push('sync'),
  });
  mirror.start();
  await clock.advance(1);
  return { wire, clock, log, mirror };
}

describe('a mirror of a collection', () => {
  it('lists, then follows the watch', async () => {
    const { wire, log, mirror } = await begin();
    wire.send('MODIFIED', pod('p', '11'));
    wire.send('ADDED', pod('q', '12'));
    wire.send('DELETED', pod('p', '13'));
    expect(log).toEqual(['->5', 'sync', '5>11', '->12', '11>-']);
    expect([...mirror.all()].map(({ metadata }) => metadata.name)).toEqual(['q']);
  });

  it('opens a watch that ended again from where it ended, without a list', async () => {
    const { wire, clock } = await begin();
    wire.send('BOOKMARK', { metadata: { resourceVersion: '20' } });
    wire.end();
    wire.end(new TransportError('unreachable', 'gone'));
    await clock.advance(5_000);
    expect(wire.watches.map(({ request }) => request.query['resourceVersion'])).toEqual(['10', '20', '20']);
    expect(wire.lists).toHaveLength(1);
  });

  it('lists anew when its version is too old, and tells what changed meanwhile', async () => {
    const { wire, clock, log } = await begin();
    wire.items = [pod('q', '30')];
    wire.send('ERROR', { code: 410 });
    wire.end();
    await clock.advance(5_000);
    expect(log.slice(2)).toEqual(['5>-', '->30']);
  });

  it('goes on trying while the server is gone', async () => {
    const { wire, clock } = await begin();
    wire.failure = new TransportError('unreachable', 'no');
    wire.end(new ApiStatusError(500, 'InternalError', 'oops'));
    await clock.advance(20_000);
    expect(wire.lists.length).toBeGreaterThan(5);
    wire.failure = undefined;
    await clock.advance(5_000);
    expect(wire.watches).toHaveLength(2);
  });

  it('is still after it was stopped', async () => {
    const { wire, clock, mirror, log } = await begin();
    mirror.stop();
    wire.send('ADDED', pod('q', '12'));
    await clock.advance(10_000);
    expect([log.length, wire.watches.length, clock.pending]).toEqual([2, 1, 0]);
  });
});
