import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Logger } from '../../ports/recorder.ts';
import { settleHeap } from '../../runtime/heap.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { ApiClient } from '../client.ts';
import { EventRecorder } from './recorder.ts';
import { ScriptedTransport } from '../testing/scripted-transport.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the Event recorder', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let results: string[];
  let recorder: EventRecorder;

  const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u1', resourceVersion: '7' } };
  const sent = (): string[] => transport.requests.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{16}$/, 'ID')}`);

  const written = (field: 'reason' | 'message'): string[] => transport.requests.map(({ body }) => (body as Record<typeof field, string>)[field]);

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
      metrics: { event: (result, importance) => results.push(`${result} ${importance}`) },
      component: 'nodefence-controller',
      instance: 'one',
      home: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'home', namespace: 'nodefence-system' } },
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
    expect(results).toEqual(['created progress', 'counted progress', 'counted progress', 'created progress']);
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
    expect([
      results.filter((result) => result === 'rate-limited progress').length,
      results.filter((result) => result === 'created progress').length,
    ]).toEqual([30, 51]);
  });

  it('loses nothing while the server is away, asks it ever more seldom, and writes what a person must see first once it is back', async () => {
    transport.answer = () => new TransportError('unreachable', 'no');
    recorder.event(node, 'Warning', 'LeftOff', 'x');
    recorder.event(node, 'Normal', 'NodeIsolated', 'x');
    await clock.advance(600_000);
    recorder.event(node, 'Warning', 'ReleaseFailed', 'x');
    await clock.advance(600_000);
    expect(results).toEqual([]);
    expect(transport.requests.length).toBeLessThan(200);
    transport.answer = ({ body }) => ({ status: 201, body });
    const before = transport.requests.length;
    await clock.advance(15_000);
    expect(written('reason').slice(before)).toEqual(['ReleaseFailed', 'LeftOff', 'NodeIsolated']);
    expect(results.sort()).toEqual(['created person', 'created person', 'created progress']);
  });

  it('counts as lost what fails a third time while others are written, and holds these up no longer', async () => {
    transport.answer = ({ body }) => ((body as { reason: string }).reason === 'Lost' ? new ApiStatusError(503, 'x', 'x') : { status: 201, body });
    recorder.event(node, 'Warning', 'Lost', 'x');
    recorder.event(node, 'Normal', 'Kept', 'x');
    await clock.advance(30_000);
    expect(results.slice(0, 2)).toEqual(['created progress', 'failed person']);
    expect(written('reason')).toEqual(['Lost', 'Lost', 'Lost', 'Kept', 'Lost', 'EventsLost']);
  });

  it('gives up after an hour what fails alone: the server would not have kept it for longer', async () => {
    transport.answer = () => ({ status: 503 });
    recorder.event(node, 'Normal', 'Lost', 'x');
    await clock.advance(3_590_000);
    expect(results).toEqual([]);
    await clock.advance(30_000);
    expect(results[0]).toBe('failed progress');
  });

  it('does not repeat what the server refuses, and takes "exists already" for its own lost answer', async () => {
    transport.answer = () => ({ status: 403 });
    recorder.event(node, 'Normal', 'Refused', 'x');
    await clock.advance(100);
    transport.answer = () => ({ status: 409 });
    recorder.event(node, 'Normal', 'Twice', 'x');
    await clock.advance(100);
    expect([written('reason'), results]).toEqual([
      ['Refused', 'EventsLost', 'Twice'],
      ['failed progress', 'failed person', 'created progress'],
    ]);
  });

  it('cuts a long message and drops an Event about an object of unknown kind', async () => {
    recorder.event(node, 'Normal', 'Long', 'x'.repeat(5000));
    recorder.event({ metadata: { name: 'a' } }, 'Normal', 'Unknown', 'x');
    await clock.advance(100);
    expect((transport.requests[0]?.body as { message: string }).message).toHaveLength(1024);
    expect(results.slice(0, 2)).toEqual(['failed progress', 'created progress']);
  });

  it('bounds its queue, drops what matters least, and tells of it once it has room', async () => {
    const held: (() => void)[] = [];
    transport.answer = ({ body }) =>
      new Promise((resolve) =>
        held.push(() => {
          resolve({ status: 201, body });
        }),
      );
    const about = (name: number): KubeObject => ({ ...node, metadata: { name: `n${name}`, uid: `u${name}` } });
    for (let object = 0; object < 4096; object++) recorder.event(about(object), 'Normal', 'NodeIsolated', 'x');
    for (let object = 0; object < 100; object++) recorder.event(about(object), 'Warning', 'LeftOff', 'x');
    expect([results.length, new Set(results)]).toEqual([100, new Set(['queue-full progress'])]);
    await clock.advance(100);
    expect(written('reason')).toEqual(['LeftOff', 'LeftOff', 'LeftOff', 'LeftOff']);
    transport.answer = ({ body }) => ({ status: 201, body });
    for (const answer of held) answer();
    await clock.advance(0);
    expect(results.filter((result) => result === 'created person')).toHaveLength(101);
    const told = transport.requests.at(-1)?.body as { involvedObject: unknown; type: string; reason: string; message: string };
    expect([told.type, told.reason, told.involvedObject]).toEqual([
      'Warning',
      'EventsLost',
      expect.objectContaining({ kind: 'Lease', name: 'home' }),
    ]);
    expect(told.message).toContain('100 on single steps.');
  });

  it('tells of lost Events every ten minutes at most', async () => {
    transport.answer = ({ body }) => ({ status: (body as { reason: string }).reason === 'Lost' ? 403 : 201, body });
    for (const words of ['a', 'b', 'c']) {
      recorder.event(node, 'Normal', 'Lost', words);
      await clock.advance(299_000);
    }
    recorder.event(node, 'Normal', 'Lost', 'd');
    await clock.advance(100);
    expect(written('message').filter((message) => message.startsWith('Events were lost'))).toEqual([
      expect.stringContaining('1 on single steps'),
      expect.stringContaining('3 on single steps'),
    ]);
  });

  it('sends one at a time while few wait, four while many do, and one again while the server does not answer', async () => {
    const underWay = async (events: number): Promise<number> => {
      const before = transport.requests.length;
      for (let object = 0; object < events; object++) {
        recorder.event({ ...node, metadata: { name: 'n', uid: `${before}/${object}` } }, 'Normal', 'NodeIsolated', 'x');
      }
      await clock.advance(100);
      return transport.requests.length - before;
    };
    const answers: (() => void)[] = [];
    const answered = async (status: number): Promise<void> => {
      transport.answer = ({ body }) => ({ status, body });
      for (const answer of answers.splice(0)) answer();
      await clock.advance(0);
    };
    const hang = (): void => {
      transport.answer = ({ body }) =>
        new Promise((resolve) =>
          answers.push(() => {
            resolve({ status: 201, body });
          }),
        );
    };
    hang();
    const few = await underWay(50);
    await answered(201);
    hang();
    const many = await underWay(300);
    transport.answer = () => ({ status: 503 });
    for (const answer of answers.splice(0)) answer();
    await clock.advance(0);
    const beforeTrial = transport.requests.length;
    await clock.advance(999);
    const whileAway = transport.requests.length - beforeTrial;
    await clock.advance(1);
    expect([few, many, whileAway, transport.requests.length - beforeTrial]).toEqual([1, 4, 0, 1]);
    await answered(201);
    await clock.advance(60_000);
    expect(results.filter((result) => result.startsWith('created'))).toHaveLength(350);
  });

  it('counts what is said again while it is on its way, in one write', async () => {
    const answers: (() => void)[] = [];
    transport.answer = ({ body }) =>
      new Promise((resolve) =>
        answers.push(() => {
          resolve({ status: 201, body });
        }),
      );
    recorder.event(node, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    for (let times = 0; times < 3; times++) recorder.event(node, 'Normal', 'Held', 'Waiting.');
    await clock.advance(100);
    expect(sent()).toHaveLength(1);
    transport.answer = ({ body }) => ({ status: 200, body });
    for (const answer of answers) answer();
    await clock.advance(100);
    expect(sent()).toEqual(['POST /api/v1/namespaces/default/events', 'PATCH /api/v1/namespaces/default/events/a.ID']);
    expect(transport.requests[1]?.body).toMatchObject({ count: 4 });
  });

  it('forgets after ten minutes what it said, and of whom', async () => {
    const say = async (events: number): Promise<number> => {
      for (let object = 0; object < events; object++) {
        recorder.event({ ...node, metadata: { name: 'n', uid: `${clock.monotonicMs()}/${object}` } }, 'Normal', 'NodeIsolated', 'x');
      }
      await clock.advance(600_100);
      recorder.event(node, 'Normal', 'Held', 'Waiting.');
      await clock.advance(100);
      transport.requests.length = 0;
      results.length = 0;
      settleHeap();
      return process.memoryUsage().heapUsed;
    };
    const before = await say(300);
    expect((await say(4000)) - before).toBeLessThan(300_000);
  });

  it('remembers who made much noise for as long as it takes to be allowed as much again', async () => {
    const noise = async (): Promise<number> => {
      results.length = 0;
      for (let times = 0; times < 80; times++) recorder.event(node, 'Normal', 'Noise', `${clock.monotonicMs()}/${times}`);
      recorder.event({ ...node, metadata: { name: 'b', uid: `u${clock.monotonicMs()}` } }, 'Normal', 'Held', 'Waiting.');
      await clock.advance(300_000);
      return results.filter((result) => result === 'rate-limited progress').length;
    };
    expect([await noise(), await noise()]).toEqual([30, 50]);
  });

  it('has room for what a person must see of an object that made much noise', async () => {
    for (let times = 0; times < 60; times++) recorder.event(node, 'Normal', 'Noise', String(times));
    recorder.event(node, 'Warning', 'LeftOff', 'x');
    await clock.advance(100);
    expect(written('reason')[0]).toBe('LeftOff');
  });

  it('sends what is queued before it closes, but not for ever', async () => {
    recorder.event(node, 'Normal', 'Last', 'x');
    await recorder.close(1000);
    expect(results).toEqual(['created progress']);
    expect(clock.pending).toBe(0);
    recorder.event(node, 'Normal', 'TooLate', 'x');
    await clock.advance(100);
    expect(transport.requests).toHaveLength(1);
  });
});
