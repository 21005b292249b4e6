import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ApiClient } from './client.ts';
import { EventRecorder } from './recorder.ts';
import { ScriptedTransport } from './testing/scripted-transport.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the Event recorder', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let results: string[];
  let recorder: EventRecorder;

  const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u1', resourceVersion: '7' } };
  const sent = (): string[] => transport.requests.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{16}$/, 'ID')}`);

  beforeEach(() => {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    transport.answer = ({ body }) => ({ status: 201, body: { metadata: { name: 'e' }, ...(body as object) } });
    results = [];
    let count = 0;
    recorder = new EventRecorder({
      cluster: new ApiClient({ transport }),
      clock,
      random: { next: () => 0, uuid: () => `${(count++).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000` },
      logger: SILENT,
      metrics: { ...NO_METRICS.event, event: (result) => results.push(result) },
      component: 'nodefence-controller',
      instance: 'one',
    });
  });

  it('writes an Event about a node into the default namespace, with everything kubectl describe looks for', async () => {
    recorder.event(node, 'Warning', 'FencingStarted', 'Node a is fenced.');
    await clock.advance(100);
    expect(transport.requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'default' },
        involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u1', resourceVersion: '7' },
        reason: 'FencingStarted',
        message: 'Node a is fenced.',
        type: 'Warning',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'nodefence-controller' },
      },
    });
  });

  it('leaves a tenth of a second to what is done to the object', async () => {
    recorder.event(node, 'Warning', 'FencingStarted', 'Node a is fenced.');
    await clock.advance(99);
    expect(sent()).toEqual([]);
    await clock.advance(1);
    expect(sent()).toHaveLength(1);
  });

  it('counts the same words within ten minutes and writes them anew after', async () => {
    for (const pauseMs of [1000, 599_000, 600_000]) {
      recorder.event(node, 'Normal', 'Held', 'Waiting.');
      await clock.advance(pauseMs);
    }
    recorder.event(node, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    const patch = 'PATCH /api/v1/namespaces/default/events/a.ID';
    const post = 'POST /api/v1/namespaces/default/events';
    expect(sent()).toEqual([post, patch, patch, post]);
    expect(transport.requests[2]?.body).toMatchObject({ count: 3 });
    expect(results).toEqual(['created', 'counted', 'counted', 'created']);
  });

  it('writes other words, other reasons and other objects apart', async () => {
    recorder.event(node, 'Normal', 'Held', 'Waiting.');
    recorder.event(node, 'Normal', 'Held', 'Waiting still.');
    recorder.event({ ...node, metadata: { ...node.metadata, uid: 'u2' } }, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    expect(sent().filter((line) => line.startsWith('POST'))).toHaveLength(3);
  });

  it('sums up in one write what comes while it waits', async () => {
    transport.answer = () => new Promise(() => undefined);
    recorder.event(node, 'Normal', 'First', 'x');
    for (let times = 0; times < 5; times++) {
      recorder.event(node, 'Normal', 'Held', 'Waiting.');
    }
    await clock.advance(100);
    expect(transport.requests).toHaveLength(1);
    void recorder.close(0);
  });

  it('creates the Event again when somebody deleted it', async () => {
    recorder.event(node, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    const gone = (path: string): object => ({
      ...{ kind: 'Status', apiVersion: 'v1', reason: 'NotFound' },
      details: { name: path.split('/').at(-1), kind: 'events' },
    });
    transport.answer = ({ method, body, path }) => (method === 'PATCH' ? { status: 404, body: gone(path) } : { status: 201, body });
    recorder.event(node, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    expect(sent().map((line) => line.split(' ')[0])).toEqual(['POST', 'PATCH', 'POST']);
  });

  it('limits what one object may cause without silencing others', async () => {
    for (let times = 0; times < 80; times++) {
      recorder.event(node, 'Normal', 'Noise', String(times));
    }
    recorder.event({ ...node, metadata: { name: 'b', uid: 'u9' } }, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    expect([results.filter((result) => result === 'rate-limited').length, results.filter((result) => result === 'created').length]).toEqual([30, 51]);
  });

  it('tries three times when the server is away, then counts the loss and goes on with the next', async () => {
    transport.answer = () => new TransportError('unreachable', 'no');
    recorder.event(node, 'Normal', 'Lost', 'x');
    recorder.event(node, 'Normal', 'Kept', 'x');
    await clock.advance(3099);
    transport.answer = ({ body }) => ({ status: 201, body });
    await clock.advance(0);
    expect([transport.requests.length, results]).toEqual([2, []]);
    transport.answer = ({ body }) => ((body as { reason: string }).reason === 'Lost' ? new ApiStatusError(503, 'x', 'x') : { status: 201, body });
    await clock.advance(1);
    expect(results).toEqual(['failed', 'created']);
  });

  it('does not repeat what the server refuses, and takes "exists already" for its own lost answer', async () => {
    transport.answer = () => ({ status: 403 });
    recorder.event(node, 'Normal', 'Refused', 'x');
    await clock.advance(100);
    transport.answer = () => ({ status: 409 });
    recorder.event(node, 'Normal', 'Twice', 'x');
    await clock.advance(100);
    expect([transport.requests.length, results]).toEqual([2, ['failed', 'created']]);
  });

  it('cuts a long message and drops an Event about an object of unknown kind', async () => {
    recorder.event(node, 'Normal', 'Long', 'x'.repeat(5000));
    recorder.event({ metadata: { name: 'a' } }, 'Normal', 'Unknown', 'x');
    await clock.advance(100);
    expect((transport.requests[0]?.body as { message: string }).message).toHaveLength(1024);
    expect(results).toEqual(['failed', 'created']);
  });

  it('bounds its queue', async () => {
    transport.answer = () => new Promise(() => undefined);
    for (let object = 0; object < 1100; object++) {
      recorder.event({ ...node, metadata: { name: `n${String(object)}`, uid: `u${String(object)}` } }, 'Normal', 'Held', 'x');
    }
    await clock.advance(100);
    expect(results.filter((result) => result === 'queue-full')).toHaveLength(100);
    void recorder.close(0);
  });

  it('sends what is queued before it closes, but not for ever', async () => {
    recorder.event(node, 'Normal', 'Last', 'x');
    await recorder.close(1000);
    expect(results).toEqual(['created']);
    expect(clock.pending).toBe(0);
    recorder.event(node, 'Normal', 'TooLate', 'x');
    await clock.advance(100);
    expect(transport.requests).toHaveLength(1);
  });
});
