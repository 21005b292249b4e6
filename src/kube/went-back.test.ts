import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_METRICS } from '../ports/metrics.ts';
import type { Node } from '../ports/objects.ts';
import { NODES } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Reflector } from './reflector.ts';
import { statusError } from './status.ts';
import { listOf, ScriptedTransport } from './testing/scripted-transport.ts';

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function node(resourceVersion: string, ready: 'True' | 'Unknown'): Node {
  const metadata = { name: 'a', uid: 'u', resourceVersion };
  return { metadata, spec: {}, status: { conditions: [{ type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:00:00Z' }] } };
}

const bookmark = (resourceVersion: string): object => ({ metadata: { resourceVersion } });

describe('a reflector whose API server was restored from a backup', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let told: string[];
  let counted: string[];
  let reflector: Reflector<Node>;

  beforeEach(async () => {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    told = [];
    counted = [];
    const metrics = { ...NO_METRICS.watch, wentBack: (resource: string) => counted.push(resource) };
    const random = { next: () => 0.5, uuid: () => '' };
    reflector = new Reflector({
      transport,
      clock,
      random,
      logger: SILENT,
      metrics,
      resource: NODES,
      onWentBack: (message) => told.push(message),
    });
    transport.answer = () => ({ body: listOf('9000000', [node('8999000', 'True')]) });
    reflector.start();
    await clock.settle();
    transport.lastWatch.open().end();
    await clock.advance(1_000);
    transport.answer = () => ({ body: listOf('7000500', [node('7000400', 'Unknown')]) });
  });

  afterEach(() => {
    reflector.close();
  });

  const ready = (): unknown => reflector.lister.get('a')?.status.conditions?.[0]?.status;

  it('asks for the version when a watch from one that is still to come hears nothing, as on 1.36, and lists anew', async () => {
    transport.lastWatch.open();
    await clock.advance(74_000);
    expect([told, ready()]).toEqual([[], 'True']);
    await clock.advance(2_000);
    expect(ready()).toBe('Unknown');
    expect(told).toEqual([expect.stringContaining('was etcd restored from a backup?')]);
    expect(transport.watches.at(-1)?.request.query['resourceVersion']).toBe('7000500');
  });

  it.each([
    ['an older bookmark', 'BOOKMARK', bookmark('7000500')],
    ['an older change', 'MODIFIED', node('7000400', 'Unknown')],
  ] as const)('lists anew at %s, and counts nothing as heard before that', async (_words, type, object) => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    transport.answer = async () => {
      await held;
      return { body: listOf('7000500', [node('7000400', 'Unknown')]) };
    };
    transport.lastWatch.open().send(type, object);
    await clock.advance(1_000);
    expect(reflector.lister.freshAtMs).toBe(Number.NEGATIVE_INFINITY);
    expect(ready()).toBe('True');
    answer();
    await clock.settle();
    expect(ready()).toBe('Unknown');
    expect(reflector.lister.freshAtMs).toBeGreaterThan(0);
    expect(transport.lastWatch.request.query['resourceVersion']).toBe('7000500');
    expect(told[0]).toMatch(/nodes: .* older than 9000000 .* was etcd restored/);
    expect(counted).toContain('nodes');
  });

  it('tells of an older list too, and takes it', async () => {
    transport.lastWatch.end(statusError('watch', { status: 410, headers: {}, body: {} }));
    await clock.advance(1_000);
    expect(ready()).toBe('Unknown');
    expect(told[0]).toContain('a list shows version 7000500');
  });

  it('lists anew when it is told so by somebody who knows, though its watch has caught up and shows nothing of the gap', async () => {
    transport.lastWatch.open().send('MODIFIED', node('9000200', 'True'));
    await clock.settle();
    reflector.listAnew();
    expect(reflector.lister.freshAtMs).toBe(Number.NEGATIVE_INFINITY);
    await clock.advance(1_000);
    expect(ready()).toBe('Unknown');
    expect(transport.lastWatch.request.query['resourceVersion']).toBe('7000500');
  });

  it('takes an object of a version that it has already: the server has given that version anew', async () => {
    transport.answer = () => ({ body: listOf('9000300', [node('8999000', 'Unknown')]) });
    transport.lastWatch.open();
    await clock.settle();
    expect(ready()).toBe('True');
    reflector.listAnew();
    await clock.advance(1_000);
    expect(ready()).toBe('Unknown');
  });

  it('lists once more when it is told so while a list is on its way, which may be of before', async () => {
    let lists = 0;
    transport.answer = () => {
      lists += 1;
      if (lists === 1) reflector.listAnew();
      return { body: listOf('7000500', [lists === 1 ? node('7000300', 'True') : node('7000400', 'Unknown')]) };
    };
    const fresh: number[] = [];
    reflector.lister.onChange(() => fresh.push(reflector.lister.freshAtMs));
    reflector.listAnew();
    await clock.advance(2_000);
    expect([lists, ready()]).toEqual([2, 'Unknown']);
    expect(
      fresh.every((atMs) => atMs === Number.NEGATIVE_INFINITY),
      'nothing counts as heard before the second list is there',
    ).toBe(true);
  });

  it('is content with a bookmark that comes twice', async () => {
    transport.lastWatch.open().send('BOOKMARK', bookmark('9000100')).send('BOOKMARK', bookmark('9000100'));
    await clock.settle();
    expect(told).toEqual([]);
    expect(transport.lastWatch.isEnded).toBe(false);
  });
});

describe('Retry-After', () => {
  const asked = (headers: Record<string, string>, body: unknown = ''): number | undefined =>
    statusError('watch', { status: 503, headers, body }).retryAfterMs;

  it('is heeded for 30 s at most: one of a day blinded the watch of Nodes for a day', async () => {
    expect(asked({ 'retry-after': '86400' })).toBe(30_000);
    expect(asked({ 'retry-after': '9'.repeat(400) })).toBe(30_000);
    expect(asked({}, { details: { retryAfterSeconds: 86_400 } })).toBe(30_000);
    expect(asked({ 'retry-after': '2' })).toBe(2_000);

    const clock = new ManualClock();
    const transport = new ScriptedTransport();
    const parts = { transport, clock, random: { next: () => 0.5, uuid: () => '' }, logger: SILENT, metrics: NO_METRICS.watch };
    const reflector = new Reflector({ ...parts, resource: NODES });
    reflector.start();
    await clock.settle();
    transport.lastWatch.end(statusError('watch nodes', { status: 503, headers: { 'retry-after': '86400' }, body: 'Service Unavailable' }));
    await clock.advance(31_000);
    expect(transport.watches).toHaveLength(2);
    reflector.close();
  });

  it('may be a date, counted from the date of the answer', () => {
    const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
    expect(asked({ 'retry-after': 'Wed, 21 Oct 2026 07:28:05 GMT', date })).toBe(5_000);
    expect(asked({ 'retry-after': 'Thu, 22 Oct 2026 07:28:05 GMT', date })).toBe(30_000);
    expect(asked({ 'retry-after': 'Tue, 20 Oct 2026 07:28:05 GMT', date })).toBe(0);
    expect(asked({ 'retry-after': date })).toBe(30_000);
  });

  it.each(['', 'soon', '-5', '1e9', 'NaN', 'Infinity', '12:00'])('of %j is no wish', (value) => {
    expect(asked({ 'retry-after': value })).toBeUndefined();
  });

  it('of a date that is none is one for a moment', () => {
    expect(asked({ 'retry-after': 'Wed, no date GMT' })).toBe(30_000);
  });
});
