import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { ConfigMap } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import { CONFIG_MAPS } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Reflector } from './reflector.ts';
import { listOf, ScriptedTransport, statusOf, type ScriptedWatch } from './testing/scripted-transport.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const ASKED = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true', timeoutSeconds: '450' };

function map(name: string, resourceVersion: string, uid = `uid-${name}`): ConfigMap {
  return { metadata: { name, namespace: 'ns', uid, resourceVersion } };
}

function bookmark(resourceVersion: string, isEnd: boolean): unknown {
  return { kind: 'ConfigMap', metadata: { resourceVersion, ...(isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}) } };
}

function ended(watch: ScriptedWatch, resourceVersion: string): ScriptedWatch {
  return watch.send('BOOKMARK', bookmark(resourceVersion, true));
}

describe('a reflector whose server sends what is there as the beginning of a watch', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let seen: string[];
  let wentBack: string[];
  let reflector: Reflector<ConfigMap>;

  const names = (): string[] => [...reflector.lister.all()].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion ?? ''}`).sort();
  const asked = (): (string | undefined)[] => transport.watches.map(({ request }) => request.query['resourceVersion'] ?? 'everything');

  async function opened(): Promise<ScriptedWatch> {
    reflector.start();
    await clock.settle();
    return transport.lastWatch.open();
  }

  beforeEach(() => {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    transport.streamsLists = true;
    transport.answer = () => ({ body: listOf('50', [map('listed', '40')]) });
    seen = [];
    wentBack = [];
    reflector = new Reflector<ConfigMap>({
      transport,
      clock,
      random: { next: () => 0.5, uuid: () => 'u' },
      logger: SILENT,
      metrics: NO_METRICS.watch,
      resource: CONFIG_MAPS,
      onWentBack: (message) => wentBack.push(message),
      restMs: () => 100,
    });
    reflector.lister.onChange((before, after) => {
      seen.push(`${before?.metadata.resourceVersion ?? '-'}>${after?.metadata.resourceVersion ?? '-'}`);
    });
  });

  afterEach(() => {
    reflector.close();
  });

  it('asks for a consistent state, and goes on with that watch: nothing is ever listed', async () => {
    const watch = await opened();
    expect(watch.request.query).toEqual(ASKED);
    ended(watch.send('ADDED', map('a', '5')), '10').send('MODIFIED', map('a', '11'));
    expect([seen, transport.requests, transport.watches.length]).toEqual([['->5', '5>11'], [], 1]);
    await clock.advance(20_000);
    watch.end();
    await clock.settle();
    expect(asked()).toEqual(['everything', '11']);
  });

  it('does not rest before it has read what is there', async () => {
    const watch = await opened();
    expect(watch.request.restMs?.()).toBe(0);
    expect(watch.send('ADDED', map('a', '5')).request.restMs?.()).toBe(0);
    expect(ended(watch, '10').request.restMs?.()).toBe(100);
  });

  it('takes half of what is there for nothing: it is not synced, not fresh, and tells no change before the server says that it was all', async () => {
    const watch = await opened();
    watch.send('ADDED', map('a', '5')).send('BOOKMARK', bookmark('7', false)).send('ADDED', map('b', '6'));
    expect([reflector.lister.synced, reflector.lister.freshAtMs, seen]).toEqual([false, Number.NEGATIVE_INFINITY, []]);
    ended(watch, '10');
    expect([reflector.lister.synced, seen]).toEqual([true, ['->5', '->6']]);
    await reflector.untilSynced(1);
  });

  it('is as fresh as its question, and from then on as what it hears', async () => {
    const askedAtMs = clock.monotonicMs();
    const watch = await opened();
    await clock.advance(12_000);
    ended(watch.send('ADDED', map('a', '5')), '10');
    expect([reflector.lister.freshAtMs, reflector.lister.freshSinceMs]).toEqual([askedAtMs, askedAtMs]);
    watch.send('BOOKMARK', bookmark('15', false));
    expect([reflector.lister.freshAtMs, reflector.lister.freshSinceMs]).toEqual([clock.monotonicMs(), askedAtMs]);
  });

  it('takes what happens before the end for a part of it', async () => {
    const watch = await opened();
    for (const [type, object] of [
      ['ADDED', map('changed', '5')],
      ['ADDED', map('gone', '6')],
      ['MODIFIED', map('changed', '11')],
      ['MODIFIED', map('changed', '9')],
      ['DELETED', map('gone', '12')],
      ['ADDED', map('again', '7')],
      ['DELETED', map('again', '13')],
      ['ADDED', map('again', '14', 'uid-second')],
      ['DELETED', map('again', '13')],
    ] as const)
      watch.send(type, object);
    ended(watch, '20');
    expect(names()).toEqual(['again@14', 'changed@11']);
  });

  it('keeps the old view while it reads anew, and removes from it what went away', async () => {
    const watch = ended((await opened()).send('ADDED', map('a', '5')).send('ADDED', map('b', '6')), '10');
    watch.send('ERROR', statusOf(410, 'Expired'));
    await clock.advance(500);
    transport.lastWatch.open().send('ADDED', map('b', '6'));
    expect(names()).toEqual(['a@5', 'b@6']);
    ended(transport.lastWatch, '30');
    expect([names(), asked(), transport.requests]).toEqual([['b@6'], ['everything', 'everything'], []]);
  });

  it('lists where the stream breaks half-way, watches from the list, and asks for the next one as a stream again', async () => {
    const watch = await opened();
    watch.send('ADDED', map('half', '5')).end(new TransportError('unreachable', 'reset'));
    await clock.advance(500);
    expect([names(), asked()]).toEqual([['listed@40'], ['everything', '50']]);
    transport.lastWatch.open().send('ERROR', statusOf(410, 'Expired'));
    await clock.advance(500);
    expect(asked()).toEqual(['everything', '50', 'everything']);
  });

  it('lists where a server that does not know the question sends everything and no end', async () => {
    (await opened()).send('ADDED', map('a', '5'));
    await clock.advance(29_999);
    expect(transport.requests).toEqual([]);
    await clock.advance(501);
    expect([names(), asked()]).toEqual([['listed@40'], ['everything', '50']]);
  });

  it('waits for a slow stream as long as it brings something', async () => {
    const watch = await opened();
    for (let number = 1; number <= 10; number++) {
      await clock.advance(29_000);
      watch.send('ADDED', map(`m${String(number)}`, String(number)));
    }
    ended(watch, '20');
    expect([names().length, transport.requests]).toEqual([10, []]);
  });

  it('is idle after the silence of any watch, not after that of a stream: nothing is listed for it', async () => {
    ended((await opened()).send('ADDED', map('a', '5')), '10');
    await clock.advance(74_000);
    expect([transport.requests, asked()]).toEqual([[], ['everything']]);
    await clock.advance(2_000);
    expect([transport.requests.length, asked()]).toEqual([1, ['everything', '10']]);
  });

  it.each([422, 400])('lists at once where the question is refused with %i, and does not ask it again', async (status) => {
    reflector.start();
    await clock.settle();
    transport.lastWatch.end(new ApiStatusError(status, 'Invalid', 'sendInitialEvents is forbidden'));
    await clock.settle();
    expect([names(), asked()]).toEqual([['listed@40'], ['everything', '50']]);
    transport.lastWatch.open().send('ERROR', statusOf(410, 'Expired'));
    await clock.advance(500);
    expect(asked()).toEqual(['everything', '50', '50']);
  });

  it('waits as long as a 429 asks for, and asks for the stream again, which costs the server least', async () => {
    reflector.start();
    await clock.settle();
    transport.lastWatch.end(new ApiStatusError(429, 'TooManyRequests', 'later', 7_000));
    await clock.advance(6_999);
    expect(asked()).toHaveLength(1);
    await clock.advance(1);
    expect([asked(), transport.requests]).toEqual([['everything', 'everything'], []]);
  });

  it('drops a stream that was begun before everything was to be read anew', async () => {
    const watch = await opened();
    watch.send('ADDED', map('before', '5'));
    reflector.listAnew();
    await clock.advance(500);
    ended(watch, '10');
    expect([reflector.lister.synced, asked(), transport.requests]).toEqual([false, ['everything', 'everything'], []]);
    ended(transport.lastWatch.open().send('ADDED', map('after', '6')), '10');
    expect(names()).toEqual(['after@6']);
  });

  it('tells that the server shows an older state than before', async () => {
    const watch = ended((await opened()).send('ADDED', map('a', '5')), '100');
    watch.send('ERROR', statusOf(410, 'Expired'));
    await clock.advance(500);
    ended(transport.lastWatch.open().send('ADDED', map('a', '5')), '60');
    expect(wentBack).toHaveLength(1);
    expect(wentBack[0]).toContain('the initial events show version 60, older than 100');
  });

  it('ends a watch whose event is no newer than the state that it began with', async () => {
    const watch = ended((await opened()).send('ADDED', map('a', '5')), '10');
    watch.send('MODIFIED', map('a', '9'));
    expect([watch.isEnded, wentBack.length]).toEqual([true, 1]);
  });

  it.each([
    ['an object without version', 'ADDED', { metadata: { name: 'a', namespace: 'ns' } }],
    ['an end without version', 'BOOKMARK', { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } }],
    ['something else than an object', 'ADDED', { surprise: true }],
  ] as const)('gives %s up as garbled, and lists', async (_case, type, object) => {
    (await opened()).send('ADDED', map('half', '5')).send(type, object);
    await clock.advance(500);
    expect([names(), transport.requests.length]).toEqual([['listed@40'], 1]);
  });

  it('leaves nothing behind when closed half-way', async () => {
    const watch = await opened();
    watch.send('ADDED', map('a', '5'));
    reflector.close();
    await clock.settle();
    expect([clock.pending, watch.isEnded, reflector.lister.synced]).toEqual([0, true, false]);
  });
});
