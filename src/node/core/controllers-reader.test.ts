import { expect, it } from 'vitest';
import { controllersData } from '../../domain/node-daemon/controllers.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { ControllersReader } from './controllers-reader.ts';

const TOLD = controllersData({ publicKeys: ['k'.repeat(43)], addresses: ['192.0.2.7:7411'], times: {} });

/** A reader, when it asked, in seconds, and what it warned of; its questions are answered from the `answered`th on. */
function reading(answered: number, grantedUntilMs = Number.NEGATIVE_INFINITY) {
  const clock = new ManualClock({ monotonicMs: 0 });
  const asked: number[] = [];
  const warned: unknown[] = [];
  const get = (async () => {
    asked.push(clock.monotonicMs() / 1_000);
    return Promise.resolve(asked.length < answered ? undefined : { metadata: { name: 'nodefence-controllers' }, data: TOLD });
  }) as Cluster['get'];
  const quiet = (): void => undefined;
  const log = { info: quiet, error: quiet, warn: (_message: string, fields?: object) => void warned.push(fields) };
  const hooks = { changed: quiet, grantedUntilMs: () => grantedUntilMs };
  const reader = new ControllersReader({ clock, cluster: { get }, log }, 'nodefence', hooks);
  reader.start();
  return { clock, reader, asked, warned };
}

it('asks where the controllers are less and less often where nobody says, once a minute in the end: thousands of nodes do', async () => {
  const { clock, reader, asked, warned } = reading(100);
  await clock.advance(255_000);
  expect(asked).toEqual([0, 5, 15, 35, 75, 135, 195, 255]);
  expect(warned).toHaveLength(1);
  reader.close();
});

it('asks every ten seconds where its grants have just ceased, and no sooner because nobody says', async () => {
  const { clock, reader, asked } = reading(100, -1);
  await clock.advance(45_000);
  expect(asked).toEqual([0, 5, 15, 25, 35, 45]);
  reader.close();
});

it('asks once a minute again once it is told', async () => {
  const { clock, reader, asked } = reading(4);
  await clock.advance(95_000);
  expect(asked).toEqual([0, 5, 15, 35, 95]);
  expect(reader.problem).toBeUndefined();
  expect(reader.known.addresses).toEqual(['192.0.2.7:7411']);
  reader.close();
});
