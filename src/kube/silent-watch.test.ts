import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { ConfigMap } from '../ports/objects.ts';
import { CONFIG_MAPS } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Reflector } from './reflector.ts';
import { listOf, ScriptedTransport } from './testing/scripted-transport.ts';

const quiet = (): void => undefined;
const IDLE_MS = 75_000;

function map(resourceVersion: string): ConfigMap {
  return { metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion } };
}

/** What stands between passes on that a watch was accepted, and keeps back what it brings until a buffer is full. */
describe('behind something that keeps back what a watch brings', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let warnings: string[];
  let reflector: Reflector<ConfigMap>;
  let version: number;

  const lists = (): number => transport.requests.filter(({ query }) => query?.['limit'] === '500').length;
  const cached = (): string | undefined => reflector.lister.get('ns/a')?.metadata.resourceVersion;
  const ageMs = (): number => clock.monotonicMs() - reflector.lister.freshAtMs;

  beforeEach(async () => {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    warnings = [];
    version = 10;
    transport.answer = () => ({ body: listOf(String(version), [map(String(version))]) });
    reflector = new Reflector<ConfigMap>({
      transport,
      clock,
      random: { next: () => 0, uuid: () => 'u' },
      logger: { debug: quiet, info: quiet, error: quiet, warn: (message, { end } = {}) => void warnings.push(`${message}: ${String(end)}`) },
      metrics: NO_METRICS.watch,
      resource: CONFIG_MAPS,
    });
    reflector.start();
    await clock.settle();
    transport.lastWatch.open();
    transport.lastWatch.send('BOOKMARK', map('10'));
  });

  afterEach(() => {
    reflector.close();
  });

  async function silence(): Promise<void> {
    await clock.advance(IDLE_MS);
    await clock.advance(1_000);
    transport.lastWatch.open();
  }

  it('a reflector reads what is there by lists, as old as a silence at most, and says so', async () => {
    version = 11;
    await silence();
    // Once may be an outage: the next watch goes on where the last one ended.
    expect([lists(), cached(), warnings]).toEqual([1, '10', []]);
    await silence();
    expect([lists(), cached(), warnings]).toEqual([2, '11', []]);
    for (version = 12; version < 20; version++) {
      await silence();
      expect([lists(), cached()]).toEqual([version - 9, String(version)]);
    }
    expect(warnings).toEqual([expect.stringMatching(/^watches bring nothing of what lists show, and it is listed instead: .*: idle$/)]);
    expect(reflector.lastError?.message).toContain('nothing received for 75000 ms, not even a bookmark');
  });

  it('counts as fresh as of its list, not as of each watch that was accepted', async () => {
    version = 11;
    await silence();
    await silence();
    expect(ageMs()).toBe(1_000);
    await clock.advance(60_000);
    expect(ageMs()).toBe(61_000);
  });

  it('goes back to watches once one of them brings something', async () => {
    for (version = 11; version < 15; version++) await silence();
    transport.lastWatch.send('MODIFIED', map('50'));
    expect(ageMs()).toBe(0);
    version = 50;
    const before = lists();
    await silence();
    expect([lists() - before, cached()]).toEqual([0, '50']);
  });

  it('looks ever more seldom where nothing happens, as where a server sends no bookmarks, and says nothing', async () => {
    const looked: number[] = [];
    for (let times = 1; times <= 40; times++) {
      const before = lists();
      await silence();
      if (lists() > before) looked.push(times);
      expect(ageMs()).toBe(0);
    }
    expect([looked, warnings]).toEqual([[2, 6, 14, 22, 30, 38], []]);
  });

  it.each([
    ['ends well', undefined],
    ['breaks', new TransportError('unreachable', 'the connection broke')],
  ])('reads what is there by a list where one watch after the other is accepted, brings nothing and %s', async (_case, end) => {
    version = 11;
    const before = lists();
    for (let times = 0; times < 5; times++) {
      expect(lists()).toBe(before);
      transport.lastWatch.end(end);
      await clock.advance(15_000);
      transport.lastWatch.open();
    }
    transport.lastWatch.end(end);
    await clock.advance(15_000);
    expect([lists() - before, cached()]).toEqual([1, '11']);
  });

  it('goes on from where it stood after watches that were not accepted, or stood for long, or brought something', async () => {
    const before = lists();
    for (let times = 0; times < 10; times++) {
      transport.lastWatch.end(new TransportError('unreachable', 'connect ECONNREFUSED'));
      await clock.advance(15_000);
    }
    for (let times = 0; times < 10; times++) {
      transport.lastWatch.open();
      await clock.advance(20_000);
      transport.lastWatch.end();
      await clock.advance(15_000);
    }
    for (let times = 0; times < 10; times++) {
      transport.lastWatch.open().send('BOOKMARK', map('10'));
      transport.lastWatch.end();
      await clock.advance(15_000);
    }
    expect(lists()).toBe(before);
  });
});
