import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../ports/api-transport.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import type { ConfigMap } from '../ports/objects.ts';
import { CONFIG_MAPS } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ApiClient } from './client.ts';
import { Reflector } from './reflector.ts';
import { listOf, ScriptedTransport } from './testing/scripted-transport.ts';

const quiet = (): void => undefined;
const PAGES = 10;
const BUSY: Partial<ApiResponse> = { status: 429, headers: { 'retry-after': '1' } };

function page(number: number): Partial<ApiResponse> {
  const map: ConfigMap = { metadata: { name: `m${number}`, namespace: 'ns', uid: `u${number}`, resourceVersion: '5' } };
  return { status: 200, body: listOf('10', [map], number + 1 < PAGES ? String(number + 1) : '') };
}

/** API Priority and Fairness has a share for some requests only. */
describe('a list of many pages, some of which the server wants to be asked for later', () => {
  let clock: ManualClock;
  let transport: ScriptedTransport;
  let reflector: Reflector<ConfigMap>;

  const asked = (): string[] => transport.requests.map(({ query }) => query?.['continue'] ?? '0');

  beforeEach(() => {
    clock = new ManualClock();
    transport = new ScriptedTransport();
    reflector = new Reflector<ConfigMap>({
      transport,
      clock,
      random: { next: () => 0.5, uuid: () => 'u' },
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      metrics: NO_METRICS.watch,
      resource: CONFIG_MAPS,
    });
  });

  afterEach(() => {
    reflector.close();
  });

  it('goes on with that page, and does not begin anew', async () => {
    let count = 0;
    transport.answer = ({ query }) => (count++ % 2 === 1 ? BUSY : page(Number(query?.['continue'] ?? 0)));
    reflector.start();
    await clock.advance(15_000);
    expect([reflector.lister.synced, [...reflector.lister.all()].length]).toEqual([true, PAGES]);
    expect(asked().filter((token) => token === '0')).toHaveLength(1);
  });

  it('fails where one page is refused again and again, or without a word when to ask again', async () => {
    for (const refusal of [BUSY, { status: 500 }]) {
      transport.requests.length = 0;
      transport.answer = ({ query }) => (query?.['continue'] === '3' ? refusal : page(Number(query?.['continue'] ?? 0)));
      reflector.start();
      await clock.advance(60_000);
      expect(reflector.lister.synced).toBe(false);
      expect(asked().filter((token) => token === '0').length).toBeGreaterThan(1);
      expect(reflector.lastError?.message).toContain('list configmaps');
    }
  });

  it('waits no longer once it is closed', async () => {
    transport.answer = ({ query }) =>
      query?.['continue'] === '3' ? { ...BUSY, headers: { 'retry-after': '20' } } : page(Number(query?.['continue'] ?? 0));
    reflector.start();
    await clock.advance(100);
    reflector.close();
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  it('is not waited for where somebody needs it now', async () => {
    transport.answer = ({ query }) => (query?.['continue'] === '3' ? BUSY : page(Number(query?.['continue'] ?? 0)));
    await expect(new ApiClient({ transport }).list(CONFIG_MAPS)).rejects.toMatchObject({ status: 429, retryAfterMs: 1_000 });
  });
});
