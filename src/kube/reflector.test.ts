import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError, type ApiRequest } from '../ports/api-transport.ts';
import { NO_METRICS, type WatchEnd } from '../ports/metrics.ts';
import type { ConfigMap } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import { CONFIG_MAPS } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { listOf, ScriptedTransport, statusOf } from './testing/scripted-transport.ts';

const SILENT: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function map(name: string, resourceVersion: string, uid = `uid-${name}`, data: Record<string, string> = {}): ConfigMap {
  return { metadata: { name, namespace: 'ns', uid, resourceVersion }, data };
}

describe('a reflector', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let seen: string[];
  let ends: WatchEnd[];
  let reflector: Reflector<ConfigMap>;

  function build(options: Partial<ReflectorOptions<ConfigMap>> = {}): Reflector<ConfigMap> {
    const built = new Reflector<ConfigMap>({
      transport,
      clock,
      random: { next: () => 0.5, uuid: () => 'u' },
      logger: SILENT,
      metrics: { ...NO_METRICS.watch, watchEnded: (_resource, end) => ends.push(end) },
      resource: CONFIG_MAPS,
      ...options,
    });
    built.lister.onChange((before, after) => {
      seen.push(`${before?.metadata.resourceVersion ?? '-'}>${after?.metadata.resourceVersion ?? '-'}`);
    });
    return built;
  }

  async function started(items: readonly ConfigMap[] = [map('a', '5')], resourceVersion = '10'): Promise<void> {
    transport.answer = () => ({ body: listOf(resourceVersion, items) });
    reflector.start();
    await clock.settle();
  }

  const lists = (): number => transport.requests.length;
  const watchedFrom = (): (string | undefined)[] => transport.watches.map(({ request }) => request.query['resourceVersion']);

  beforeEach(() => {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    seen = [];
    ends = [];
    reflector = build();
  });

  afterEach(() => {
    reflector.close();
  });

  it('lists, delivers, and watches from the version of the list, asking for bookmarks and a random end', async () => {
    await started();
    expect(transport.requests[0]).toMatchObject({ method: 'GET', path: '/api/v1/configmaps', query: { limit: '500' } });
    expect(transport.requests[0]?.query).not.toHaveProperty('resourceVersion');
    expect(transport.lastWatch.request).toEqual({
      path: '/api/v1/configmaps',
      query: { resourceVersion: '10', allowWatchBookmarks: 'true', timeoutSeconds: '450' },
      accept: 'application/json',
    });
    expect(seen).toEqual(['->5']);
    expect(reflector.lister.synced).toBe(true);
  });

  it('lists page by page and delivers only the whole', async () => {
    transport.answer = ({ query }) => {
      expect(seen).toEqual([]);
      return { body: query?.['continue'] === 'more' ? listOf('10', [map('b', '6')]) : listOf('10', [map('a', '5')], 'more') };
    };
    reflector.start();
    await clock.settle();
    expect(lists()).toBe(2);
    expect(seen).toEqual(['->5', '->6']);
  });

  it('passes its namespace and selectors to the list and to the watch', async () => {
    reflector = build({ namespace: 'kube system', labelSelector: 'a=b', fieldSelector: 'metadata.name=x' });
    await started([]);
    const selectors = { labelSelector: 'a=b', fieldSelector: 'metadata.name=x' };
    expect(transport.requests[0]).toMatchObject({ path: '/api/v1/namespaces/kube%20system/configmaps', query: selectors });
    expect(transport.lastWatch.request).toMatchObject({ path: '/api/v1/namespaces/kube%20system/configmaps', query: selectors });
  });

  it('applies additions, changes and removals, and keeps its index', async () => {
    reflector = build({ indexes: { colour: ({ data }) => (data?.['colour'] === undefined ? [] : [data['colour']]) } });
    await started();
    const watch = transport.lastWatch.open();
    watch.send('ADDED', map('b', '11', 'uid-b', { colour: 'red' }));
    expect(reflector.lister.byIndex('colour', 'red').map(({ metadata }) => metadata.name)).toEqual(['b']);
    watch.send('MODIFIED', map('b', '12', 'uid-b', { colour: 'blue' }));
    expect(reflector.lister.byIndex('colour', 'red')).toEqual([]);
    expect(reflector.lister.byIndex('colour', 'blue')).toHaveLength(1);
    watch.send('DELETED', map('b', '13', 'uid-b', { colour: 'blue' }));
    expect(reflector.lister.byIndex('colour', 'blue')).toEqual([]);
    expect(reflector.lister.get('ns/b')).toBeUndefined();
    expect(seen).toEqual(['->5', '->11', '11>12', '12>-']);
    expect(() => reflector.lister.byIndex('shape', 'x')).toThrow('no index "shape"');
  });

  it('shows an object that came back with another uid as a removal and an addition, from the watch and from a list', async () => {
    await started();
    transport.lastWatch.open().send('MODIFIED', map('a', '11', 'uid-new'));
    expect(seen.splice(0)).toEqual(['->5', '5>-', '->11']);
    transport.answer = () => ({ body: listOf('20', [map('a', '19', 'uid-newer')]) });
    transport.lastWatch.end(new ApiStatusError(410, 'Expired', 'too old resource version'));
    await clock.advance(500);
    expect(seen).toEqual(['11>-', '->19']);
  });

  it('freezes what it hands out, all the way down', async () => {
    await started([map('a', '5', 'uid-a', { key: 'value' })]);
    const object = reflector.lister.get('ns/a');
    expect([object, object?.data, object?.metadata].every((part) => part !== undefined && Object.isFrozen(part))).toBe(true);
  });

  it('stays fresh by events, bookmarks and openings alone', async () => {
    await started();
    const fresh = (): number => clock.monotonicMs() - reflector.lister.freshAtMs;
    await clock.advance(3000);
    expect(fresh()).toBe(3000);
    transport.lastWatch.open();
    expect(fresh()).toBe(0);
    await clock.advance(40_000);
    expect(fresh()).toBe(40_000);
    transport.lastWatch.send('BOOKMARK', { metadata: { resourceVersion: '15' } });
    expect(fresh()).toBe(0);
  });

  it('says since when nothing can have been missed: an ordinary end hides nothing, a long silence with a new watch does', async () => {
    await started();
    transport.lastWatch.open();
    const freshSince = reflector.lister.freshSinceMs;
    await clock.advance(9_000);
    transport.lastWatch.end(undefined);
    await clock.settle();
    transport.lastWatch.open();
    expect(reflector.lister.freshSinceMs).toBe(freshSince);
    await clock.advance(60_000);
    transport.lastWatch.send('BOOKMARK', { metadata: { resourceVersion: '15' } });
    expect(reflector.lister.freshSinceMs, 'one connection keeps its order').toBe(freshSince);
    await clock.advance(11_000);
    transport.lastWatch.end(undefined);
    await clock.settle();
    transport.lastWatch.open();
    expect(reflector.lister.freshSinceMs).toBe(clock.monotonicMs());
  });

  it('opens the next watch where the last event or bookmark stood, without a list, when the server ends one in the ordinary way', async () => {
    await started();
    transport.lastWatch
      .open()
      .send('MODIFIED', map('a', '11'))
      .send('BOOKMARK', { metadata: { resourceVersion: '40' } });
    await clock.advance(20_000);
    transport.lastWatch.end();
    await clock.settle();
    expect(watchedFrom()).toEqual(['10', '40']);
    expect(lists()).toBe(1);
  });

  it('notices a silent server by its idle timer and watches again from the last version (5.1: silent for 75 s)', async () => {
    await started();
    transport.lastWatch.open();
    await clock.advance(74_999);
    expect(transport.watches).toHaveLength(1);
    await clock.advance(1);
    expect(watchedFrom()).toEqual(['10', '10']);
    expect(transport.watches[0]?.isEnded).toBe(true);
    expect(
      transport.requests.slice(1).map(({ query }) => query),
      'the version is asked for, nothing is listed',
    ).toEqual([{ limit: '1' }]);
    expect(ends).toEqual(['idle']);
  });

  it('keeps one watch while events come every two seconds (5.1: 70 s of events)', async () => {
    await started();
    transport.lastWatch.open();
    for (let event = 0; event < 100; event++) {
      await clock.advance(2000);
      transport.lastWatch.send('MODIFIED', map('a', String(100 + event)));
    }
    expect(transport.watches).toHaveLength(1);
  });

  it('gives up a watch that the server never accepts', async () => {
    await started();
    await clock.advance(15_000 + 500);
    expect(transport.watches).toHaveLength(2);
    expect(ends).toEqual(['dropped']);
  });

  it('opens a new watch after a dropped socket, with a pause and without a list (5.1)', async () => {
    await started();
    transport.lastWatch.open().send('MODIFIED', map('a', '11'));
    await clock.advance(20_000);
    transport.lastWatch.end(new TransportError('unreachable', 'socket hang up'));
    await clock.settle();
    expect(transport.watches).toHaveLength(1);
    await clock.advance(250);
    expect(watchedFrom()).toEqual(['10', '11']);
    expect(lists()).toBe(1);
  });

  it('tries a failing first list again and again and says why it is not synced (5.1: list 500)', async () => {
    transport.answer = () => ({ status: 500, body: statusOf(500, 'InternalError', 'etcd is away') });
    reflector.start();
    const waiting = expect(reflector.untilSynced(30_000)).rejects.toThrow(/configmaps: no first list after 30000 ms \(.*etcd is away\); look at/);
    await clock.advance(30_000);
    await waiting;
    const afterHalfAMinute = lists();
    expect(afterHalfAMinute).toBeGreaterThan(4);
    expect(afterHalfAMinute).toBeLessThan(12);
    transport.answer = () => ({ body: listOf('10', [map('a', '5')]) });
    await clock.advance(15_000);
    expect(seen).toEqual(['->5']);
    await reflector.untilSynced(1);
  });

  it('backs off from a server that answers every watch with an ERROR event of code 500, then lists (5.1: 39 watches in 8 s)', async () => {
    await started();
    for (let elapsedMs = 0; elapsedMs < 8000; elapsedMs += 10) {
      if (!transport.lastWatch.isEnded) {
        transport.lastWatch.open().send('ERROR', statusOf(500, 'InternalError'));
      }
      await clock.advance(10);
    }
    expect(transport.watches.length).toBeLessThan(8);
    expect(transport.watches.length).toBeGreaterThan(3);
    expect(ends.every((end) => end === 'error-event')).toBe(true);
    await clock.advance(15_000);
    expect(lists()).toBe(2);
  });

  it.each([
    ['410 when the watch is opened', new ApiStatusError(410, 'Expired', 'too old resource version: 10 (20)')],
    ['"Too large resource version" of a server that lags', new ApiStatusError(504, 'Timeout', 'Too large resource version: 10, current: 3')],
  ])('lists again at once after %s, then watches from there', async (_case, error) => {
    await started();
    transport.answer = () => ({ body: listOf('30', [map('a', '5'), map('c', '25')]) });
    transport.lastWatch.end(error);
    await clock.settle();
    expect(watchedFrom()).toEqual(['10', '30']);
    expect(transport.requests[1]?.query).not.toHaveProperty('resourceVersion');
    expect(seen).toEqual(['->5', '->25']);
  });

  it('lists again after an ERROR event of code 410 and removes what went away meanwhile', async () => {
    await started([map('a', '5'), map('b', '6')]);
    transport.answer = () => ({ body: listOf('30', [map('b', '6')]) });
    transport.lastWatch.open().send('ERROR', statusOf(410, 'Expired'));
    await clock.settle();
    expect(seen).toEqual(['->5', '->6', '5>-']);
  });

  it('does not storm a server that answers 410 for ever', async () => {
    await started();
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += 100) {
      if (!transport.lastWatch.isEnded) {
        transport.lastWatch.end(new ApiStatusError(410, 'Expired', 'gone'));
      }
      await clock.advance(100);
    }
    expect(lists()).toBeLessThan(16);
  });

  it('starts a list over in one piece when the continue token expires half-way', async () => {
    const pages: (ApiRequest['query'] | undefined)[] = [];
    transport.answer = ({ query }) => {
      pages.push(query);
      return query?.['continue'] === 't'
        ? { status: 410, body: statusOf(410, 'Expired') }
        : { body: query?.['limit'] === undefined ? listOf('12', [map('a', '5'), map('b', '6')]) : listOf('10', [map('a', '5')], 't') };
    };
    reflector.start();
    await clock.settle();
    expect(pages).toEqual([{ limit: '500' }, { limit: '500', continue: 't' }, {}]);
    expect([seen, watchedFrom()]).toEqual([['->5', '->6'], ['12']]);
  });

  it('waits as long as a 429 asks for', async () => {
    transport.answer = () => ({ status: 429, body: statusOf(429, 'TooManyRequests'), headers: { 'retry-after': '7' } });
    reflector.start();
    await clock.advance(6999);
    expect(lists()).toBe(1);
    await clock.advance(1);
    expect(lists()).toBe(2);
  });

  it('starts its back-off anew only after a stable watch', async () => {
    await started();
    const delayOfNextWatch = async (): Promise<number> => {
      const before = transport.watches.length;
      let waitedMs = 0;
      while (transport.watches.length === before) {
        await clock.advance(50);
        waitedMs += 50;
      }
      return waitedMs;
    };
    const drop = new TransportError('unreachable', 'reset');
    const delays: number[] = [];
    for (let round = 0; round < 4; round++) {
      transport.lastWatch.open().send('MODIFIED', map('a', String(100 + round)));
      await clock.advance(5000);
      transport.lastWatch.end(drop);
      delays.push(await delayOfNextWatch());
    }
    expect(delays).toEqual([250, 500, 1000, 2000]);
    transport.lastWatch.open();
    await clock.advance(10_000);
    transport.lastWatch.end(drop);
    expect(await delayOfNextWatch()).toBe(250);
  });

  it('comes back after an API server was away for a minute, with few requests and no list', async () => {
    await started();
    transport.lastWatch.open();
    await clock.advance(60_000);
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += 100) {
      transport.lastWatch.end(new TransportError('unreachable', 'ECONNREFUSED'));
      await clock.advance(100);
    }
    expect(transport.watches.length).toBeLessThan(16);
    await clock.advance(15_000);
    transport.lastWatch.open().send('ADDED', map('z', '99'));
    expect([seen.at(-1), lists()]).toEqual(['->99', 1]);
  });

  it('takes an event that came twice or late for what it is', async () => {
    await started();
    transport.lastWatch
      .open()
      .send('MODIFIED', map('a', '12'))
      .send('MODIFIED', map('a', '12'))
      .send('MODIFIED', map('a', '11'))
      .send('DELETED', map('a', '14'))
      .send('MODIFIED', map('a', '13'))
      .send('ADDED', map('a', '15', 'uid-second'))
      .send('DELETED', map('a', '14'));
    expect(seen).toEqual(['->5', '5>12', '12>-', '->15']);
  });

  it('ends a watch that carries something else than objects and reads it again from the last good version', async () => {
    await started();
    transport.lastWatch.open().send('MODIFIED', map('a', '11')).send('MODIFIED', { surprise: true });
    await clock.advance(250);
    expect([watchedFrom(), ends]).toEqual([['10', '11'], ['garbled']]);
  });

  it('tells the other listeners when one of them throws, and logs it', async () => {
    const errors: string[] = [];
    reflector = build({ logger: { ...SILENT, error: (message) => errors.push(message) } });
    const later: string[] = [];
    reflector.lister.onChange(() => {
      throw new Error('broken');
    });
    const stop = reflector.lister.onChange((_before, after) => later.push(after?.metadata.name ?? '-'));
    await started();
    stop();
    transport.lastWatch.open().send('ADDED', map('b', '11'));
    expect([later, errors.length]).toEqual([['a'], 2]);
  });

  it('leaves no timer, listener or open watch behind when closed, at whatever point', async () => {
    await started();
    transport.lastWatch.open();
    reflector.close();
    await clock.settle();
    expect([clock.pending, transport.lastWatch.isEnded]).toEqual([0, true]);
    const waiting = build();
    transport.answer = () => new TransportError('unreachable', 'no');
    waiting.start();
    const sync = expect(waiting.untilSynced(1000)).rejects.toThrow(/^[^:]+: closed before its first list$/u);
    await clock.advance(10);
    waiting.close();
    await sync;
    await clock.settle();
    expect(clock.pending).toBe(0);
  });
});
